#include "storage/indexes/index_entry.h"

#include "storage/base/limits.h"
#include "storage/keys/key_codec.h"
#include "storage/values/float_vector.h"
#include "storage/values/item_size.h"

namespace itemdb::storage {
namespace {

absl::Status TypeMismatch(const Index& index, const KeyAttribute& attribute, ValueView value) {
  return ValidationError(
      "SEM-070", "One or more parameter values were invalid: Type mismatch for Index Key " + attribute.name +
                     " Expected: " + std::string(ValueTypeName(attribute.type)) +
                     " Actual: " + std::string(ValueTypeName(value.type())) + " IndexName: " + index.name);
}

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
      return TypeMismatch(index, attribute, *value);
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
  if (bytes > max_bytes && attributes.size() == 1) {
    return ValidationError(
        "SEM-070", "One or more parameter values were invalid: Size limit exceeded for Index Key " +
                       attributes[0].name + " Actual Size: " + std::to_string(bytes) +
                       " bytes Max Size: " + std::to_string(max_bytes) + " bytes IndexName: " + index.name);
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

// Reads the vector of an item into `*read`, unless it is there.
absl::Status ReadItemVector(const Index& index, ValueView value, ReadVectorValue* read) {
  const size_t dimensions = index.vector->dimensions;
  if (read->packed.size() == dimensions * sizeof(float) && read->encoded == value.encoded())
    return absl::OkStatus();
  std::vector<float> vector;
  const auto problem = ReadVector(value, dimensions, &vector);
  if (!problem.has_value()) {
    *read = {.encoded = value.encoded(), .packed = PackVector(vector)};
    return absl::OkStatus();
  }
  const std::string& name = index.vector->attribute;
  const std::string beginning = "One or more parameter values were invalid. ";
  switch (problem->kind) {
    case VectorProblem::Kind::kNotAList:
      return ValidationError("VEC-10",
                             beginning + "Invalid type for parameter " + name +
                                 ", Expected: 32-bit floating point number list IndexName: " + index.name);
    case VectorProblem::Kind::kSize:
      return ValidationError("VEC-10", beginning + "Invalid size for parameter " + name +
                                           ", Expected: " + std::to_string(index.vector->dimensions) +
                                           ", Actual: " + std::to_string(problem->size) +
                                           " IndexName: " + index.name);
    case VectorProblem::Kind::kElement:
      break;
  }
  return ValidationError(
      "VEC-10", beginning + "Invalid type for parameter " + name + "[" + std::to_string(problem->element) +
                    "], Expected: 32-bit floating point number, Actual: " +
                    std::string(ValueTypeName(problem->type)) + ". IndexName: " + index.name);
}

// Checks what a vector index needs besides its HASH attribute. False: the item has no vector (VEC-12).
absl::StatusOr<bool> CheckVectorItem(const Index& index, ItemView item, ReadVectorValue* read) {
  for (const KeyAttribute& filter : index.vector->filters) {
    const std::optional<ValueView> value = item.Find(filter.name);
    if (value.has_value() && value->type() != filter.type) return TypeMismatch(index, filter, *value);
  }
  const std::optional<ValueView> vector = item.Find(index.vector->attribute);
  if (!vector.has_value()) return false;
  ITEMDB_RETURN_IF_ERROR(ReadItemVector(index, *vector, read));
  return true;
}

// What the entry of a vector index holds of `item`, whose vector is `packed`.
std::string ProjectVectorItem(const Index& index, ItemView item, std::string_view packed) {
  std::string projected;
  for (const AttributeView& attribute : item) {
    if (attribute.name == index.vector->attribute) {
      AppendAttribute(attribute.name, EncodeValue(ValueType::kB, packed), &projected);
    } else if (index.Projects(attribute.name)) {
      AppendAttribute(attribute.name, attribute.value.encoded(), &projected);
    }
  }
  return projected;
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

// As MakeEntryKey; of a vector index also `*read`.
absl::StatusOr<std::optional<std::string>> MakeKeyAndVector(const Index& index, ItemView item,
                                                            std::string_view base_key,
                                                            ReadVectorValue* read) {
  if (index.time_to_live) {
    std::optional<ValueView> time = item.Find(index.partition[0].name);
    if (!time.has_value() || time->type() != ValueType::kN) return std::nullopt;
  }
  std::string key;
  ITEMDB_ASSIGN_OR_RETURN(bool has_partition,
                          AppendKeyPart(index, index.partition, "HASH", kMaxPartitionKeyBytes, item, &key));
  ITEMDB_ASSIGN_OR_RETURN(bool has_sort,
                          AppendKeyPart(index, index.sort, "RANGE", kMaxSortKeyBytes, item, &key));
  if (index.vector.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(const bool has_vector, CheckVectorItem(index, item, read));
    if (!has_vector) return std::nullopt;
  }
  if (!has_partition || !has_sort) return std::nullopt;
  key.append(base_key);
  return key;
}

// The attributes of `item` that an entry of an index holds that is no vector index.
std::string ProjectItem(const Index& index, ItemView item) {
  return index.projection == v1::PROJECTION_TYPE_ALL ? std::string(item.encoded())
                                                     : ProjectAttributes(item, index.projected);
}

}  // namespace

absl::StatusOr<std::optional<std::string>> MakeEntryKey(const Index& index, ItemView item,
                                                        std::string_view base_key) {
  ReadVectorValue read;
  return MakeKeyAndVector(index, item, base_key, &read);
}

absl::StatusOr<std::optional<IndexEntry>> MakeIndexEntry(const Index& index, ItemView item,
                                                         std::string_view base_key, ReadVectorValue* read) {
  ReadVectorValue own;
  if (read == nullptr) read = &own;
  ITEMDB_ASSIGN_OR_RETURN(std::optional<std::string> key, MakeKeyAndVector(index, item, base_key, read));
  if (!key.has_value()) return std::nullopt;
  IndexEntry entry{.key = *std::move(key), .item = {}, .item_size = 0};
  entry.item =
      index.vector.has_value() ? ProjectVectorItem(index, item, read->packed) : ProjectItem(index, item);
  entry.item_size = ItemSizeBytes(ItemView(entry.item));
  return entry;
}

std::optional<std::string_view> PackedVectorOf(const Index& index, ItemView entry) {
  const std::optional<ValueView> value = entry.Find(index.vector->attribute);
  if (!value.has_value() || value->type() != ValueType::kB) return std::nullopt;
  const std::string_view packed = value->payload();
  if (packed.size() != index.vector->dimensions * sizeof(float)) return std::nullopt;
  return packed;
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
