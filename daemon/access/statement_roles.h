// Which PartiQL statements a caller may execute. The PartiQL operations need only the role read, a statement
// that writes needs the role write (ERR-17). In a batch each statement is judged by itself (PQL-14).
//
// Callers with roles for some tables are not judged here: CheckTables() (request_access.h) checks each of
// their statements.
#pragma once

#include <optional>

#include "daemon/access/access_keys.h"
#include "storage/database.h"

namespace itemdb::daemon {

// The reply to a request that has a statement `caller` may not execute; nullopt when the request can go to
// the database. Executes nothing. A batch gets a reply with one error per statement. A batch that the
// database refuses as a whole (it both reads and writes, or has a wrong number of statements) gets nullopt.
std::optional<absl::StatusOr<storage::StatementPage>> RefusedStatements(
    const wire::ExecuteStatementRequest& request, const Caller& caller);
std::optional<absl::StatusOr<wire::BatchExecuteStatementReply>> RefusedStatements(
    const wire::BatchExecuteStatementRequest& request, const Caller& caller);
std::optional<absl::StatusOr<wire::ExecuteTransactionReply>> RefusedStatements(
    const wire::ExecuteTransactionRequest& request, const Caller& caller);

}  // namespace itemdb::daemon
