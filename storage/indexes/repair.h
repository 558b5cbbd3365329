// Putting right what differs from the items it is derived from, while writes go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/indexes/differences.h"

namespace itemdb {

// Takes what a walk over one table finds and mends it through the commit pipeline.
//
// An entry is compared again with its item as it is then, so that a write after the walk's view is not
// undone; counters are changed by how much they were wrong in that view, which writes since have not changed.
class Repair {
 public:
  // `view` is the walk's, `table` of it.
  Repair(Engine& engine, const ReadView& view, const Table& table)
      : engine_(engine), view_(view), table_(table) {}

  // ---- as the walk finds them; each may block until what was found so far is mended ----

  // An entry that is there and should not be, or the other way round, or is not as it should be.
  void Entry(const Index& index, std::string_view key);
  void Expected(const Index& index, const Counters& expected);
  void TableCount(const Counters& counted);
  void Collection(std::string_view key, const Counters& counted);

  // Mends the rest. Errors: the first of what the pipeline or the store answered to any of it.
  absl::Status Finish();

  // Entries that had to be left as they were, because their items are damaged.
  int64_t left() const { return left_; }

 private:
  struct WrongEntry {
    uint64_t index_storage_id;
    std::string key;
  };
  struct WrongCount {
    uint64_t storage_id;
    Counters change;
  };
  struct WrongCollection {
    std::string key;
    // What it was found to be, and what the record says; nothing when that does not decode.
    Counters counted;
    std::optional<Counters> stored;
  };

  void Count(uint64_t storage_id, const Counters& counted);
  void CommitSome();
  // In commit order.
  void Mend(CommitGroup& group);
  void MendEntry(const Table& table, const WrongEntry& wrong, CommitGroup& group);
  void MendCollection(const Table& table, const WrongCollection& wrong, CommitGroup& group);

  Engine& engine_;
  const ReadView& view_;
  const Table& table_;
  std::vector<WrongEntry> entries_;
  std::vector<WrongCount> counts_;
  std::vector<WrongCollection> collections_;
  int64_t left_ = 0;
  absl::Status status_;
};

// `differences` that are given to `repair` and, before that, to `report`.
Differences Repairing(const Differences& report, const Table& table, Repair& repair);

}  // namespace itemdb
