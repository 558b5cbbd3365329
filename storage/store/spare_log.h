// A file system that keeps a spare file of zeros, which becomes RocksDB's next write-ahead log.
//
// A sync of a file that has grown writes the file's new length and blocks too, through the journal of the
// file system. A sync of bytes that were written over others writes these alone: 92 us against 150 us on
// ext4, and it does not wait for the table files that are being written at the same time. So the next log is
// filled with zeros and synced by a thread of its own while the present one is written.
//
// What is after the last record of a log is zeros then, until the log is closed, which cuts it to its
// records. A log whose process was killed keeps them; RocksDB skips zeros when it reads a log. For the
// program a log is as long as its records: GetFileSize says so.
//
// A spare is made only for logs that fill up: when one has grown to `after_bytes`. It is about as long as the
// log before, at most 16 times `after_bytes`; what a log needs beyond its spare is written as without one. It
// is deleted when the file system is destroyed; one that a killed process left, by the next opening.
//
// Not for files that are encrypted below: the zeros would be encrypted with the keystream of the records.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// The file in the data directory.
inline constexpr char kSpareLogFileName[] = "SPARE_LOG";

struct SpareLogOptions {
  // The data directory. The logs must be on the same file system.
  std::string directory;
  // A log of this length will probably fill up.
  uint64_t after_bytes = 4 << 20;
  // No spare is made that would leave less free space than this and its own length.
  uint64_t free_space_floor_bytes = 0;
};

// Thread-safe. Files that are no write-ahead logs are passed through.
class SpareLogFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // Changes no file. A spare that another process left is never used.
  SpareLogFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, SpareLogOptions options);
  // After all its files are closed.
  ~SpareLogFileSystem() override;

  // Logs that were a spare before.
  uint64_t reused() const;
  // Waits until no spare is being made.
  void Await();

  static const char* kClassName() { return "SpareLogFileSystem"; }
  const char* Name() const override { return kClassName(); }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions& options, uint64_t* bytes,
                                rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus GetChildrenFileAttributes(const std::string& directory, const rocksdb::IOOptions& options,
                                              std::vector<rocksdb::FileAttributes>* result,
                                              rocksdb::IODebugContext* dbg) override;

 private:
  class Log;
  // kFailed: none can be made for the log that is written now.
  enum class Spare { kNone, kWanted, kBeingMade, kReady, kFailed };

  // A log has grown to this many bytes, or was closed with them.
  void Grown(const std::string& path, uint64_t bytes);
  void Closed(const std::string& path, uint64_t bytes);
  // Fills the spare with zeros. Stops early, with an error, when the file system is destroyed.
  rocksdb::IOStatus Make(uint64_t bytes);
  void Loop();

  const SpareLogOptions options_;
  const std::string spare_path_;

  mutable Mutex mutex_;
  CondVar changed_;
  Spare spare_ ABSL_GUARDED_BY(mutex_) = Spare::kNone;
  uint64_t spare_bytes_ ABSL_GUARDED_BY(mutex_);
  uint64_t reused_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // The lengths of the logs that are open for writing and were a spare.
  std::map<std::string, uint64_t> lengths_ ABSL_GUARDED_BY(mutex_);
  // Started with the first spare.
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
