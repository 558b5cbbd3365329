// The objects of a bucket. A bucket is a folder of the export directory; each regular file below it is an
// object, whose key is the path of the file in the folder, such as "data/2026/a.json.gz".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// An open file, closed by the destructor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  int get() const { return fd_; }

 private:
  int fd_;
};

struct BucketObject {
  std::string key;
  // When the bucket was listed. The time is in nanoseconds since the Unix epoch.
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
};

// Nothing outside of the bucket is read: symbolic links are not followed, neither the bucket itself nor
// folders and files in it. Thread-safe.
class Bucket {
 public:
  // NOT_FOUND (NO_SUCH_BUCKET): `directory` has no folder `name`, or `name` is no name of a folder.
  // UNAVAILABLE: the folder cannot be opened.
  static absl::StatusOr<Bucket> Open(const std::string& directory, const std::string& name);

  // The objects whose keys begin with `prefix`, sorted by the bytes of their keys. Empty objects are left
  // out. Keys longer than 1,024 bytes are not keys of objects. Blocks on disk.
  //
  // RESOURCE_EXHAUSTED (LIMIT_EXCEEDED): more than kMaxImportObjects. UNAVAILABLE: a folder cannot be read.
  // CANCELLED.
  absl::StatusOr<std::vector<BucketObject>> List(std::string_view prefix,
                                                 const Cancellation& cancellation) const;

  // Opens an object. UNAVAILABLE: it cannot be opened, or it is no regular file any more.
  absl::StatusOr<FileDescriptor> OpenObject(const BucketObject& object) const;

 private:
  explicit Bucket(FileDescriptor folder) : folder_(std::move(folder)) {}

  FileDescriptor folder_;
};

// Whether the open file `fd` still has the size and the time of the last change of `object`.
bool IsUnchanged(const FileDescriptor& fd, const BucketObject& object);

}  // namespace itemdb::storage
