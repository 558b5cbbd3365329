// How a commit group changes the counters: those of tables and indexes, and those of item collections.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "storage/base/status.h"
#include "storage/commit/write_set.h"
#include "storage/store/counters.h"

namespace itemdb {

class GroupCounters {
 public:
  // `current` are those that the group before left. Both must outlive this.
  GroupCounters(const Store& store, CurrentCounters& current) : store_(store), current_(current) {}

  // ---- of tables and indexes, by storage id ----

  // With what this group has added.
  Counters Of(uint64_t storage_id) const;
  void Add(uint64_t storage_id, int64_t items, int64_t bytes);
  void Set(uint64_t storage_id, const Counters& counters) { counters_[storage_id] = counters; }
  // What they were. From this group on there are none.
  Counters Drop(uint64_t storage_id, WriteSet* writes);

  // ---- of item collections of tables with local indexes ----

  // Those of the collection that the item under `key` is in. DATA_LOSS, or what the store answers.
  absl::StatusOr<Counters> FindCollection(uint64_t storage_id, const ItemKey& key);
  // Adds `change` to a collection that FindCollection has answered for.
  void AddToCollection(uint64_t storage_id, const ItemKey& key, const Counters& change);
  // Replaces what is recorded of a collection for which FindCollection has answered DATA_LOSS.
  void SetCollection(uint64_t storage_id, const ItemKey& key, const Counters& counters);

  // Whether nothing was changed, but for what was dropped.
  bool empty() const { return counters_.empty() && !collections_changed_; }
  // Adds the records of what was changed.
  void AppendTo(WriteSet* writes) const;
  // What this group, the one of that number, left is current from now on.
  void Commit(uint64_t group);

 private:
  struct Collection {
    uint64_t storage_id = 0;
    Counters counters;
    bool changed = false;
  };

  const Store& store_;
  CurrentCounters& current_;
  absl::flat_hash_map<uint64_t, Counters> counters_;
  std::vector<uint64_t> dropped_;
  // What FindCollection found, with this group's changes, by key.
  absl::flat_hash_map<std::string, Collection> collections_;
  bool collections_changed_ = false;
};

}  // namespace itemdb
