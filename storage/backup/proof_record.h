// Which backup was proven last: the file PROVEN in the directory of the backups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// A backup that was restored and checked without a finding. Times are in microseconds since the Unix epoch.
struct ProofRecord {
  uint32_t backup_id = 0;
  int64_t begin_time_us = 0;
  int64_t proven_time_us = 0;
};

// std::nullopt: there is no record, or it does not decode.
std::optional<ProofRecord> ReadProof(rocksdb::Env* env, const std::string& backup_directory);
// UNAVAILABLE: the file system says so.
absl::Status WriteProof(rocksdb::Env* env, const std::string& backup_directory, const ProofRecord& record);

}  // namespace itemdb::storage
