// The reasons of a cancelled transaction (SEM-051).
#pragma once

#include <set>
#include <string>
#include <utility>

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

// Checks that no two actions of a transaction are on one item (SEM-048). Actions whose key does not fit the
// schema are on no item.
class TransactionKeys {
 public:
  // INVALID_ARGUMENT: another action is on the item.
  absl::Status Add(uint64_t table_storage_id, std::string encoded_key);

 private:
  std::set<std::pair<uint64_t, std::string>> keys_;
};

}  // namespace itemdb::storage
