// The lines of data files: one item each, or what changed of it, in DynamoDB's JSON or in Ion (XPT-43 to
// XPT-47).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/v1/exports.pb.h"
#include "storage/catalog/table.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// What an incremental export says about an item.
struct ExportedChange {
  // Of the last commit, in microseconds since the Unix epoch.
  int64_t commit_time_us = 0;
  ItemView keys;
  // Not in the line if they are absent.
  std::optional<ItemView> old_image = std::nullopt;
  std::optional<ItemView> new_image = std::nullopt;
};

// Not thread-safe.
class ExportLines {
 public:
  // `table` is borrowed.
  ExportLines(const Table& table, v1::ExportFormat format) : table_(table), format_(format) {}

  // Appends the line of an item, with its line end: the key attributes first, then the others by name.
  void AppendItem(ItemView item, std::string* out);
  // The same for a change: Metadata, Keys, OldImage, NewImage.
  void AppendChange(const ExportedChange& change, std::string* out);

 private:
  bool is_ion() const { return format_ == v1::EXPORT_FORMAT_ION; }
  // Appends the name of a member of the line, and a colon.
  void AppendName(std::string_view name, std::string* out);
  // Appends the attributes of `item` as an object or a struct.
  void AppendAttributes(ItemView item, std::string* out);

  const Table& table_;
  const v1::ExportFormat format_;
  std::vector<AttributeView> attributes_;
};

}  // namespace itemdb::storage
