// The segments of a parallel Scan (SEM-033): contiguous key ranges of about the same size that together cover
// a table or index.
//
// Where to split is measured when a number of segments is first asked for, and recorded in the catalog, so
// that every page of every segment, before and after a restart, speaks of the same ranges. A table is split
// into at most kMaxScanRanges; of more segments the rest are empty. The split points of the kMaxSplits
// numbers used last are kept; a scan that begins after an hour without use
// measures them anew.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/keys/key_range.h"

namespace itemdb {

// Ascending keys; the i-th segment begins at the i-th (the first one at the beginning).
using SplitPoints = std::vector<std::string>;

class ScanSegments {
 public:
  explicit ScanSegments(Engine& engine) : engine_(engine) {}

  struct Request {
    std::shared_ptr<const Table> table;
    // Null: of the table itself.
    const Index* index = nullptr;
    int32_t total_segments = 1;
    // Whether the segment is read from its beginning. A scan that goes on must find the split points it began
    // with.
    bool begins = true;
    CancellationPtr cancellation;
  };
  // Gives `found` the split points: at once when they are at hand, otherwise on an I/O thread, which measures
  // them, one after the other: all segments of a scan must speak of the same. Thread-safe. INVALID_ARGUMENT:
  // the scan goes on, and its split points are no longer kept.
  void Find(Request request, Done<std::shared_ptr<const SplitPoints>> found);

 private:
  using Id = std::pair<uint64_t, int32_t>;
  struct Known {
    std::string table_name;
    std::shared_ptr<const SplitPoints> points;
    std::chrono::steady_clock::time_point used;
  };

  struct Waiting {
    Id id;
    Request request;
    Done<std::shared_ptr<const SplitPoints>> found;
  };

  // Has the first that waits answered by an I/O thread, and those after it.
  void MeasureNext();
  Waiting TakeWaiting();
  absl::StatusOr<std::shared_ptr<const SplitPoints>> Measure(Id id, const Request& request);
  // Null when they are not known, or for a scan that begins were not used for too long.
  std::shared_ptr<const SplitPoints> Use(Id id, bool begins);
  // The catalog's keys that have to go so that kMaxSplits are left with `id`'s.
  std::vector<std::string> UsedLongestAgo(const ReadView& view, Id id);
  void Keep(Id id, const Table& table, std::shared_ptr<const SplitPoints> points);

  Engine& engine_;
  Mutex mutex_;
  std::map<Id, Known> known_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Whether a task of MeasureNext is there.
  bool measuring_ ABSL_GUARDED_BY(mutex_) = false;
};

// The range of one segment.
KeyRange SegmentRange(const SplitPoints& points, int32_t segment);

// Keys that split the records of `keyspace` in `view` into `parts` of about the same number or size; fewer
// when there are not as many records. CANCELLED, DEADLINE_EXCEEDED: nobody waits for them any more.
absl::StatusOr<SplitPoints> MeasureSplitPoints(const ReadView& view, const Keyspace& keyspace, int32_t parts,
                                               int64_t records,
                                               const CancellationPtr& cancellation = nullptr);

}  // namespace itemdb
