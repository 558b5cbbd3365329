#include "storage/items/item_collections.h"

#include "absl/container/flat_hash_map.h"
#include "storage/values/item_size.h"

namespace itemdb::storage {
namespace {

constexpr double kBytesPerGb = 1 << 30;

Decision Refused(absl::Status error) {
  Decision decision;
  decision.outcome = Decision::Outcome::kError;
  decision.error = std::move(error);
  return decision;
}

// Whether `action` is applied and writes to an item of a table whose item collections are counted.
bool IsInCollection(const PreparedAction& action, const Decision& decision) {
  return action.table->has_local_indexes && action.kind != ActionKind::kConditionCheck &&
         decision.outcome == Decision::Outcome::kApply;
}

}  // namespace

absl::Status CheckReturnItemCollectionMetrics(v1::ReturnItemCollectionMetrics wanted) {
  if (v1::ReturnItemCollectionMetrics_IsValid(wanted)) return absl::OkStatus();
  return ValidationError("SEM-066", "ReturnItemCollectionMetrics " + std::to_string(wanted) +
                                        " is unknown; it must be NONE or SIZE");
}

SizeStatistics CollectionChange(const PreparedAction& action, const Decision& decision) {
  SizeStatistics change;
  if (!IsInCollection(action, decision) || !decision.changed) return change;
  if (decision.new_item.has_value()) {
    ++change.items;
    change.bytes += static_cast<int64_t>(ItemSizeBytes(ItemView(*decision.new_item)));
  }
  if (decision.old_item.has_value()) {
    --change.items;
    change.bytes -= static_cast<int64_t>(ItemSizeBytes(ItemView(*decision.old_item)));
  }
  for (const Decision::EntryChange& entry : decision.entry_changes) {
    if (!entry.index->local) continue;
    if (entry.new_entry.has_value()) change.bytes += static_cast<int64_t>(entry.new_entry->item_size);
    if (entry.old_entry.has_value()) change.bytes -= static_cast<int64_t>(entry.old_entry->item_size);
  }
  return change;
}

void CheckCollections(std::span<const PreparedAction> actions, CommitGroup& group,
                      std::span<Decision> decisions) {
  // Bytes of one collection before and after the whole unit.
  struct Bytes {
    int64_t before;
    int64_t after;
  };
  absl::flat_hash_map<std::string, Bytes> collections;
  for (size_t i = 0; i < actions.size(); ++i) {
    Decision& decision = decisions[i];
    if (!IsInCollection(actions[i], decision)) continue;
    absl::StatusOr<SizeStatistics> before =
        group.size_statistics().FindCollection(actions[i].table->storage_id, actions[i].key);
    if (!before.ok()) {
      decision = Refused(before.status());
      continue;
    }
    std::string key = CollectionKey(actions[i].table->storage_id, actions[i].key.encoded);
    collections.try_emplace(std::move(key), Bytes{before->bytes, before->bytes}).first->second.after +=
        CollectionChange(actions[i], decision).bytes;
  }
  if (collections.empty()) return;
  for (size_t i = 0; i < actions.size(); ++i) {
    Decision& decision = decisions[i];
    if (CollectionChange(actions[i], decision).bytes <= 0) continue;
    const Bytes& bytes = collections.at(CollectionKey(actions[i].table->storage_id, actions[i].key.encoded));
    if (bytes.after <= group.max_item_collection_bytes() || bytes.after <= bytes.before) continue;
    decision = Refused(WithRule(
        "SEM-092", MakeError(absl::StatusCode::kResourceExhausted, kReasonItemCollectionSizeLimitExceeded,
                             "nothing was written: the items of table " + actions[i].table->name +
                                 " with one partition key and their entries in local indexes would have " +
                                 std::to_string(bytes.after) + " bytes; at most " +
                                 std::to_string(group.max_item_collection_bytes()) + " are allowed")));
  }
}

absl::Status CollectionMeter::Add(const PreparedAction& action, CommitGroup& group) {
  if (!wanted_ || !action.table->has_local_indexes || action.kind == ActionKind::kConditionCheck)
    return absl::OkStatus();
  const Table& table = *action.table;
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics collection,
                          group.size_statistics().FindCollection(table.storage_id, action.key));
  wire::ItemCollectionMetrics metrics;
  const std::string& name = table.partition[0].name;
  AppendAttribute(name, ItemView(action.key_or_item).Find(name)->encoded(),
                  metrics.mutable_item_collection_key());
  const double gb = static_cast<double>(collection.bytes) / kBytesPerGb;
  metrics.add_size_estimate_range_gb(gb);
  metrics.add_size_estimate_range_gb(gb);
  collections_.insert_or_assign({table.name, CollectionKey(table.storage_id, action.key.encoded)},
                                std::move(metrics));
  return absl::OkStatus();
}

void CollectionMeter::MoveInto(wire::WriteItemReply* reply) {
  for (auto& [key, metrics] : collections_) *reply->mutable_item_collection_metrics() = std::move(metrics);
  collections_.clear();
}

}  // namespace itemdb::storage
