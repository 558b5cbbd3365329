// Creating, tagging and deleting tables; helpers for all changes of definitions.
//
// Each change is one commit, prepared on the DDL thread: definitions change one at a time. After a deletion
// the reclaimer removes the records from disk (reclaimer.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// Implement Database's methods of the same names.
void CreateTable(Engine& engine, v1::CreateTableRequest request, Done<v1::CreateTableReply> done);
void DeleteTable(Engine& engine, v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done);
void TagTable(Engine& engine, v1::TagTableRequest request, Done<v1::TagTableReply> done);
void UntagTable(Engine& engine, v1::UntagTableRequest request, Done<v1::UntagTableReply> done);

// ---- for other changes of definitions, on the DDL thread ----

// Runs `operation` on the DDL thread and passes its result to `done`. RESOURCE_EXHAUSTED: too many wait.
template <typename Reply, typename Operation>
void RunDefinition(Engine& engine, Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    auto reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.SubmitDdl(task)) return;
  std::move (*shared_done)(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                     "too many table changes are waiting; try again later", 1000));
}

// The same for other threads, which wait for it.
absl::Status RunDefinitionAndWait(Engine& engine, absl::AnyInvocable<absl::Status()> operation);

// A copy of `old_table` with another definition. Keeps its access patterns, but for those of deleted indexes.
std::shared_ptr<Table> WithDefinition(const Table& old_table, v1::TableDescription definition);
// Replaces the table with the name of `table`, in one commit with a change record and everything that `also`
// appends. Blocks until it is durable. Returns the sequence of the change.
absl::StatusOr<uint64_t> ReplaceTable(
    Engine& engine, std::shared_ptr<const Table> table,
    absl::FunctionRef<void(CommitGroup&)> also = [](CommitGroup&) {}, WriteSpace space = WriteSpace::kTakes);
// Stores the engine's next storage id in the catalog. Belongs into every commit that uses a new storage id.
void PutNextStorageId(const Engine& engine, CommitGroup& group);
// The change record of a table change; it must be the next change that is appended to `group`.
std::string EncodeTableChange(v1::ChangeKind kind, const v1::TableDescription& definition,
                              const CommitGroup& group);

// The definition of `table` with its size statistics as of `view`.
absl::StatusOr<v1::TableDescription> DescribeTable(const Engine& engine, const ReadView& view,
                                                   const Table& table);

}  // namespace itemdb::storage
