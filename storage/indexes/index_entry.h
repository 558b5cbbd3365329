// Index entries: a pure function of a table's definition and an item (invariant IndexDerived).
//
//   index key:  enc(each index partition attribute) enc(each index sort attribute) enc(base partition key)
//   enc(base sort key) payload:    the projected attributes, canonical
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/catalog/table.h"

namespace itemdb {

struct IndexEntry {
  std::string key;
  // Encoded and canonical.
  std::string item;
  // By SEM-002.
  size_t item_size = 0;

  bool operator==(const IndexEntry& other) const { return key == other.key && item == other.item; }
};

// The entry of `item`, whose encoded primary key is `base_key`, in `index`; nothing when a key attribute of
// the index is missing (SEM-069, SEM-083). INVALID_ARGUMENT when one has the wrong type, is empty or too long
// (SEM-070, SEM-084); the index of a time to live has no entry of such an item (SEM-108).
absl::StatusOr<std::optional<IndexEntry>> MakeIndexEntry(const Index& index, ItemView item,
                                                         std::string_view base_key);

// The encoded primary key at the end of an entry's key; nothing when it cannot be one.
std::optional<std::string_view> BaseKeyOf(const Table& table, const Index& index, std::string_view entry_key);

}  // namespace itemdb
