#include "storage/backup/proof_record.h"

#include <cinttypes>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

constexpr char kProofFileName[] = "/PROVEN";

}  // namespace

std::optional<ProofRecord> ReadProof(rocksdb::Env* env, const std::string& backup_directory) {
  std::string text;
  if (!rocksdb::ReadFileToString(env, backup_directory + kProofFileName, &text).ok()) return std::nullopt;
  ProofRecord record;
  const int fields = std::sscanf(text.c_str(), "backup %" SCNu32 " of %" SCNd64 " proven %" SCNd64,
                                 &record.backup_id, &record.begin_time_us, &record.proven_time_us);
  return fields == 3 ? std::optional(record) : std::nullopt;
}

absl::Status WriteProof(rocksdb::Env* env, const std::string& backup_directory, const ProofRecord& record) {
  const std::string text = absl::StrFormat("backup %d of %d proven %d\n", record.backup_id,
                                           record.begin_time_us, record.proven_time_us);
  const rocksdb::Status written = ReplaceFile(env, backup_directory + kProofFileName, text);
  return written.ok() ? absl::OkStatus() : FromRocksDB("cannot note that a backup was proven", written);
}

}  // namespace itemdb::storage
