// Change records: their stored form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/changes.pb.h"
#include "storage/base/status.h"
#include "storage/catalog/table.h"

namespace itemdb {

// What happened to one item.
struct ItemChange {
  uint64_t change_sequence = 0;
  int64_t commit_time_us = 0;
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  // The item before and after, canonical; at least one is present.
  std::optional<std::string_view> old_item;
  std::optional<std::string_view> new_item;
};

// The encoded itemdb.v1.ChangeRecord, with the images that the table's stream view type asks for.
std::string EncodeItemChange(const Table& table, const ItemChange& change);

}  // namespace itemdb
