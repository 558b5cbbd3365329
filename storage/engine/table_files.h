// Looks at single table files of a damaged store, without the store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "rocksdb/env.h"
#include "rocksdb/table_properties.h"
#include "storage/base/status.h"

namespace itemdb::storage {

enum class FileState {
  // Its first and its last block can be read. With `whole`: all of it.
  kReadable,
  // It can be opened, so its undamaged blocks can be read.
  kDamaged,
  // It is missing or cannot be opened.
  kLost,
};

struct FileExamination {
  FileState state = FileState::kLost;
  // Of the file; empty when it is lost.
  std::string family;
  // Names the file, also where it is linked or copied to; empty when it is lost.
  std::string id;
  uint64_t entries = 0;
  // What RocksDB says about the damage.
  std::string error;
};

// FileExamination::id of the file with these properties.
std::string TableFileId(const rocksdb::TableProperties& properties);

// `whole`: reads the whole file. Otherwise reads its index, its first and its last block. Errors as
// FromRocksDB: the file could not be read, so nothing is known about it.
absl::StatusOr<FileExamination> ExamineTableFile(rocksdb::Env* env, const std::string& path, bool whole);

struct ReadRecords {
  int64_t records = 0;
  int64_t damaged_ranges = 0;
};

// Calls `visit` for the records of a damaged file that can be read: of each key the newest that the file has.
// Errors of `visit`; or as ExamineTableFile.
absl::StatusOr<ReadRecords> ForEachReadableRecord(
    rocksdb::Env* env, const std::string& path,
    const std::function<absl::Status(std::string_view key, std::string_view record)>& visit);

}  // namespace itemdb::storage
