// The segments of a parallel Scan (SEM-033): contiguous key ranges of similar size that cover a table.
//
// The split points are measured when a scan first asks for a number of segments. They are stored in the
// catalog, so that every page of every segment, before and after a restart, uses the same ranges. Before a
// page with a LastEvaluatedKey is answered, its split points become permanent: as long as the table exists,
// its number of segments has these ranges, so the key can be a start key at any time. Split points without
// such a page, as of a table that was small then, are measured again when Segment 0 is begun and they were
// not used for an hour.
//
// Permanent split points of a table that was small then, or grows at one end of its keys, become uneven, and
// stay so. They cannot be measured again: a request names a segment, but not the scan that it belongs to. Of
// two scans with the same number of segments, one begun before and one after the measuring, nothing tells
// whose segment is begun, and a start key, which is an item's key, may lie in the same segment of both. Under
// ranges that are not its own a scan would miss items, or read them twice. A hash of the partition key would
// be even for ever, but items are stored in the order of their keys, so each segment would have to read the
// whole table. Other numbers of segments have split points of their own.
//
// A table is split into at most kMaxScanRanges ranges; further segments are empty. A table or an index has at
// most kMaxSplits sets of split points: the first kMaxSplits - 1 numbers of segments have their own. All
// further numbers share the set for kMaxScanRanges segments, of whose ranges each of their segments takes
// several that follow each other.
#pragma once

#include <atomic>
#include <chrono>
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
  // One set of split points.
  struct Splits {
    Splits(SplitPoints split_points, int32_t segments, bool permanent)
        : points(std::move(split_points)), number(segments), is_permanent(permanent) {}

    const SplitPoints points;
    // The number of segments under which the set is stored. The set of kMaxScanRanges segments serves other
    // numbers too.
    const int32_t number;
    // Whether a start key may exist that needs them.
    std::atomic<bool> is_permanent;
    // Guarded by the mutex of ScanSegments.
    std::chrono::steady_clock::time_point used = {};
  };
  using Found = std::shared_ptr<Splits>;

  // `unused_for`: after which time without use split points that are not permanent may be measured again.
  explicit ScanSegments(Engine& engine, std::chrono::seconds unused_for = std::chrono::hours(1))
      : engine_(engine), unused_for_(unused_for) {}

  struct Request {
    std::shared_ptr<const Table> table;
    // Null: the table itself is scanned.
    const Index* index = nullptr;
    int32_t total_segments = 1;
    // Whether this is the first page of Segment 0, with which most scans begin.
    bool begins = false;
    CancellationPtr cancellation;
  };
  // Gives `found` the split points: at once if they are in memory, otherwise later on an I/O thread. Requests
  // are answered there one after another, so that all segments of a scan get the same split points.
  // Thread-safe. INVALID_ARGUMENT: a pinned snapshot is read, and the table was deleted meanwhile.
  void Find(Request request, Done<Found> found);
  // Makes split points that Find gave permanent, then calls `done` with them: at once if they are permanent,
  // otherwise later on an I/O thread. Thread-safe. ABORTED: they were measured again meanwhile.
  void MakePermanent(Request request, Found splits, Done<Found> done);

 private:
  // What is stored of one table or index, by number of segments.
  struct OfKeyspace {
    std::string table_name;
    std::map<int32_t, Found> sets;
  };
  struct Waiting {
    Request request;
    // Null: find the split points. Otherwise make these permanent.
    Found made_permanent;
    Done<Found> done;
  };

  void Queue(Waiting waiting);
  // Lets an I/O thread answer the waiting requests, one after another.
  void AnswerNext();
  Waiting TakeWaiting();
  absl::StatusOr<Found> Answer(const Waiting& waiting);
  absl::StatusOr<Found> FindOrMeasure(const Request& request);
  absl::StatusOr<Found> Store(const Request& request, Found splits, bool is_permanent);
  // Reads the stored sets of a table or index, unless they are in memory.
  absl::Status Load(const ReadView& view, const Request& request);
  // The split points in memory. Null if there are none, or they are to be measured again.
  Found Use(const Request& request);
  // Under which number of segments the split points of `total_segments` are stored.
  static int32_t NumberFor(const OfKeyspace& known, int32_t total_segments);
  // The set of this number; null: none is known.
  static Found SetOrNull(const OfKeyspace& known, int32_t number);

  Engine& engine_;
  const std::chrono::seconds unused_for_;
  Mutex mutex_;
  // By storage id. Whether there is an entry says whether the stored sets were read.
  std::map<uint64_t, OfKeyspace> known_ ABSL_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  // Whether a task of AnswerNext is queued or running.
  bool answering_ ABSL_GUARDED_BY(mutex_) = false;
};

// The range of one segment of `total_segments`. With more ranges than segments, a segment has several.
KeyRange SegmentRange(const SplitPoints& points, int32_t segment, int32_t total_segments);

// Keys that split the records of `keyspace` in `view` into `parts` ranges of about the same number or size of
// records; fewer keys if there are not enough records. `records` is the number of records. CANCELLED,
// DEADLINE_EXCEEDED: the request was cancelled.
absl::StatusOr<SplitPoints> MeasureSplitPoints(const ReadView& view, const Keyspace& keyspace, int32_t parts,
                                               int64_t records,
                                               const CancellationPtr& cancellation = nullptr);

}  // namespace itemdb::storage
