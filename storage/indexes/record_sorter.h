// Sorting more records than memory holds: sorted runs in files, then one merge.
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

namespace itemdb {

// The files of a sorter, each with sorted records.
struct SortedRuns {
  struct Run {
    std::string path;
    uint64_t bytes = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs;
  // In the name of the next file.
  uint64_t next = 0;
  // Records in all of them.
  int64_t records = 0;
};

// Takes records in any order and gives them back by key, bytewise; those with equal keys in any order. For
// one thread.
class RecordSorter {
 public:
  // Visits one record, which is valid until it returns. An error ends the visit.
  using Visit = std::function<absl::Status(std::string_view key, std::string_view value)>;
  // Told of the files whenever they are others: they hold all records whose Add has returned, and are
  // durable. Those that they replace are there until it returns. An error is that of Add or ForEach.
  using Spilled = std::function<absl::Status(const SortedRuns& runs)>;

  // Holds up to about `memory_bytes` (and one record) in memory, the rest in files whose paths begin with
  // `path_prefix`; they go with the sorter.
  RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes);
  // For records that outlive the process: goes on with what an earlier sorter told of, if it did.
  RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes, SortedRuns runs,
               Spilled spilled);
  ~RecordSorter();
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  // RESOURCE_EXHAUSTED, UNAVAILABLE: what the file system answers.
  absl::Status Add(std::string_view key, std::string_view value);
  // After all were added, once. DATA_LOSS: a file is not as it was written.
  absl::Status ForEach(const Visit& visit);

  int64_t size() const { return size_; }
  // The files stay when the sorter goes.
  void KeepFiles() { keep_files_ = true; }

 private:
  class RunReader;
  class RunWriter;
  // A record in `buffer_`.
  struct Entry {
    // The eight bytes of the key after what all keys in the buffer share, big-endian, so that most
    // comparisons need not look further.
    uint64_t head;
    uint64_t offset;
    uint32_t key_size;
    uint32_t value_size;
  };

  std::string_view KeyOf(const Entry& entry) const { return {buffer_.data() + entry.offset, entry.key_size}; }
  std::string_view ValueOf(const Entry& entry) const {
    return {buffer_.data() + entry.offset + entry.key_size, entry.value_size};
  }
  void SortBuffer();
  // Sorts what is in memory into a new file.
  absl::Status Spill();
  // Makes one file of all.
  absl::Status MergeRuns();
  // Visits the records of `runs` in order.
  absl::Status Merge(const std::vector<SortedRuns::Run>& runs, const Visit& visit);
  void DeleteFiles(const std::vector<SortedRuns::Run>& runs);

  rocksdb::Env* const env_;
  const std::string path_prefix_;
  const size_t memory_bytes_;
  std::string buffer_;
  std::vector<Entry> entries_;
  // How many bytes all keys in the buffer have in common at their beginning.
  size_t shared_ = 0;
  SortedRuns files_;
  const Spilled spilled_;
  bool keep_files_ = false;
  int64_t size_ = 0;
};

}  // namespace itemdb
