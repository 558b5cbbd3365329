// The reasons of a cancelled transaction (SEM-051).
#pragma once

#include "itemdb/wire/data.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Adds one reason after another, in the order of the actions. Of all validation errors only the first is
// reported; the other actions that have one get the code NONE.
class CancellationReasons {
 public:
  explicit CancellationReasons(wire::TransactionCancelled* cancelled) : cancelled_(cancelled) {}

  // A reason NONE, which the caller may change.
  wire::CancellationReason* Add();
  // For an action with a validation error; NONE if `error` is OK.
  void AddValidationError(const absl::Status& error);

 private:
  wire::TransactionCancelled* const cancelled_;
  bool has_validation_error_ = false;
};

}  // namespace itemdb::storage
