// Where the items of a new table come from: a backup, for example.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "storage/base/status.h"
#include "storage/commit/commit_group.h"

namespace itemdb::storage {

// Not thread-safe.
class ItemSource {
 public:
  struct Item {
    // The encoded primary key, by the key schema of the new table.
    std::string_view key;
    // By SEM-002.
    uint64_t size = 0;
    // Encoded and canonical.
    std::string_view item;
  };

  virtual ~ItemSource() = default;

  // Reads the next item. False: there are no more, and all that were read are those of the source. Keys rise
  // from item to item. What `*item` borrows from is valid until the next call. DATA_LOSS: the source is
  // damaged; items that were read before may be wrong too.
  virtual absl::StatusOr<bool> Next(Item* item) = 0;

  // Appends records about the source to the commit that shows the table, after the last Next. Default: none.
  virtual void AppendRecords(CommitGroup&) {}
};

// A table as it was after an earlier commit.
struct PointInTime {
  std::unique_ptr<ItemSource> source;
  // The last change of that commit.
  uint64_t change_sequence = 0;
  // A folder for other files that are deleted with the source; empty: there is none.
  std::string folder = {};
};

}  // namespace itemdb::storage
