// A bucket as a folder. Each regular file below it is an object, whose key is the path of the file in the
// folder, such as "data/2026/a.json.gz".
//
// Nothing outside of the folder is read or written: no part of a path may be a symbolic link, neither the
// folder itself nor what is in it. Links do not count as objects. A file whose name ends in ".partial" is one
// that is being written, and no object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/buckets/bucket.h"

namespace itemdb::storage {

// An open file, closed by the destructor.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  // -1: none.
  int get() const { return fd_; }

 private:
  int fd_;
};

// Errors as bucket.h lists them.
class FolderBucket final : public Bucket {
 public:
  // Opens the folder `name` of `directory`, whose own path may have symbolic links. `cancellation` ends List;
  // it is borrowed.
  //
  // NO_SUCH_BUCKET: there is no folder `name`, or `name` is no name of a folder. BUCKET_ACCESS_DENIED: it is
  // a symbolic link, or may not be read.
  static absl::StatusOr<std::unique_ptr<FolderBucket>> Open(const std::string& directory,
                                                            const std::string& name,
                                                            const Cancellation& cancellation);

  // Keys longer than 1,024 bytes are not keys of objects.
  absl::StatusOr<std::vector<BucketObject>> List(std::string_view prefix, size_t max_objects) const override;
  absl::StatusOr<std::unique_ptr<ReadableObject>> Open(const BucketObject& object) const override;
  // Makes the folders above the file, durably.
  absl::StatusOr<std::unique_ptr<WritableObject>> Create(const std::string& key) const override;
  absl::Status Delete(const std::string& key) const override;
  absl::Status RemoveLeftovers(std::string_view prefix) const override;
  std::optional<uint64_t> device() const override;

 private:
  FolderBucket(FileDescriptor folder, std::string path, const Cancellation& cancellation)
      : folder_(std::move(folder)), path_(std::move(path)), cancellation_(cancellation) {}

  const FileDescriptor folder_;
  // For messages.
  const std::string path_;
  const Cancellation& cancellation_;
};

}  // namespace itemdb::storage
