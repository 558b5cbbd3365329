// Writes the items of a new table on a thread of its own, while the thread that reads them makes their index
// entries.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/status.h"
#include "storage/loading/item_source.h"

namespace itemdb::storage {

// One thread adds items, in the order of their keys, and calls Finish.
class ItemWriter {
 public:
  // Called on the thread of the writer, for one item after another.
  using Write = std::function<absl::Status(const ItemSource::Item& item)>;

  explicit ItemWriter(Write write);
  ~ItemWriter();
  ItemWriter(const ItemWriter&) = delete;
  ItemWriter& operator=(const ItemWriter&) = delete;

  // Copies `item`. Waits while about a megabyte waits to be written. The first error of `write`, which ends
  // writing, is returned by this or a later call.
  absl::Status Add(const ItemSource::Item& item);
  // Waits until everything that was added is written.
  absl::Status Finish();

 private:
  struct Batch {
    struct Entry {
      uint32_t key_bytes;
      uint32_t item_bytes;
      uint64_t size;
    };
    // Key and item of each entry.
    std::string bytes;
    std::vector<Entry> entries;
  };

  void Run();
  absl::Status WriteBatch(const Batch& batch);
  absl::Status Submit();

  const Write write_;
  Batch batch_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<Batch> queue_ ABSL_GUARDED_BY(mutex_);
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace itemdb::storage
