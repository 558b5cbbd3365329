// The file check: reads whole table files, slowly and without end, and compares each with the checksum that
// RocksDB made when it wrote the file.
//
// The checksum of a block says nothing about its place: two blocks that are swapped, or a file that is
// replaced by another, are read without an error and answer wrongly. Only the checksum of the whole file
// shows that. It also shows damage in blocks that nobody reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/admin.pb.h"
#include "rocksdb/metadata.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

// Reads DatabaseOptions::file_check_bytes_per_second, past the page cache where the file system allows it. A
// round reads each table file that was there when it began; rounds begin at least
// DatabaseOptions::check_interval apart. Findings are logged once and shown by GetStatus; nothing is changed.
// Thread-safe.
class FileCheck {
 public:
  // Does nothing at a rate of 0.
  explicit FileCheck(Engine& engine);
  FileCheck(const FileCheck&) = delete;
  FileCheck& operator=(const FileCheck&) = delete;

  // Adds the progress and the findings to `*reply`; nothing at a rate of 0.
  void Describe(v1::GetStatusReply* reply) const;

  // The files of the findings, each with one Damage that says what is wrong: at most kMaxShown.
  std::vector<DamagedFile> Findings() const;

 private:
  // What reading a file gave.
  struct FileRead {
    rocksdb::Status opened;
    rocksdb::Status status;
    uint64_t bytes = 0;
    // Of the bytes; only if both are OK.
    std::string checksum;
  };

  void Loop();
  // Reads all table files. False: the thread must stop.
  bool CheckFiles();
  // False: the thread must stop.
  bool CheckFile(const rocksdb::LiveFileMetaData& file);
  // False: the thread must stop.
  bool ReadFile(const rocksdb::LiveFileMetaData& file, FileRead* read);
  // nullopt: the store is being reopened.
  std::optional<std::vector<rocksdb::LiveFileMetaData>> TableFiles() const;
  // Waits until `bytes` more may be read. False: the thread must stop.
  [[nodiscard]] bool WaitToRead(size_t bytes);
  // False after a compaction has deleted the file, or while the store is being reopened.
  bool IsInUse(const rocksdb::LiveFileMetaData& file) const;
  void Report(const rocksdb::LiveFileMetaData& file, const std::string& what);

  Engine& engine_;
  // Only for the thread.
  BackgroundThread::Clock::time_point next_read_;
  // The findings of the round under way.
  v1::FileCheck found_;
  std::vector<DamagedFile> found_files_;

  mutable Mutex mutex_;
  v1::FileCheck figures_ ABSL_GUARDED_BY(mutex_);
  // Of the last round, and new ones of the round under way.
  std::vector<DamagedFile> files_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
