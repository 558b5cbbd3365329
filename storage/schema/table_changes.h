// Creating, tagging and deleting tables; what all changes of definitions need.
//
// Each change is one commit in the pipeline, prepared on the definitions thread: definitions change one at a
// time. What a deletion leaves on disk is the reclaimer's (reclaimer.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/engine/engine.h"

namespace itemdb {

// Behind Database's methods of the same names.
void CreateTable(Engine& engine, v1::CreateTableRequest request, Done<v1::CreateTableReply> done);
void DeleteTable(Engine& engine, v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done);
void TagTable(Engine& engine, v1::TagTableRequest request, Done<v1::TagTableReply> done);
void UntagTable(Engine& engine, v1::UntagTableRequest request, Done<v1::UntagTableReply> done);

// ---- for whoever else changes definitions, on the definitions thread ----

// Runs `operation` on the definitions thread and answers with its result.
template <typename Reply, typename Operation>
void RunDefinition(Engine& engine, Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    auto reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.SubmitDefinition(task)) return;
  std::move (*shared_done)(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                     "too many table changes are waiting; try again later", 1000));
}

// `old_table` with another definition.
std::shared_ptr<Table> WithDefinition(const Table& old_table, v1::TableDescription definition);
// Puts `table` in the place of the one with its name, with a change record and what `also` appends. Blocks
// until it is durable; returns the change.
absl::StatusOr<uint64_t> ReplaceTable(
    Engine& engine, std::shared_ptr<const Table> table,
    absl::FunctionRef<void(CommitGroup&)> also = [](CommitGroup&) {});
// Records in the catalog that the engine's storage ids were given out.
void PutNextStorageId(const Engine& engine, CommitGroup& group);
// The change record of a table change that is about to be appended to `group`.
std::string EncodeTableChange(v1::ChangeKind kind, const v1::TableDescription& definition,
                              const CommitGroup& group);

// The definition of `table` with its counters as of `view`.
absl::StatusOr<v1::TableDescription> DescribeTable(const Engine& engine, const ReadView& view,
                                                   const Table& table);

}  // namespace itemdb
