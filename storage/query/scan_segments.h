// The segments of a parallel Scan (SEM-033): contiguous key ranges of similar size that cover a table.
//
// The split points are measured when a scan first asks for a number of segments. They are stored in the
// catalog, so that every page of every segment, before and after a restart, uses the same ranges. A table is
// split into at most kMaxScanRanges ranges; further segments are empty. For each table or index the split
// points of the kMaxSplits most recently used numbers of segments are kept. If split points were not used for
// an hour, the next scan that begins measures them again.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/keys/key_range.h"

namespace itemdb::storage {

// Ascending keys. Segment 0 begins at the start of the table; segment i begins at the key at position i - 1.
using SplitPoints = std::vector<std::string>;

class ScanSegments {
 public:
  explicit ScanSegments(Engine& engine) : engine_(engine) {}

  struct Request {
    std::shared_ptr<const Table> table;
    // Null: the table itself is scanned.
    const Index* index = nullptr;
    int32_t total_segments = 1;
    // Whether this page has no start key. Later pages need the split points of the first one, if there was
    // one: a program may also make the start key itself.
    bool begins = true;
    CancellationPtr cancellation;
  };
  // Gives `found` the split points: at once if they are in memory, otherwise later on an I/O thread. Requests
  // are answered there one after another, so that all segments of a scan get the same split points.
  // Thread-safe. INVALID_ARGUMENT: this is not the first page, and the split points may have been removed.
  void Find(Request request, Done<std::shared_ptr<const SplitPoints>> found);

 private:
  using Id = std::pair<uint64_t, int32_t>;
  struct CachedSplits {
    std::string table_name;
    std::shared_ptr<const SplitPoints> points;
    std::chrono::steady_clock::time_point used;
  };

  struct Waiting {
    Id id;
    Request request;
    Done<std::shared_ptr<const SplitPoints>> found;
  };

  // Lets an I/O thread answer the waiting requests, one after another.
  void MeasureNext();
  Waiting TakeWaiting();
  absl::StatusOr<std::shared_ptr<const SplitPoints>> Measure(Id id, const Request& request);
  // The split points in memory. Null if there are none, or a scan begins and they are too old.
  std::shared_ptr<const SplitPoints> Use(Id id, bool begins);
  // The catalog keys of the least recently used split points, which must be deleted so that at most
  // kMaxSplits are left with those of `id`.
  std::vector<std::string> LeastRecentlyUsed(const ReadView& view, Id id);
  void Insert(Id id, const Table& table, std::shared_ptr<const SplitPoints> points);

  Engine& engine_;
  Mutex mutex_;
  std::map<Id, CachedSplits> cache_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Whether a task of MeasureNext is queued or running.
  bool measuring_ ABSL_GUARDED_BY(mutex_) = false;
};

// The range of one segment.
KeyRange SegmentRange(const SplitPoints& points, int32_t segment);

// Keys that split the records of `keyspace` in `view` into `parts` ranges of about the same number or size of
// records; fewer keys if there are not enough records. `records` is the number of records. CANCELLED,
// DEADLINE_EXCEEDED: the request was cancelled.
absl::StatusOr<SplitPoints> MeasureSplitPoints(const ReadView& view, const Keyspace& keyspace, int32_t parts,
                                               int64_t records,
                                               const CancellationPtr& cancellation = nullptr);

}  // namespace itemdb::storage
