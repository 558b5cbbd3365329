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

// Takes records in any order and gives them back by key, bytewise; those with equal keys in any order. For
// one thread.
class RecordSorter {
 public:
  // Visits one record, which is valid until it returns. An error ends the visit.
  using Visit = std::function<absl::Status(std::string_view key, std::string_view value)>;

  // Holds up to about `memory_bytes` (and one record) in memory, the rest in files whose paths begin with
  // `path_prefix`; they go with the sorter.
  RecordSorter(rocksdb::Env* env, std::string path_prefix, size_t memory_bytes);
  ~RecordSorter();
  RecordSorter(const RecordSorter&) = delete;
  RecordSorter& operator=(const RecordSorter&) = delete;

  // RESOURCE_EXHAUSTED, UNAVAILABLE: what the file system answers.
  absl::Status Add(std::string_view key, std::string_view value);
  // After all were added, once. DATA_LOSS: a file is not as it was written.
  absl::Status ForEach(const Visit& visit);

  int64_t size() const { return size_; }

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
  // Visits the records of `runs` in order.
  absl::Status Merge(const std::vector<std::string>& runs, size_t reader_bytes, const Visit& visit);

  rocksdb::Env* const env_;
  const std::string path_prefix_;
  const size_t memory_bytes_;
  std::string buffer_;
  std::vector<Entry> entries_;
  // How many bytes all keys in the buffer have in common at their beginning.
  size_t shared_ = 0;
  std::vector<std::string> runs_;
  int next_run_ = 0;
  int64_t size_ = 0;
};

}  // namespace itemdb
