#include "storage/indexes/index_entry.h"

#include "storage/base/limits.h"
#include "storage/keys/key_codec.h"
#include "storage/values/item_size.h"

namespace itemdb::storage {
namespace {

// Appends the key values of `attributes` to `*key`. False: one is missing.
absl::StatusOr<bool> AppendKeyPart(const Index& index, const std::vector<KeyAttribute>& attributes,
                                   const char* key_type, size_t max_bytes, ItemView item, std::string* key) {
  size_t bytes = 0;
  bool complete = true;
  for (const KeyAttribute& attribute : attributes) {
    std::optional<ValueView> value = item.Find(attribute.name);
    if (!value.has_value()) {
      complete = false;
      continue;
    }
    // An attribute that is present is checked even if another one is missing.
    if (value->type() != attribute.type) {
      return ValidationError("SEM-070",
                             "One or more parameter values were invalid: Type mismatch for Index Key " +
                                 attribute.name + " Expected: " + std::string(ValueTypeName(attribute.type)) +
                                 " Actual: " + std::string(ValueTypeName(value->type())) +
                                 " IndexName: " + index.name);
    }
    if (value->payload().empty()) {
      return ValidationError(
          "SEM-070",
          "One or more parameter values are not valid. A value specified for a secondary index key is not "
          "supported. The "
          "AttributeValue for a key attribute cannot contain an empty " +
              std::string(attribute.type == ValueType::kB ? "binary" : "string") +
              " value. IndexName: " + index.name + ", IndexKey: " + attribute.name);
    }
    bytes += ValueSizeBytes(*value);
    if (complete) AppendKeyValue(*value, key);
  }
  if (bytes > max_bytes) {
    std::string names;
    for (const KeyAttribute& attribute : attributes) names += (names.empty() ? "" : ", ") + attribute.name;
    return ValidationError("SEM-084", "One or more parameter values were invalid: Aggregate size for " +
                                          std::string(key_type) + " key attributes [" + names +
                                          "] of index " + index.name + " has exceeded limit " +
                                          std::to_string(max_bytes) + " bytes, with actual size " +
                                          std::to_string(bytes) + " bytes");
  }
  return complete;
}

// The attributes of `item` that are in `names`; both are sorted.
std::string ProjectAttributes(ItemView item, const std::vector<std::string>& names) {
  std::string projected;
  auto name = names.begin();
  for (const AttributeView& attribute : item) {
    while (name != names.end() && *name < attribute.name) ++name;
    if (name == names.end()) break;
    if (*name == attribute.name) AppendAttribute(attribute.name, attribute.value.encoded(), &projected);
  }
  return projected;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> MakeEntryKey(const Index& index, ItemView item,
                                                        std::string_view base_key) {
  if (index.time_to_live) {
    std::optional<ValueView> time = item.Find(index.partition[0].name);
    if (!time.has_value() || time->type() != ValueType::kN) return std::nullopt;
  }
  std::string key;
  ITEMDB_ASSIGN_OR_RETURN(bool has_partition,
                          AppendKeyPart(index, index.partition, "HASH", kMaxPartitionKeyBytes, item, &key));
  ITEMDB_ASSIGN_OR_RETURN(bool has_sort,
                          AppendKeyPart(index, index.sort, "RANGE", kMaxSortKeyBytes, item, &key));
  if (!has_partition || !has_sort) return std::nullopt;
  key.append(base_key);
  return key;
}

std::string ProjectItem(const Index& index, ItemView item) {
  return index.projection == v1::PROJECTION_TYPE_ALL ? std::string(item.encoded())
                                                     : ProjectAttributes(item, index.projected);
}

absl::StatusOr<std::optional<IndexEntry>> MakeIndexEntry(const Index& index, ItemView item,
                                                         std::string_view base_key) {
  ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> key, MakeEntryKey(index, item, base_key));
  if (!key.has_value()) return std::nullopt;
  IndexEntry entry{.key = *std::move(key), .item = ProjectItem(index, item), .item_size = 0};
  entry.item_size = ItemSizeBytes(ItemView(entry.item));
  return entry;
}

std::optional<std::string_view> BaseKeyOf(const Table& table, const Index& index,
                                          std::string_view entry_key) {
  auto skip = [&entry_key](size_t values) {
    for (size_t i = 0; i < values; ++i) {
      std::optional<size_t> length = KeyValueLength(entry_key);
      if (!length.has_value() || *length > entry_key.size()) return false;
      entry_key.remove_prefix(*length);
    }
    return true;
  };
  if (!skip(index.partition.size() + index.sort.size())) return std::nullopt;
  const std::string_view base_key = entry_key;
  if (!skip(table.partition.size() + table.sort.size()) || !entry_key.empty()) return std::nullopt;
  return base_key;
}

}  // namespace itemdb::storage
