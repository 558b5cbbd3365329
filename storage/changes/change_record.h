// Change records: their stored form, an encoded itemdb.v1.ChangeRecord.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/changes.pb.h"
#include "storage/base/status.h"
#include "storage/catalog/table.h"

namespace itemdb::storage {

// The change of one item.
struct ItemChange {
  uint64_t change_sequence = 0;
  int64_t commit_time_us = 0;
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  // The item before and after, canonical; at least one is present.
  std::optional<std::string_view> old_item;
  std::optional<std::string_view> new_item;
  // The item was deleted because its time to live was over.
  bool expired = false;
  // The item could not be read and was discarded. `old_item` is its key alone, and no image is recorded.
  bool discarded = false;
};

// The record of `change`, with the images that the table's stream view type asks for.
std::string EncodeItemChange(const Table& table, const ItemChange& change);

// The fields of an encoded itemdb.v1.ChangeRecord, except `table`. Borrows from the encoded record.
struct ChangeView {
  uint64_t change_sequence = 0;
  int64_t commit_time_us = 0;
  uint64_t table_storage_id = 0;
  v1::ChangeKind kind = v1::CHANGE_KIND_UNSPECIFIED;
  std::string_view key;
  std::optional<std::string_view> old_image;
  std::optional<std::string_view> new_image;
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  bool expired = false;
  bool discarded = false;
};

// nullopt: `record` is not an encoded itemdb.v1.ChangeRecord.
std::optional<ChangeView> ViewChange(std::string_view record);

}  // namespace itemdb::storage
