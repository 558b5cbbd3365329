// The PartiQL operations. Database's methods of the same names call these functions.
#pragma once

#include "storage/api/replies.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

void ExecuteStatement(Engine& engine, const wire::ExecuteStatementRequest& request, Done<StatementPage> done,
                      CancellationPtr cancellation);
void BatchExecuteStatement(Engine& engine, const wire::BatchExecuteStatementRequest& request,
                           Done<wire::BatchExecuteStatementReply> done, CancellationPtr cancellation);
void ExecuteTransaction(Engine& engine, const wire::ExecuteTransactionRequest& request,
                        Done<wire::ExecuteTransactionReply> done, CancellationPtr cancellation);

}  // namespace itemdb::storage
