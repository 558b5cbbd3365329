// A bucket: objects, each under a key. Exports write them, imports read them. Where the objects are is the
// business of the classes derived from Bucket; open_bucket.h opens the bucket of a name.
//
// An object appears under its key whole and durable, or not at all. Objects are not encrypted by itemdb, also
// if the database is.
//
// The errors of all functions here, by their reasons:
//   NO_SUCH_BUCKET (NOT_FOUND): there is no bucket of this name.
//   BUCKET_ACCESS_DENIED (PERMISSION_DENIED): the bucket, or something in it, may not be read or written.
//   OBJECT_CHANGED (FAILED_PRECONDITION): the object is not the one any more that was listed.
//   DISK_FULL (RESOURCE_EXHAUSTED).
//   UNAVAILABLE (UNAVAILABLE): another attempt may succeed.
//   CANCELLED (CANCELLED).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb::storage {

inline constexpr std::string_view kReasonObjectChanged = "OBJECT_CHANGED";

// INVALID_ARGUMENT: `key` is empty, longer than 1,024 bytes, has a zero byte, a segment longer than 247
// bytes, or a segment that is empty, "." or "..".
absl::Status CheckObjectKey(std::string_view key);
// Whether none of its segments is empty, "." or "..": what a key needs to be read.
bool HasPlainSegments(std::string_view key);

// The failure code of an export or import that ended with `error` (XPT-12, IMP-09): "S3NoSuchBucket",
// "S3AccessDenied", or `otherwise`.
std::string BucketFailureCode(const absl::Status& error, std::string_view otherwise);

// NOT_FOUND (NO_SUCH_BUCKET), as the service words it. `where` says where the bucket was looked for.
absl::Status NoSuchBucketError(std::string_view where);

// An object as it was when the bucket was listed.
struct BucketObject {
  std::string key;
  uint64_t bytes = 0;
  // In nanoseconds since the Unix epoch.
  int64_t modified_ns = 0;
  // Of S3: differs when the contents differ. Empty: there is none.
  std::string etag = {};
};

// What was written under a key.
struct WrittenObject {
  std::string key;
  int64_t bytes = 0;
  // Raw bytes: 16 and 32.
  std::string md5;
  std::string sha256;
};

// An object that is being read. Not thread-safe.
class ReadableObject {
 public:
  virtual ~ReadableObject() = default;

  // Reads at most `size` > 0 bytes into `out` and returns how many; 0: the end of the object. After an error
  // nothing more may be read. Blocks. At the end OBJECT_CHANGED says that the object was changed while it was
  // read.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
};

// An object that is being written. Not thread-safe. The destructor deletes what was written, unless Finish
// has succeeded. Blocks.
class WritableObject {
 public:
  virtual ~WritableObject() = default;

  // After an error only the destructor may be called.
  virtual absl::Status Append(std::string_view bytes) = 0;
  // The object is there, whole and durable, after OK; it replaces one of the same key.
  virtual absl::StatusOr<WrittenObject> Finish() = 0;
};

// Thread-safe. All functions block.
class Bucket {
 public:
  virtual ~Bucket() = default;

  // The objects whose keys begin with `prefix`, sorted by the bytes of their keys. Empty objects count
  // nothing (IMP-10). RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): there are more than `max_objects`.
  virtual absl::StatusOr<std::vector<BucketObject>> List(std::string_view prefix,
                                                         size_t max_objects) const = 0;
  // Opens a listed object for reading. OBJECT_CHANGED: it is not there any more, or it is another one.
  virtual absl::StatusOr<std::unique_ptr<ReadableObject>> Open(const BucketObject& object) const = 0;
  // Begins to write the object `key`. INVALID_ARGUMENT: as CheckObjectKey.
  virtual absl::StatusOr<std::unique_ptr<WritableObject>> Create(const std::string& key) const = 0;
  // Deletes an object, if there is one, durably. INVALID_ARGUMENT: as CheckObjectKey.
  virtual absl::Status Delete(const std::string& key) const = 0;
  // Deletes what a process that ended has left of objects that it was writing, whose keys begin with
  // `prefix`. Nobody may be writing such an object.
  virtual absl::Status RemoveLeftovers(std::string_view prefix) const = 0;
  // The file system of this machine that has the objects (st_dev); nullopt: none has.
  virtual std::optional<uint64_t> device() const = 0;

  // Writes a whole object. Errors as of Create and WritableObject.
  absl::StatusOr<WrittenObject> Write(const std::string& key, std::string_view contents) const;
};

}  // namespace itemdb::storage
