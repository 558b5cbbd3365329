#include "storage/schema/time_to_live_changes.h"

#include "spdlog/spdlog.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<v1::UpdateTimeToLiveReply> Update(Engine& engine, const v1::UpdateTimeToLiveRequest& request) {
  std::shared_ptr<const Table> old_table;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_RETURN_IF_ERROR(CheckNotImporting(*view, request.table_name()));
    ITEMDB_ASSIGN_OR_RETURN(old_table, view->catalog().Find(request.table_name()));
  }
  ITEMDB_ASSIGN_OR_RETURN(
      v1::TableDescription definition,
      DefinitionWithTimeToLive(old_table->definition, request, engine.time_of_day().NowMicros() / 1'000,
                               engine.options().time_to_live_wait));
  const Index* deleted = old_table->FindTimeToLiveIndex();
  if (deleted == nullptr) definition.mutable_time_to_live()->set_storage_id(engine.NewStorageId());
  std::shared_ptr<Table> table = WithDefinition(*old_table, std::move(definition));

  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence, ReplaceTable(engine, table, [&](CommitGroup& group) {
                            if (deleted != nullptr) return group.DropEntries(*deleted);
                            PutNextStorageId(engine, group);
                          }));
  engine.options().log->info("time to live changed table={} enabled={} change_sequence={}", old_table->name,
                             request.time_to_live_specification().enabled(), change_sequence);
  v1::UpdateTimeToLiveReply reply;
  reply.set_change_sequence(change_sequence);
  *reply.mutable_time_to_live_specification() = request.time_to_live_specification();
  return reply;
}

}  // namespace

void UpdateTimeToLive(Engine& engine, v1::UpdateTimeToLiveRequest request,
                      Done<v1::UpdateTimeToLiveReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Update(engine, request); }, std::move(done));
}

}  // namespace itemdb::storage
