// Walking over the change log.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "storage/changes/change_record.h"
#include "storage/engine/engine.h"

namespace itemdb {

// A state and the last change of it that may be shown: what is not durable yet is not, since its sequence
// could be given to another change after a power cut.
struct ShownLog {
  std::shared_ptr<const ReadView> view;
  uint64_t last_sequence = 0;
};
absl::StatusOr<ShownLog> ShowLog(const Engine& engine);

// `record` is the encoded itemdb.v1.ChangeRecord that `change` borrows from, valid for the call. Answers
// whether to go on.
using VisitChange = absl::FunctionRef<bool(const ChangeView& change, std::string_view record)>;

// Calls `visit` for the changes after `after_sequence` up to `last_sequence`, in order, until it says false.
// Waits for the disk.
//
// OUT_OF_RANGE (CHANGES_TRIMMED): the first of them is no longer in the log. DATA_LOSS: one of them is
// missing or damaged.
absl::Status WalkChanges(const Engine& engine, const ReadView& view, uint64_t after_sequence,
                         uint64_t last_sequence, VisitChange visit);

// The same of the changes of one table. Costs what they cost, however many changes of other tables are
// between them, and a search for each 2^20 of those.
absl::Status WalkTableChanges(const Engine& engine, const ReadView& view, uint64_t storage_id,
                              uint64_t after_sequence, uint64_t last_sequence, VisitChange visit);

// The change `sequence`, which must be in the log.
absl::StatusOr<ChangeView> ReadChange(const ReadView& view, uint64_t sequence, std::string* record);

}  // namespace itemdb
