// What a key's role lets it do with PartiQL: the operations take the role read, each statement that does more
// than reading takes write (ERR-17, PQL-14).
#pragma once

#include <optional>

#include "daemon/access/access_keys.h"
#include "storage/database.h"

namespace itemdb {

// The answer to a request with statements that `caller` may not execute; nothing when it may execute all.
// Nothing is executed. A batch is answered statement by statement, unless the database refuses it as a whole
// because it both reads and writes.
std::optional<absl::StatusOr<StatementPage>> RefusedStatements(const wire::ExecuteStatementRequest& request,
                                                               const Caller& caller);
std::optional<absl::StatusOr<wire::BatchExecuteStatementReply>> RefusedStatements(
    const wire::BatchExecuteStatementRequest& request, const Caller& caller);
std::optional<absl::StatusOr<wire::ExecuteTransactionReply>> RefusedStatements(
    const wire::ExecuteTransactionRequest& request, const Caller& caller);

}  // namespace itemdb
