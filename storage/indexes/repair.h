// Corrects index entries and size statistics that differ from the items, while writes go on.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/indexes/differences.h"

namespace itemdb::storage {

// Collects the differences that a walk over one table finds, and corrects them through the commit pipeline.
//
// Apply compares each entry again with the current item, so no write since the walk's view is undone. Size
// statistics are corrected by their error in that view: writes since then have changed the statistics, but
// not this error.
class Repair {
 public:
  // `view`: the view of the walk. `table`: a table of this view.
  Repair(Engine& engine, const ReadView& view, const Table& table)
      : engine_(engine), view_(view), table_(table) {}

  // ---- called by the walk; may block until the differences so far are corrected ----

  // An entry that is orphaned, missing, stale or damaged.
  void Entry(const Index& index, std::string_view key);
  void Expected(uint64_t storage_id, const SizeStatistics& expected);
  void Collection(std::string_view key, const SizeStatistics& counted);

  // Corrects the remaining differences. Errors: the first one of the pipeline or the store.
  absl::Status Finish();

  // Differences that were not corrected, for example entries whose items are damaged.
  int64_t left() const { return left_; }

 private:
  struct WrongEntry {
    uint64_t index_storage_id;
    std::string key;
  };
  struct WrongCount {
    uint64_t storage_id;
    // As in the view, and what is missing from them.
    SizeStatistics stored;
    SizeStatistics error;
  };
  struct WrongCollection {
    std::string key;
    // The statistics as counted, and as stored: nullopt when the record does not decode.
    SizeStatistics counted;
    std::optional<SizeStatistics> stored;
  };

  void CommitSome();
  // Corrects all collected differences; called in Apply.
  void Reconcile(CommitGroup& group);
  void ReconcileEntry(const Table& table, const WrongEntry& wrong, CommitGroup& group);
  void ReconcileCollection(const Table& table, const WrongCollection& wrong, CommitGroup& group);

  Engine& engine_;
  const ReadView& view_;
  const Table& table_;
  std::vector<WrongEntry> entries_;
  std::vector<WrongCount> counts_;
  std::vector<WrongCollection> collections_;
  int64_t left_ = 0;
  absl::Status status_;
};

// Callbacks that pass each difference first to `report`, then to `repair`. All arguments must outlive them.
Differences Repairing(const Differences& report, Repair& repair);

}  // namespace itemdb::storage
