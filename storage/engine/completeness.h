// Checks, without changing a byte, that nothing is missing from a data directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/base/status.h"
#include "storage/engine/durability_watermark.h"
#include "storage/store/logged_changes.h"
#include "storage/store/store.h"

namespace itemdb::storage {

struct ChangeLogExtent {
  // The last change record; 0 when the log is empty.
  uint64_t last = 0;
  int64_t last_commit_time_us = 0;
  // The first missing sequence between the start of the log and `last`; 0 when none is missing.
  uint64_t first_missing = 0;
};

// Measures the change log of `store` from `start` on. `logged`: the changes in the write-ahead log, for a
// store opened read-only, which does not show them. DATA_LOSS: the change log is damaged; or the error of the
// store.
absl::StatusOr<ChangeLogExtent> MeasureChangeLog(const Store& store, uint64_t start,
                                                 const std::vector<ChangeRun>& logged);

// What else is checked.
enum class CheckDepth {
  kChangeLog,
  // Also reads all data that can be computed again: index entries, size statistics, table runs, request
  // tokens.
  kDerivedData,
};

// Opens the store of `options.path` read-only. DATA_LOSS: committed changes are missing, or what was read is
// damaged. `directory`: for messages.
absl::Status CheckNothingIsMissing(const std::string& directory, const StoreOptions& options,
                                   const DurabilityWatermark& watermark, CheckDepth depth);

// Reads a family to its end. DATA_LOSS: it is damaged.
absl::Status CheckFamily(const Store& store, Store::FamilyNumber number);

// For messages: what to do with a damaged directory.
std::string NextCommand();
// Of a DATA_LOSS that was met in `directory`: with the directory's name and NextCommand(). Others as they
// are.
absl::Status WithNextCommand(const std::string& directory, const absl::Status& status);

}  // namespace itemdb::storage
