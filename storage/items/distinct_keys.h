// The keys that one request names: no item twice, and what is wrong with the request itself comes before a
// missing table (SEM-115).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "storage/base/status.h"

namespace itemdb::storage {

class DistinctKeys {
 public:
  // `duplicate` is the error for an item that is named twice.
  explicit DistinctKeys(absl::Status duplicate) : duplicate_(std::move(duplicate)) {}

  // A key of a table that exists. An empty one does not fit the schema and is on no item.
  absl::Status Add(uint64_t table_storage_id, std::string encoded_key);
  // A key that could not be prepared. NOT_FOUND is kept and reported by Finish(), so that the rest of the
  // request is checked first; its keys are compared as the client sent them. Other errors are returned.
  absl::Status AddFailed(absl::Status error, const std::string& table_name, std::string_view key);
  // Called after the last key: the first missing table.
  const absl::Status& Finish() const { return missing_; }

 private:
  const absl::Status duplicate_;
  std::set<std::pair<uint64_t, std::string>> keys_;
  std::set<std::pair<std::string, std::string>> unknown_keys_;
  absl::Status missing_;
};

// The error of a transaction with two actions on one item (SEM-048).
absl::Status SeveralActionsError();

}  // namespace itemdb::storage
