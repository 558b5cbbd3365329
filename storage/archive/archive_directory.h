// Reads the archive: its chains, and the groups in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "rocksdb/env.h"
#include "storage/archive/archive_segment.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Commit groups without a gap, of one store.
struct ArchiveChain {
  std::string database_id;
  std::string store_id;
  uint64_t id = 0;
  // Every group after this sequence, and every change after this change, is in the chain.
  uint64_t after_sequence = 0;
  uint64_t after_change = 0;
  // When its first segment was begun.
  int64_t begin_time_us = 0;
  // Groups behind it do not count: the next chain has others in their place.
  uint64_t through_sequence = UINT64_MAX;
  // In order.
  std::vector<SegmentHeader> segments = {};
};

struct ArchiveContents {
  // In the order in which they were begun.
  std::vector<ArchiveChain> chains;
  // The highest number of a file that is named like a segment.
  uint64_t last_number = 0;
};

// Reads the headers of all segments. A segment with a damaged header belongs to no chain, and the chain of
// the next one begins behind it. NOT_FOUND: there is no such directory. UNAVAILABLE: the file system says so.
absl::StatusOr<ArchiveContents> ReadArchive(rocksdb::Env* env, const std::string& directory);

// Says in the archive whether its writer waits for the acknowledgements of a standby (--standby-acknowledge),
// which one that reads the archive's directory cannot give: by a file WAITS_FOR_STANDBY.
absl::Status WriteWaitsForStandby(rocksdb::Env* env, const std::string& directory, bool waits);
// FAILED_PRECONDITION (STANDBY): it does; the message says what to use instead.
absl::Status CheckDoesNotWaitForStandby(rocksdb::Env* env, const std::string& directory);

// Where the groups of a chain end.
struct ChainEnd {
  uint64_t sequence = 0;
  uint64_t change = 0;
  int64_t commit_time_us = 0;
  // Of the last frame.
  uint64_t hash = 0;
};

// Calls `visit` for each group behind `after_sequence`, in order, until it returns false. Returns the end of
// what was read. DATA_LOSS: a segment is damaged before its end, or missing. An error of `visit` is returned.
//
// Damage of the last segment looks like the end of an archive whose writer was killed: groups end there.
absl::StatusOr<ChainEnd> ForEachGroup(rocksdb::Env* env, const std::string& directory,
                                      const ArchiveChain& chain, uint64_t after_sequence,
                                      absl::FunctionRef<absl::StatusOr<bool>(const ArchivedGroup&)> visit);

// The time of the last group of the chain, in microseconds since the Unix epoch; 0 if it has none. Reads the
// last segments only. Errors as ForEachGroup.
absl::StatusOr<int64_t> LastCommitTime(rocksdb::Env* env, const std::string& directory,
                                       const ArchiveChain& chain);

}  // namespace itemdb::storage
