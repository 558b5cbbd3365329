// Which items an export contains, and which of their attributes (XPT-16).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "itemdb/v1/exports.pb.h"
#include "storage/catalog/table.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/key_condition.h"
#include "storage/expressions/projection.h"

namespace itemdb::storage {

// Immutable, thread-safe.
class ExportFilter {
 public:
  // Selects all items with all attributes.
  ExportFilter() = default;
  // Checks what does not need the table. INVALID_ARGUMENT: the specification is empty, an expression is
  // malformed or too long, a placeholder is not defined or not used.
  static absl::StatusOr<ExportFilter> Compile(const v1::FilterSpecification& specification);
  // The rest, once. INVALID_ARGUMENT: the key condition does not fit the key schema; the filter names a key
  // attribute beside a key condition.
  absl::Status BindTo(const Table& table);

  // Whether the item with the encoded primary key `key` is exported.
  bool Selects(std::string_view key, ItemView item) const;
  // The attributes of `item` that are exported, encoded and canonical.
  std::string Project(std::string_view item) const;
  // Whether there are attributes that are not.
  bool projects() const { return projection_.has_value(); }

 private:
  std::optional<KeyCondition> key_condition_;
  std::optional<Condition> filter_;
  std::optional<Projection> projection_;
  KeyRange range_;
};

}  // namespace itemdb::storage
