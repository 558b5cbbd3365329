// Reading the change log.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "storage/changes/change_record.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// The durable prefix of the change log: a view, and the last change in it that is durable. Later changes must
// not be shown to readers: after a power cut their sequences may be given to other changes.
struct DurablePrefix {
  std::shared_ptr<const ReadView> view;
  uint64_t last_sequence = 0;
};
absl::StatusOr<DurablePrefix> ReadDurablePrefix(const Engine& engine);

// Returns whether to go on. `record` is the encoded itemdb.v1.ChangeRecord, from which `change` borrows; both
// are valid during the call.
using VisitChange = absl::FunctionRef<bool(const ChangeView& change, std::string_view record)>;

// Calls `visit` for the changes after `after_sequence` up to `last_sequence`, in order, until it returns
// false. Blocks on disk.
//
// OUT_OF_RANGE (CHANGES_TRIMMED): the first of these changes is no longer in the change log. DATA_LOSS: one
// of them, after those that were visited, is missing or damaged; the message names it and where a reader can
// go on.
absl::Status WalkChanges(const Engine& engine, const ReadView& view, uint64_t after_sequence,
                         uint64_t last_sequence, VisitChange visit);

// As WalkChanges, for the changes of one table only. Does not read the changes of other tables between them:
// they cost one search in the table runs for each 2^20 changes.
absl::Status WalkTableChanges(const Engine& engine, const ReadView& view, uint64_t storage_id,
                              uint64_t after_sequence, uint64_t last_sequence, VisitChange visit);

// The first change from `sequence` up to `last_sequence` that can be read; nullopt when all are missing or
// damaged. The result borrows from `*record`.
absl::StatusOr<std::optional<ChangeView>> FindReadableChange(const ReadView& view, uint64_t sequence,
                                                             uint64_t last_sequence, std::string* record);

}  // namespace itemdb::storage
