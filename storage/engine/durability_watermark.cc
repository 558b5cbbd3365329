#include "storage/engine/durability_watermark.h"

#include <cinttypes>
#include <cstdio>

#include "storage/base/xxh3.h"
#include "storage/store/durable_file.h"

namespace itemdb::storage {
namespace {

// The name of the file until format 2.2.
constexpr char kFormerFileName[] = "WITNESS";

std::string FormatText() { return std::to_string(kFormatVersion) + "." + std::to_string(kFormatRevision); }

std::string ChecksumLine(const std::string& text) {
  char line[32];
  std::snprintf(line, sizeof(line), "checksum %016" PRIx64 "\n",
                static_cast<uint64_t>(XXH3_64bits(text.data(), text.size())));
  return line;
}

absl::Status Io(const std::string& what, const rocksdb::Status& status) {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, what + ": " + status.ToString());
}

absl::Status Damaged(const std::string& path) {
  return DataLossError(
      path +
      " is damaged: it does not name a database, a change sequence and their checksum. "
      "Restore the file from a copy, or start once with --recover=last-good to keep what is readable");
}

}  // namespace

absl::StatusOr<std::optional<DurabilityWatermark>> ReadWatermark(rocksdb::Env* env,
                                                                 const std::string& directory) {
  std::string path = directory + "/" + kWatermarkFileName;
  if (env->FileExists(path).IsNotFound()) {
    path = directory + "/" + kFormerFileName;
    if (env->FileExists(path).IsNotFound()) return std::nullopt;
  }
  std::string text;
  if (rocksdb::Status status = rocksdb::ReadFileToString(env, path, &text); !status.ok())
    return Io("cannot read " + path, status);

  size_t checksum = text.rfind("checksum ");
  if (checksum == std::string::npos || text.substr(checksum) != ChecksumLine(text.substr(0, checksum)))
    return Damaged(path);
  int version = 0;
  int revision = 1;
  if (std::sscanf(text.c_str(), "itemdb database\nformat %d.%d\n", &version, &revision) < 1)
    return Damaged(path);
  if (version != kFormatVersion || revision != kFormatRevision) {
    const std::string found =
        std::to_string(version) + (version == kFormatVersion ? "." + std::to_string(revision) : "");
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFormatUnknown,
                     directory + " has format version " + found + "; this program knows version " +
                         FormatText() + ". Open it with the program that wrote it");
  }
  DurabilityWatermark watermark;
  char database_id[64];
  uint64_t sequence = 0;
  if (std::sscanf(text.c_str(), "itemdb database\nformat %*d.%*d\ndatabase %63s\nsequence %" SCNu64 "\n",
                  database_id, &sequence) != 2) {
    return Damaged(path);
  }
  watermark.database_id = database_id;
  watermark.sequence = sequence;
  if (const size_t line = text.find("\nrecovering"); line != std::string::npos) {
    watermark.recovering = 1;  // The number may be missing: a program before 0.2 wrote the line.
    (void)std::sscanf(text.c_str() + line, "\nrecovering %d\n", &watermark.recovering);
  }
  return watermark;
}

absl::Status WriteWatermark(rocksdb::Env* env, const std::string& directory,
                            const DurabilityWatermark& watermark) {
  std::string text =
      "itemdb database\nformat " + FormatText() + "\ndatabase " + watermark.database_id + "\nsequence " +
      std::to_string(watermark.sequence) + "\n" +
      (watermark.recovering != 0 ? "recovering " + std::to_string(watermark.recovering) + "\n" : "");
  text += ChecksumLine(text);
  const std::string path = directory + "/" + kWatermarkFileName;
  if (rocksdb::Status status = ReplaceFile(env, path, text); !status.ok())
    return Io("cannot write " + path, status);
  return absl::OkStatus();
}

}  // namespace itemdb::storage
