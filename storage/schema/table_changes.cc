#include "storage/schema/table_changes.h"

#include <future>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/base/uuid.h"
#include "storage/schema/backup_description.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/stream_records.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<StreamChange> PrepareStream(Engine& engine, const v1::TableDescription* before,
                                           v1::TableDescription* after) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  return StreamChange::Prepare(*view, before, after);
}

absl::Status TableExistsError(const std::string& name) {
  return WithRule("SEM-093", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                       "Table already exists: " + name));
}

// A table that is being restored can be neither created nor deleted (PIT-12).
absl::Status CheckNotRestoring(const ReadView& view, const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(const auto restoring, FindRestoringTable(view, TableNameOf(name)));
  if (!restoring.has_value()) return absl::OkStatus();
  return WithRule("PIT-12", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                      "Attempt to change a resource which is still in use: Table is being "
                                      "used: " +
                                          restoring->definition().table_name()));
}

absl::StatusOr<v1::CreateTableReply> Create(Engine& engine, const v1::CreateTableRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(v1::TableDescription definition, DefinitionFromRequest(request));
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    if (view->catalog().FindByName(definition.table_name()) != nullptr)
      return TableExistsError(definition.table_name());
    ITEMDB_RETURN_IF_ERROR(CheckNotRestoring(*view, definition.table_name()));
    if (view->catalog().size() >= kMaxTables) {
      return WithRule("SEM-094", MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                           "there are " + std::to_string(kMaxTables) +
                                               " tables already, which is the limit"));
    }
  }
  definition.set_table_id(NewUuid());
  definition.set_creation_time_ms(engine.time_of_day().NowMicros() / 1'000);
  if (definition.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST)
    definition.set_last_update_to_pay_per_request_time_ms(definition.creation_time_ms());
  definition.set_storage_id(engine.NewStorageId());
  for (auto& index : *definition.mutable_global_secondary_indexes())
    index.set_storage_id(engine.NewStorageId());
  for (auto& index : *definition.mutable_local_secondary_indexes())
    index.set_storage_id(engine.NewStorageId());
  for (auto& index : *definition.mutable_vector_indexes()) index.set_storage_id(engine.NewStorageId());
  ITEMDB_ASSIGN_OR_RETURN(StreamChange stream, PrepareStream(engine, nullptr, &definition));
  auto table = std::make_shared<Table>(MakeTable(definition));
  table->patterns = engine.NewPatterns();

  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence, CommitAndWait(engine, [&](CommitGroup& group) {
                            if (group.catalog()->FindByName(table->name) != nullptr)
                              return TableExistsError(table->name);
                            group.PutCatalog(kTableKeyPrefix + table->name, EncodeCatalogTable(definition));
                            PutNextStorageId(engine, group);
                            stream.Append(group);
                            group.AppendChange(
                                definition.storage_id(),
                                EncodeTableChange(v1::CHANGE_KIND_CREATE_TABLE, definition, group));
                            group.SetCatalog(group.catalog()->With(table));
                            return absl::OkStatus();
                          }));
  engine.options().log->info(
      "table created table={} indexes={} change_sequence={}", definition.table_name(),
      definition.global_secondary_indexes_size() + definition.local_secondary_indexes_size(),
      change_sequence);
  v1::CreateTableReply reply;
  reply.set_change_sequence(change_sequence);
  *reply.mutable_table() = std::move(definition);
  return reply;
}

// What is left of a table with point-in-time recovery: its items, until its SYSTEM backup is made (BAK-18).
v1::DeletedTable DeletedTableOf(Engine& engine, const Table& table, const v1::TableDescription& described) {
  v1::DeletedTable deleted;
  *deleted.mutable_backup() =
      NewTableBackup(described, /*time_to_live_attribute=*/"", SystemBackupName(table.name),
                     v1::BACKUP_TYPE_SYSTEM, engine.time_of_day().NowMicros() / 1'000);
  v1::TableDescription* definition = deleted.mutable_definition();
  *definition = table.definition;
  definition->clear_global_secondary_indexes();
  definition->clear_local_secondary_indexes();
  definition->clear_vector_indexes();
  definition->clear_time_to_live();
  return deleted;
}

// The backup has everything that was committed before the deletion, so its size is that of this moment.
void SetLastSize(CommitGroup& group, v1::DeletedTable* deleted) {
  const SizeStatistics size = group.size_statistics().Of(deleted->definition().storage_id());
  deleted->mutable_backup()->mutable_source_table()->set_item_count(size.items);
  deleted->mutable_backup()->mutable_source_table()->set_table_size_bytes(size.bytes);
  deleted->mutable_backup()->set_change_sequence(group.next_sequence() - 1);
}

absl::StatusOr<v1::DeleteTableReply> Delete(Engine& engine, const v1::DeleteTableRequest& request) {
  v1::DeleteTableReply reply;
  std::shared_ptr<const Table> table;
  std::vector<std::string> segments;
  std::optional<v1::DeletedTable> deleted;
  bool changes_indexes = false;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_RETURN_IF_ERROR(CheckNotRestoring(*view, request.table_name()));
    ITEMDB_ASSIGN_OR_RETURN(table, view->catalog().Find(request.table_name()));
    ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_table(), DescribeTable(engine, *view, *table));
    if (table->definition.has_point_in_time_recovery())
      deleted = DeletedTableOf(engine, *table, reply.table());
    changes_indexes = reply.table().table_status() == v1::TABLE_STATUS_UPDATING;
    reply.mutable_table()->set_table_status(v1::TABLE_STATUS_DELETING);
    ITEMDB_ASSIGN_OR_RETURN(segments, ScanSegmentKeys(*view, table->storage_id));
    for (const Index& index : table->indexes) {
      ITEMDB_ASSIGN_OR_RETURN(std::vector<std::string> of_index, ScanSegmentKeys(*view, index.storage_id));
      for (std::string& key : of_index) segments.push_back(std::move(key));
    }
  }
  if (table->definition.deletion_protection_enabled()) {
    return DetailedError("SEM-094",
                         "Resource cannot be deleted as it is currently protected against deletion. Disable "
                         "deletion protection first.",
                         " Table: " + table->name);
  }
  if (changes_indexes) {
    return WithRule("VEC-08", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                        "Attempt to change a resource which is still in use: Cannot delete "
                                        "table while indexes are being created, updated, or deleted."));
  }
  ITEMDB_ASSIGN_OR_RETURN(StreamChange stream, PrepareStream(engine, &table->definition, nullptr));
  const auto remove = [&](CommitGroup& group) {
    group.DeleteCatalog(kTableKeyPrefix + table->name);
    for (const std::string& key : segments) group.DeleteCatalog(key);
    if (deleted.has_value()) {
      SetLastSize(group, &*deleted);
      PutDeletedTable(*deleted, group);
    } else {
      group.DropItems(*table);
    }
    for (const Index& index : table->indexes) group.DropEntries(index);
    stream.Append(group);
    group.AppendChange(table->storage_id,
                       EncodeTableChange(v1::CHANGE_KIND_DELETE_TABLE, table->definition, group));
    // Definitions change on this thread only, so the table is still there.
    group.SetCatalog(group.catalog()->Without(table->name));
    return absl::OkStatus();
  };
  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence,
                          CommitAndWait(engine, remove, {.space = WriteSpace::kFrees}));
  engine.options().log->info("table deleted table={} items={} change_sequence={}", table->name,
                             reply.table().item_count(), change_sequence);
  reply.set_change_sequence(change_sequence);
  return reply;
}

// Replaces the definition of a table by the one that `update` returns. `name`: the name or ARN of the table.
template <typename Reply>
absl::StatusOr<Reply> Change(
    Engine& engine, const std::string& name,
    absl::FunctionRef<absl::StatusOr<v1::TableDescription>(v1::TableDescription)> update) {
  std::shared_ptr<const Table> old_table;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(old_table, view->catalog().Find(name));
  }
  ITEMDB_ASSIGN_OR_RETURN(v1::TableDescription definition, update(old_table->definition));
  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence,
                          ReplaceTable(engine, WithDefinition(*old_table, std::move(definition))));
  engine.options().log->info("tags of a table changed table={} change_sequence={}", old_table->name,
                             change_sequence);
  Reply reply;
  reply.set_change_sequence(change_sequence);
  return reply;
}

}  // namespace

void CreateTable(Engine& engine, v1::CreateTableRequest request, Done<v1::CreateTableReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Create(engine, request); }, std::move(done));
}

void DeleteTable(Engine& engine, v1::DeleteTableRequest request, Done<v1::DeleteTableReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Delete(engine, request); }, std::move(done));
}

void TagTable(Engine& engine, v1::TagTableRequest request, Done<v1::TagTableReply> done) {
  auto run = [&engine, request = std::move(request)] {
    return Change<v1::TagTableReply>(engine, request.table_name(), [&](v1::TableDescription definition) {
      return TaggedDefinition(std::move(definition), request);
    });
  };
  RunDefinition(engine, std::move(run), std::move(done));
}

void UntagTable(Engine& engine, v1::UntagTableRequest request, Done<v1::UntagTableReply> done) {
  auto run = [&engine, request = std::move(request)] {
    return Change<v1::UntagTableReply>(engine, request.table_name(), [&](v1::TableDescription definition) {
      return UntaggedDefinition(std::move(definition), request);
    });
  };
  RunDefinition(engine, std::move(run), std::move(done));
}

absl::Status RunDefinitionAndWait(Engine& engine, absl::AnyInvocable<absl::Status()> operation) {
  std::promise<absl::Status> promise;
  std::future<absl::Status> done = promise.get_future();
  auto run = [operation = std::move(operation)]() mutable -> absl::StatusOr<bool> {
    ITEMDB_RETURN_IF_ERROR(operation());
    return true;
  };
  RunDefinition<bool>(
      engine, std::move(run),
      [promise = std::move(promise)](absl::StatusOr<bool> ran) mutable { promise.set_value(ran.status()); });
  return done.get();
}

std::string EncodeTableChange(v1::ChangeKind kind, const v1::TableDescription& definition,
                              const CommitGroup& group) {
  v1::ChangeRecord record;
  record.set_change_sequence(group.next_sequence());
  record.set_commit_time_us(group.commit_time_us());
  record.set_table_storage_id(definition.storage_id());
  record.set_kind(kind);
  record.set_commit_first_sequence(group.next_sequence());
  record.set_commit_last_sequence(group.next_sequence());
  *record.mutable_table() = definition;
  return record.SerializeAsString();
}

std::shared_ptr<Table> WithDefinition(const Table& old_table, v1::TableDescription definition) {
  auto table = std::make_shared<Table>(MakeTable(std::move(definition)));
  table->patterns = old_table.patterns;
  ShareUsedUnits(old_table, table.get());
  for (const Index& old_index : old_table.indexes) {
    if (table->FindIndexByStorageId(old_index.storage_id) == nullptr)
      table->patterns = table->patterns->Without(old_index.storage_id);
  }
  for (Index& index : table->indexes) {
    const Index* old_index = old_table.FindIndexByStorageId(index.storage_id);
    if (old_index != nullptr && index.state != IndexState::kActive) index.state = old_index->state;
  }
  return table;
}

absl::StatusOr<uint64_t> ReplaceTable(Engine& engine, std::shared_ptr<const Table> table,
                                      absl::FunctionRef<void(CommitGroup&)> also, WriteSpace space) {
  const auto replace = [&](CommitGroup& group) {
    group.PutCatalog(kTableKeyPrefix + table->name, EncodeCatalogTable(table->definition));
    also(group);
    group.AppendChange(table->storage_id,
                       EncodeTableChange(v1::CHANGE_KIND_UPDATE_TABLE, table->definition, group));
    // Definitions change on this thread only, so the table is still there.
    group.SetCatalog(group.catalog()->With(table));
    return absl::OkStatus();
  };
  return CommitAndWait(engine, replace, {.space = space});
}

void PutNextStorageId(const Engine& engine, CommitGroup& group) {
  group.PutCatalog(kNextStorageIdKey, EncodeCatalogNumber(kNextStorageIdKey, engine.next_storage_id()));
}

absl::StatusOr<v1::TableDescription> DescribeTable(const Engine& engine, const ReadView& view,
                                                   const Table& table) {
  v1::TableDescription description = table.definition;
  description.clear_time_to_live();
  description.clear_point_in_time_recovery();
  // Definitions that an older version stored lack the next two.
  RaiseWarmThroughput(&description);
  if (description.billing_mode() == v1::BILLING_MODE_PAY_PER_REQUEST &&
      description.last_update_to_pay_per_request_time_ms() == 0)
    description.set_last_update_to_pay_per_request_time_ms(description.creation_time_ms());
  ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics size_statistics,
                          FindStatistics(engine.size_statistics(), view, table.storage_id));
  description.set_item_count(size_statistics.items);
  description.set_table_size_bytes(size_statistics.bytes);
  const auto is_active = [](const auto& index) { return index.index_status() == v1::TABLE_STATUS_ACTIVE; };
  if (!absl::c_all_of(table.definition.global_secondary_indexes(), is_active) ||
      !absl::c_all_of(table.definition.vector_indexes(), is_active))
    description.set_table_status(v1::TABLE_STATUS_UPDATING);
  const auto count_entries = [&](auto& index) {
    // While an index is being created only some of its entries are counted.
    if (table.FindIndexByStorageId(index.storage_id())->state != IndexState::kActive) return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics entries,
                            FindStatistics(engine.size_statistics(), view, index.storage_id()));
    index.set_item_count(entries.items);
    index.set_index_size_bytes(entries.bytes);
    return absl::OkStatus();
  };
  for (auto& index : *description.mutable_global_secondary_indexes())
    ITEMDB_RETURN_IF_ERROR(count_entries(index));
  for (auto& index : *description.mutable_local_secondary_indexes())
    ITEMDB_RETURN_IF_ERROR(count_entries(index));
  for (auto& index : *description.mutable_vector_indexes()) ITEMDB_RETURN_IF_ERROR(count_entries(index));
  return description;
}

}  // namespace itemdb::storage
