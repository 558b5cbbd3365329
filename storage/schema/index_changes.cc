#include "storage/schema/index_changes.h"

#include <algorithm>

#include "spdlog/spdlog.h"
#include "storage/schema/restoring_tables.h"
#include "storage/schema/stream_records.h"
#include "storage/schema/table_changes.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

// The index of `old_table` that `table` lacks; null when there is none.
const Index* DeletedIndex(const Table& old_table, const Table& table) {
  for (const Index& index : old_table.indexes) {
    if (table.FindIndexByStorageId(index.storage_id) == nullptr) return &index;
  }
  return nullptr;
}

// Shows the deleted index in the reply once more, as DELETING, and the table as UPDATING.
void ShowDeleting(const Table& old_table, const Index& deleted, v1::TableDescription* table) {
  for (const auto& index : old_table.definition.global_secondary_indexes()) {
    if (index.storage_id() != deleted.storage_id) continue;
    v1::GlobalSecondaryIndexDescription* shown = table->add_global_secondary_indexes();
    *shown = index;
    shown->set_index_status(v1::TABLE_STATUS_DELETING);
    shown->clear_backfilling();
  }
  for (const auto& index : old_table.definition.vector_indexes()) {
    if (index.storage_id() != deleted.storage_id) continue;
    v1::VectorIndexDescription* shown = table->add_vector_indexes();
    *shown = index;
    shown->set_index_status(v1::TABLE_STATUS_DELETING);
    shown->clear_backfilling();
  }
  table->set_table_status(v1::TABLE_STATUS_UPDATING);
}

// Drops the entries of an index and deletes its records in the catalog, except its definition.
void DropIndexEntries(const Index& index, const std::vector<std::string>& segments, CommitGroup& group) {
  group.DropEntries(index);
  for (const std::string& key : segments) group.DeleteCatalog(key);
}

// One line for each change of a definition: an index that is added or deleted, or other settings.
void LogUpdate(const Engine& engine, const Table& old_table, const v1::TableDescription& definition,
               const Index* deleted_or_null, uint64_t change_sequence) {
  const common::Log& log = engine.options().log;
  const std::string& table = old_table.name;
  bool said = false;
  for (const auto& index : definition.global_secondary_indexes()) {
    const auto& before = old_table.definition.global_secondary_indexes();
    const bool is_new = std::none_of(before.begin(), before.end(), [&index](const auto& other) {
      return other.storage_id() == index.storage_id();
    });
    if (!is_new) continue;
    log.info("index added table={} index={} change_sequence={}", table, index.index_name(), change_sequence);
    said = true;
  }
  if (deleted_or_null != nullptr) {
    log.info("index deleted table={} index={} change_sequence={}", table, deleted_or_null->name,
             change_sequence);
    said = true;
  }
  if (definition.stream_enabled() != old_table.definition.stream_enabled()) {
    log.info("stream of a table changed table={} enabled={} change_sequence={}", table,
             definition.stream_enabled(), change_sequence);
    said = true;
  }
  if (definition.has_write_fence() != old_table.definition.has_write_fence() ||
      definition.write_fence().moved() != old_table.definition.write_fence().moved()) {
    const char* state = !definition.has_write_fence()      ? "none"
                        : definition.write_fence().moved() ? "moved"
                                                           : "moving";
    log.info("write fence of a table changed table={} fence={} endpoint={} change_sequence={}", table, state,
             definition.write_fence().endpoint(), change_sequence);
    said = true;
  }
  if (!said) log.info("table updated table={} change_sequence={}", table, change_sequence);
}

absl::StatusOr<v1::UpdateTableReply> Update(Engine& engine, const v1::UpdateTableRequest& request) {
  std::shared_ptr<const Table> old_table;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_RETURN_IF_ERROR(CheckNotImporting(*view, request.table_name()));
    auto found = view->catalog().Find(request.table_name());
    if (!found.ok()) {
      // What is wrong with the request itself comes first: that it changes nothing, or too much (SEM-095).
      absl::Status refused = UpdatedDefinition(v1::TableDescription(), request).status();
      if (absl::IsInvalidArgument(refused) && RuleOf(refused) == "SEM-095") return refused;
      return found.status();
    }
    old_table = *std::move(found);
  }
  ITEMDB_ASSIGN_OR_RETURN(v1::TableDescription definition, UpdatedDefinition(old_table->definition, request));
  StreamChange stream;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(stream, StreamChange::Prepare(*view, &old_table->definition, &definition));
  }
  bool has_new_index = false;
  const auto give_storage_ids = [&](auto* indexes) {
    for (auto& index : *indexes) {
      if (index.storage_id() != 0) continue;
      index.set_storage_id(engine.NewStorageId());
      has_new_index = true;
    }
  };
  give_storage_ids(definition.mutable_global_secondary_indexes());
  give_storage_ids(definition.mutable_vector_indexes());
  std::shared_ptr<Table> table = WithDefinition(*old_table, std::move(definition));
  const Index* deleted = DeletedIndex(*old_table, *table);
  std::vector<std::string> segments;
  if (deleted != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(segments, ScanSegmentKeys(*view, deleted->storage_id));
  }

  const auto also = [&](CommitGroup& group) {
    stream.Append(group);
    if (has_new_index) PutNextStorageId(engine, group);
    if (deleted != nullptr) DropIndexEntries(*deleted, segments, group);
  };
  // A move away must be possible on a full disk: its fence takes some bytes.
  const bool frees = (deleted != nullptr || request.has_write_fence()) && !has_new_index;
  ITEMDB_ASSIGN_OR_RETURN(uint64_t change_sequence,
                          ReplaceTable(engine, table, also, frees ? WriteSpace::kFrees : WriteSpace::kTakes));
  LogUpdate(engine, *old_table, table->definition, deleted, change_sequence);

  v1::UpdateTableReply reply;
  reply.set_change_sequence(change_sequence);
  *reply.mutable_table() = table->definition;
  reply.mutable_table()->clear_time_to_live();
  reply.mutable_table()->clear_point_in_time_recovery();
  // The change is committed: an error while reading the size statistics must not fail the request.
  if (auto view = engine.View(); view.ok()) {
    if (auto described = DescribeTable(engine, **view, *table); described.ok())
      *reply.mutable_table() = *std::move(described);
  }
  if (deleted != nullptr) ShowDeleting(*old_table, *deleted, reply.mutable_table());
  return reply;
}

// As ReplaceTable, but without a change record: users of the table see no difference.
absl::Status ReplaceWithoutChangeRecord(Engine& engine, std::shared_ptr<const Table> table,
                                        absl::FunctionRef<void(CommitGroup&)> also) {
  return CommitAndWait(engine,
                       [&](CommitGroup& group) {
                         group.PutCatalog(kTableKeyPrefix + table->name,
                                          EncodeCatalogTable(table->definition));
                         also(group);
                         group.SetCatalog(group.catalog()->With(table));
                         return absl::OkStatus();
                       })
      .status();
}

// Sets the storage id of an index that is being created: of a global or vector index, or else of the TTL
// index.
void SetStorageId(uint64_t storage_id, uint64_t new_storage_id, v1::TableDescription* definition) {
  for (auto& index : *definition->mutable_global_secondary_indexes()) {
    if (index.storage_id() == storage_id) return index.set_storage_id(new_storage_id);
  }
  for (auto& index : *definition->mutable_vector_indexes()) {
    if (index.storage_id() == storage_id) return index.set_storage_id(new_storage_id);
  }
  definition->mutable_time_to_live()->set_storage_id(new_storage_id);
}

void SetActive(uint64_t storage_id, int64_t skipped_items, v1::TableDescription* definition) {
  const auto set_active = [&](auto* indexes) {
    for (auto& index : *indexes) {
      if (index.storage_id() != storage_id) continue;
      index.set_index_status(v1::TABLE_STATUS_ACTIVE);
      index.clear_backfilling();
      if (skipped_items > 0) index.set_skipped_items(skipped_items);
      return true;
    }
    return false;
  };
  if (set_active(definition->mutable_global_secondary_indexes()) ||
      set_active(definition->mutable_vector_indexes()))
    return;
  definition->mutable_time_to_live()->set_index_status(v1::TABLE_STATUS_ACTIVE);
}

absl::StatusOr<FoundIndex> FindNow(Engine& engine, const BuildingIndex& building) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  return FindBuildingIndex(view->catalog(), building);
}

}  // namespace

void UpdateTable(Engine& engine, v1::UpdateTableRequest request, Done<v1::UpdateTableReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Update(engine, request); }, std::move(done));
}

absl::StatusOr<FoundIndex> FindBuildingIndex(const Catalog& catalog, const BuildingIndex& building) {
  if (auto table = catalog.FindByName(building.table_name); table != nullptr) {
    const Index* index = table->FindIndexByStorageId(building.storage_id);
    if (index != nullptr && index->state != IndexState::kActive) return FoundIndex{table, index};
  }
  return NotFoundError("index " + building.index_name + " of table " + building.table_name +
                       " was deleted while it was being created");
}

std::vector<BuildingIndex> BuildingIndexes(const Catalog& catalog) {
  std::vector<BuildingIndex> building;
  for (const auto& table : catalog) {
    for (const Index& index : table->indexes) {
      if (index.state != IndexState::kActive)
        building.push_back({table->name, table->storage_id, index.name, index.storage_id});
    }
  }
  return building;
}

absl::StatusOr<BuildingIndex> AssignNewStorageId(Engine& engine, const BuildingIndex& building) {
  BuildingIndex renewed = building;
  ITEMDB_RETURN_IF_ERROR(RunDefinitionAndWait(engine, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindNow(engine, building));
    renewed.storage_id = engine.NewStorageId();
    v1::TableDescription definition = found.table->definition;
    SetStorageId(building.storage_id, renewed.storage_id, &definition);
    return ReplaceWithoutChangeRecord(engine, WithDefinition(*found.table, std::move(definition)),
                                      [&](CommitGroup& group) {
                                        PutNextStorageId(engine, group);
                                        DropIndexEntries(*found.index, {}, group);
                                      });
  }));
  return renewed;
}

absl::Status EnableIndexWrites(Engine& engine, const BuildingIndex& building) {
  return RunDefinitionAndWait(engine, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindNow(engine, building));
    std::shared_ptr<Table> table = WithDefinition(*found.table, found.table->definition);
    for (Index& index : table->indexes) {
      if (index.storage_id == building.storage_id) index.state = IndexState::kCatchingUp;
    }
    return ReplaceWithoutChangeRecord(engine, table, [](CommitGroup&) {});
  });
}

absl::Status ActivateIndex(Engine& engine, const BuildingIndex& building, const Store& store,
                           const SizeStatistics& backfilled, int64_t skipped_items) {
  return RunDefinitionAndWait(engine, [&]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    if (view->store().get() != &store) {
      return absl::AbortedError("the store was opened again while index " + building.index_name +
                                " of table " + building.table_name + " was being backfilled");
    }
    ITEMDB_ASSIGN_OR_RETURN(FoundIndex found, FindBuildingIndex(view->catalog(), building));
    v1::TableDescription definition = found.table->definition;
    SetActive(building.storage_id, skipped_items, &definition);
    std::shared_ptr<Table> table = WithDefinition(*found.table, std::move(definition));
    return ReplaceTable(
               engine, table,
               [&](CommitGroup& group) { group.size_statistics().Add(building.storage_id, backfilled); })
        .status();
  });
}

}  // namespace itemdb::storage
