// Item collections of tables with local indexes: how large they may become (SEM-092), and what replies say of
// them (SEM-066).
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/wire/data.pb.h"
#include "storage/items/write_action.h"

namespace itemdb {

// INVALID_ARGUMENT: an unknown value.
absl::Status CheckReturnItemCollectionMetrics(v1::ReturnItemCollectionMetrics wanted);

// What an applied decision adds to the collection of its item.
Counters CollectionChange(const PreparedAction& action, const Decision& decision);

// Looks at the collections of all items that `decisions` write to, so that nothing that is done with them
// after this can fail. When together they would make one larger than it was and than allowed, those that add
// to it become errors (RESOURCE_EXHAUSTED, reason ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED).
void CheckCollections(std::span<const PreparedAction> actions, CommitGroup& group,
                      std::span<Decision> decisions);

// Gathers the collections of one request's items. Does nothing unless the request wants to know.
class CollectionMeter {
 public:
  explicit CollectionMeter(v1::ReturnItemCollectionMetrics wanted = v1::RETURN_ITEM_COLLECTION_METRICS_NONE)
      : wanted_(wanted == v1::RETURN_ITEM_COLLECTION_METRICS_SIZE) {}

  // The collection of `action`'s item as of all writes ordered so far. DATA_LOSS, or what the store answers,
  // unless CheckCollections has looked at it.
  absl::Status Add(const PreparedAction& action, CommitGroup& group);

  // For requests on one item: into `reply`, when there is anything.
  void MoveInto(wire::WriteItemReply* reply);
  // For requests on several.
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

}  // namespace itemdb
