// Index entries: a pure function of a table's definition and an item (invariant IndexDerived).
//
// clang-format off
//   key:      enc(each index partition attribute) enc(each index sort attribute) enc(base key)
//   payload:  the projected attributes, canonical
//
// In a vector index the key is enc(the HASH attribute, if the index has one) enc(base key). The payload has the
// vector, as B with the bytes of its floats (storage/values/float_vector.h), and the attributes of the search
// schema besides what is projected.
// clang-format on
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/catalog/table.h"

namespace itemdb::storage {

struct IndexEntry {
  std::string key;
  // Encoded and canonical.
  std::string item;
  // The sum of attribute names and values in bytes (SEM-002).
  size_t item_size = 0;

  bool operator==(const IndexEntry& other) const { return key == other.key && item == other.item; }
};

// A vector that was read from an item. Entries of the same vector, of the item before and after a write or of
// several indexes, need not read it again.
struct ReadVectorValue {
  // The encoded list, of which `packed` has the floats. Borrowed from the item.
  std::string_view encoded;
  std::string packed;
};

// The entry of `item`, whose encoded primary key is `base_key`, in `index`. nullopt: a key attribute of the
// index is missing (SEM-069, SEM-083). INVALID_ARGUMENT: a key attribute has the wrong type, is empty or too
// long (SEM-070, SEM-084), or the vector does not fit (VEC-10). In a TTL index an item whose attribute is not
// a number has no entry (SEM-108). In a vector index uses `*read` if that is the item's vector, and otherwise
// sets it.
absl::StatusOr<std::optional<IndexEntry>> MakeIndexEntry(const Index& index, ItemView item,
                                                         std::string_view base_key,
                                                         ReadVectorValue* read = nullptr);

// The key of that entry alone, with the same errors.
absl::StatusOr<std::optional<std::string>> MakeEntryKey(const Index& index, ItemView item,
                                                        std::string_view base_key);
// The bytes of the floats in an entry of a vector index, from which they borrow; nullopt: it has none that
// fit.
std::optional<std::string_view> PackedVectorOf(const Index& index, ItemView entry);

// The encoded primary key at the end of `entry_key`, from which it borrows; nullopt: `entry_key` is
// malformed.
std::optional<std::string_view> BaseKeyOf(const Table& table, const Index& index, std::string_view entry_key);

}  // namespace itemdb::storage
