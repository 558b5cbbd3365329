#include "storage/items/distinct_keys.h"

namespace itemdb::storage {

absl::Status DistinctKeys::Add(uint64_t table_storage_id, std::string encoded_key) {
  if (encoded_key.empty() || keys_.emplace(table_storage_id, std::move(encoded_key)).second)
    return absl::OkStatus();
  return duplicate_;
}

absl::Status DistinctKeys::AddFailed(absl::Status error, const std::string& table_name,
                                     std::string_view key) {
  if (!absl::IsNotFound(error)) return error;
  if (missing_.ok()) missing_ = std::move(error);
  return unknown_keys_.emplace(table_name, std::string(key)).second ? absl::OkStatus() : duplicate_;
}

absl::Status SeveralActionsError() {
  return ValidationError("SEM-048", "Transaction request cannot include multiple operations on one item");
}

}  // namespace itemdb::storage
