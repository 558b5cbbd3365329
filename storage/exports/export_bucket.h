// A bucket: a folder of the export directory. The key of an object is the path of a file in it.
//
// A file appears under its key whole and durable: it is written under a temporary name (the key and
// ".partial"), synced and renamed, and so are the entries of the folders above it. The files are not
// encrypted, also if the database is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

// The reason of an error of a bucket. Others are NO_SUCH_BUCKET, DISK_FULL and UNAVAILABLE.
inline constexpr std::string_view kReasonBucketAccessDenied = "BUCKET_ACCESS_DENIED";  // PERMISSION_DENIED

// INVALID_ARGUMENT: `key` is empty, longer than 1,024 bytes, has a zero byte, a segment longer than 255
// bytes, or a segment that is empty, "." or "..".
absl::Status CheckObjectKey(std::string_view key);

// What was written under a key.
struct WrittenObject {
  std::string key;
  int64_t bytes = 0;
  // Raw bytes: 16 and 32.
  std::string md5;
  std::string sha256;
};

class BucketFile;

class ExportBucket {
 public:
  // NOT_FOUND (NO_SUCH_BUCKET): there is no such folder. PERMISSION_DENIED (BUCKET_ACCESS_DENIED): it is a
  // symbolic link out of the directory, or may not be read.
  static absl::StatusOr<ExportBucket> Open(const std::string& directory, const std::string& bucket);

  // Begins to write the object `key`. INVALID_ARGUMENT: as CheckObjectKey. PERMISSION_DENIED
  // (BUCKET_ACCESS_DENIED): a folder above it cannot be written, or is a symbolic link out of the bucket.
  // RESOURCE_EXHAUSTED (DISK_FULL), UNAVAILABLE: errors of the file system.
  absl::StatusOr<std::unique_ptr<BucketFile>> Create(const std::string& key) const;
  // Writes a whole object. Errors as Create and BucketFile.
  absl::StatusOr<WrittenObject> Write(const std::string& key, std::string_view contents) const;
  // Deletes an object, if there is one, durably. Errors as Create.
  absl::Status Delete(const std::string& key) const;

  // The absolute path of the folder.
  const std::string& path() const { return path_; }

 private:
  explicit ExportBucket(std::string path) : path_(std::move(path)) {}

  // Absolute, without symbolic links.
  std::string path_;
};

// An object that is being written. Not thread-safe. The destructor deletes what was written, unless Finish
// has succeeded.
class BucketFile {
 public:
  ~BucketFile();
  BucketFile(const BucketFile&) = delete;
  BucketFile& operator=(const BucketFile&) = delete;

  // RESOURCE_EXHAUSTED (DISK_FULL), PERMISSION_DENIED (BUCKET_ACCESS_DENIED), UNAVAILABLE: errors of the file
  // system.
  absl::Status Append(std::string_view bytes);
  // The object is there, whole and durable, after OK. Errors as Append.
  absl::StatusOr<WrittenObject> Finish();

 private:
  friend class ExportBucket;
  struct Digests;
  BucketFile(std::string key, std::string path, int file);

  const std::string key_;
  const std::string path_;
  // The file under the temporary name; -1 after Finish.
  int file_;
  int64_t bytes_ = 0;
  std::unique_ptr<Digests> digests_;
};

}  // namespace itemdb::storage
