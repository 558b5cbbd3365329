// Sorts more records than fit into memory: writes sorted runs into files, then merges them once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// The run files of a sorter. The records in each file are sorted.
struct SortedRuns {
  struct Run {
    std::string path;
    uint64_t bytes = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs;
  // The number in the name of the next file.
  uint64_t next = 0;
  // Records in all files.
  int64_t records = 0;
};

// Accepts records in any order, returns them sorted by the bytes of their keys. Not stable. Not thread-safe.
class RecordSorter {
 public:
  // Called for one record, which is valid during the call. An error ends ForEach, which returns it.
  using Visit = std::function<absl::Status(std::string_view key, std::string_view value)>;
  // Called whenever the set of files changes. The files are durable and hold all records whose Add has
  // returned. Files that were replaced are deleted after the call. Add or ForEach returns its error.
  using OnRunsChanged = std::function<absl::Status(const SortedRuns& runs)>;

  // Keeps about `memory_bytes` (and one record) in memory, the rest in files whose paths begin with
  // `path_prefix`. The destructor deletes the files.
  RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes);
  // For records that outlive the process: begins with `runs`, which an earlier sorter may have passed to
  // `on_runs_changed`.
  RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes, SortedRuns runs,
               OnRunsChanged on_runs_changed);
  ~RecordSorter();
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  // RESOURCE_EXHAUSTED, UNAVAILABLE: errors of the file system.
  absl::Status Add(std::string_view key, std::string_view value);
  // Visits all records. Only once, after the last Add. DATA_LOSS: a file is not as it was written.
  absl::Status ForEach(const Visit& visit);
  // The same, one record a call: false after the last one. The record is valid until the next call.
  absl::StatusOr<bool> Next(std::string_view* key, std::string_view* value);

  int64_t size() const { return size_; }
  // The destructor will not delete the files.
  void KeepFiles() { keep_files_ = true; }

 private:
  class RunReader;
  class RunWriter;
  class Merger;
  // A record in `buffer_`.
  struct Entry {
    // 8 bytes of the key after what it has in common with others, big-endian (SortRange).
    uint64_t head;
    uint64_t offset;
    uint32_t key_size;
    uint32_t value_size;
  };

  std::string_view KeyOf(const Entry& entry) const { return {buffer_.data() + entry.offset, entry.key_size}; }
  std::string_view ValueOf(const Entry& entry) const {
    return {buffer_.data() + entry.offset + entry.key_size, entry.value_size};
  }
  // The memory of the run that is filled.
  size_t RunBytes() const;
  void SortBuffer();
  // Sorts records whose keys have the first `shared` bytes in common: by the next 8 bytes, and then those
  // that have these in common in the same way. Keys are of a bounded length, which bounds the recursion.
  void SortRange(Entry* begin, Entry* end, size_t shared);
  // Writes the records in memory, sorted, into a new file.
  absl::Status Spill();
  // Merges all files into one.
  absl::Status MergeRuns();
  // Ends adding: what follows is reading.
  absl::Status BeginReading();
  void DeleteFiles(const std::vector<SortedRuns::Run>& runs);

  rocksdb::Env* const env_;
  const std::string path_prefix_;
  const size_t memory_bytes_;
  std::string buffer_;
  std::vector<Entry> entries_;
  // Length of the common prefix of all keys in the buffer.
  size_t shared_ = 0;
  SortedRuns files_;
  // While records are read: from files, or the next one in memory.
  bool reading_ = false;
  std::unique_ptr<Merger> merger_;
  size_t next_entry_ = 0;
  const OnRunsChanged on_runs_changed_;
  bool keep_files_ = false;
  int64_t size_ = 0;
};

}  // namespace itemdb::storage
