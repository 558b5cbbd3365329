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

// Calls `visit` for the changes after `after_sequence` up to `last_sequence`, in order, until it says false.
// `record` is the encoded itemdb.v1.ChangeRecord that `change` borrows from, valid for the call. Waits for
// the disk.
//
// OUT_OF_RANGE (CHANGES_TRIMMED): the first of them is no longer in the log, or was trimmed meanwhile.
absl::Status WalkChanges(const Engine& engine, const ReadView& view, uint64_t after_sequence,
                         uint64_t last_sequence,
                         absl::FunctionRef<bool(const ChangeView& change, std::string_view record)> visit);

// The change `sequence`, which must be in the log.
absl::StatusOr<ChangeView> ReadChange(const ReadView& view, uint64_t sequence, std::string* record);

}  // namespace itemdb
