// When items of a table were last written between two states, by the commit groups of the archive.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// The changes after `after_change` up to `through_change`.
struct ChangeStretch {
  uint64_t after_change = 0;
  uint64_t through_change = 0;
};

// Called with the encoded primary key of an item, and the time of its last commit in microseconds since the
// Unix epoch.
using VisitLastWrite = std::function<absl::Status(std::string_view key, int64_t commit_time_us)>;

// Calls `visit` for each item of `table` that one of the changes put, changed or deleted, in the order of
// their keys. What does not fit into memory is sorted in files whose paths begin with `path_prefix`.
//
// OUT_OF_RANGE (RESTORE_POINT_UNKNOWN): the archive does not have all of the changes. DATA_LOSS: a segment is
// damaged. Errors of `visit` are returned.
absl::Status VisitLastWrites(Engine& engine, const Table& table, ChangeStretch stretch,
                             const std::string& path_prefix, const Cancellation& cancellation,
                             const VisitLastWrite& visit);

}  // namespace itemdb::storage
