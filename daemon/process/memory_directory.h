// The data directory of `itemd --in-memory`: a directory on a file system that is kept in memory (tmpfs), for
// as long as the process lives.
//
// A process that is killed leaves its directory behind; the next one that makes a directory for the same user
// removes it. Which directories are in use the kernel knows: their processes hold locks on them.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/process/descriptor.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

// Owns one directory, with mode 0700, and removes it with all that is in it. Not thread-safe.
class MemoryDirectory {
 public:
  // The file system that Linux has in memory for every process.
  static constexpr char kParent[] = "/dev/shm";
  // A database takes a part of it from the beginning, and refuses writes when only the floor of
  // storage::DatabaseOptions::free_space_floor_bytes is free.
  static constexpr uint64_t kMinFreeBytes = 512 << 20;

  // Makes a directory in `parent`, and removes those there whose processes have ended.
  // UNAVAILABLE: `parent` is not in memory, is full, or cannot be written; the message says what helps.
  static absl::StatusOr<MemoryDirectory> Make(const std::string& parent = kParent);

  MemoryDirectory(MemoryDirectory&& other) noexcept = default;
  MemoryDirectory& operator=(MemoryDirectory&&) = delete;
  ~MemoryDirectory();

  const std::string& path() const { return path_; }

 private:
  MemoryDirectory(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  // Of the directory itself. Owns none after a move: then there is nothing to remove.
  Descriptor lock_;
};

}  // namespace itemdb::daemon
