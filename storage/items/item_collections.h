// Item collections of tables with local indexes: the size limit (SEM-092), and sizes in replies (SEM-066).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/wire/data.pb.h"
#include "storage/items/write_action.h"

namespace itemdb::storage {

// INVALID_ARGUMENT: an unknown value.
absl::Status CheckReturnItemCollectionMetrics(v1::ReturnItemCollectionMetrics wanted);

// The items and bytes that an applied decision adds to the item collection.
SizeStatistics CollectionChange(const PreparedAction& action, const Decision& decision);

// Reads the sizes of all item collections that `decisions` write to, so that later reads of them from `group`
// cannot fail. A collection may be above the limit only if the decisions do not make it larger. Otherwise
// the decisions that add to it become errors (RESOURCE_EXHAUSTED, ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED).
void CheckCollections(std::span<const PreparedAction> actions, CommitGroup& group,
                      std::span<Decision> decisions);

// Gathers the item collections of one request's items. Does nothing unless the request asks for SIZE.
class CollectionMeter {
 public:
  explicit CollectionMeter(v1::ReturnItemCollectionMetrics wanted = v1::RETURN_ITEM_COLLECTION_METRICS_NONE)
      : wanted_(wanted == v1::RETURN_ITEM_COLLECTION_METRICS_SIZE) {}

  // Adds the collection of `action`'s item, with the size after all writes applied so far. Fails (DATA_LOSS,
  // or an error of the store) only if CheckCollections has not read the collection before.
  absl::Status Add(const PreparedAction& action, CommitGroup& group);

  // For requests on one item: moves the collection, if any, into `reply`.
  void MoveInto(wire::WriteItemReply* reply);
  // For requests on several items: moves the collections into `reply`, grouped by table.
  template <typename Reply>
  void AddTo(Reply* reply) {
    wire::TableItemCollectionMetrics* table = nullptr;
    for (auto& [key, metrics] : collections_) {
      if (table == nullptr || table->table_name() != key.first) {
        table = reply->add_item_collection_metrics();
        table->set_table_name(key.first);
      }
      *table->add_item_collection_metrics() = std::move(metrics);
    }
    collections_.clear();
  }

 private:
  bool wanted_;
  // By table name and key of the collection.
  std::map<std::pair<std::string, std::string>, wire::ItemCollectionMetrics> collections_;
};

}  // namespace itemdb::storage
