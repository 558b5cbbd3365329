#include "storage/catalog/table.h"

#include <algorithm>

#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/keys/key_codec.h"

namespace itemdb::storage {
namespace {

// No user's index can have this name, because of the spaces (SEM-008).
constexpr char kTimeToLiveIndexName[] = "time to live";

ValueType TypeOf(const v1::TableDescription& definition, std::string_view attribute) {
  for (const auto& candidate : definition.attribute_definitions()) {
    if (candidate.attribute_name() == attribute) return static_cast<ValueType>(candidate.attribute_type());
  }
  return ValueType::kS;  // Not reached: definitions are checked before they are stored.
}

template <typename KeySchema>
void SplitKeySchema(const v1::TableDescription& definition, const KeySchema& key_schema,
                    std::vector<KeyAttribute>* partition, std::vector<KeyAttribute>* sort) {
  for (const auto& element : key_schema) {
    auto* part = element.key_type() == v1::KEY_TYPE_HASH ? partition : sort;
    part->push_back({element.attribute_name(), TypeOf(definition, element.attribute_name())});
  }
}

// `table` has its key attributes.
Index MakeVectorIndex(const v1::TableDescription& definition, const v1::VectorIndexDescription& description,
                      const Table& table) {
  Index index;
  index.name = description.index_name();
  index.storage_id = description.storage_id();
  if (description.index_status() == v1::TABLE_STATUS_CREATING) index.state = IndexState::kBackfilling;
  VectorParameters& vector = index.vector.emplace();
  vector.attribute = description.vector_attribute();
  vector.dimensions = static_cast<size_t>(description.dimensions());
  vector.distance = description.distance_function();
  for (const v1::SearchSchemaElement& element : description.search_schema()) {
    const bool is_hash = element.search_schema_element_type() == v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH;
    auto* part = is_hash ? &index.partition : &vector.filters;
    part->push_back({element.attribute_name(), TypeOf(definition, element.attribute_name())});
  }
  index.projection = description.projection().projection_type();
  if (index.projection == v1::PROJECTION_TYPE_ALL) return index;
  auto& names = index.projected;
  names.push_back(vector.attribute);
  for (const auto& part : {table.partition, table.sort, index.partition, vector.filters}) {
    for (const KeyAttribute& attribute : part) names.push_back(attribute.name);
  }
  names.insert(names.end(), description.projection().non_key_attributes().begin(),
               description.projection().non_key_attributes().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return index;
}

// Checks that an item has a key attribute, with its type; the text is that for a primary key.
absl::Status CheckKeyType(const KeyAttribute& attribute, std::optional<ValueView> value) {
  if (!value.has_value()) {
    return ValidationError("SEM-007", "One or more parameter values were invalid: Missing the key " +
                                          attribute.name + " in the item");
  }
  if (value->type() != attribute.type) {
    return ValidationError("SEM-007", "One or more parameter values were invalid: Type mismatch for key " +
                                          attribute.name +
                                          " expected: " + std::string(ValueTypeName(attribute.type)) +
                                          " actual: " + std::string(ValueTypeName(value->type())));
  }
  return absl::OkStatus();
}

// The same, and that the value is not empty.
absl::Status CheckKeyValue(const KeyAttribute& attribute, std::optional<ValueView> value) {
  ITEMDB_RETURN_IF_ERROR(CheckKeyType(attribute, value));
  if (attribute.type != ValueType::kN && value->payload().empty()) {
    return ValidationError(
        "SEM-007",
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        "an empty " +
            std::string(attribute.type == ValueType::kS ? "string" : "binary") +
            " value. Key: " + attribute.name);
  }
  return absl::OkStatus();
}

// Null: nothing is counted.
std::shared_ptr<KeyCounts> MakeKeyCounts(const v1::ContributorInsights& insights) {
  return insights.enabled() ? std::make_shared<KeyCounts>(insights.throttled_keys_only()) : nullptr;
}

// Whether contributor insights, which are in both definitions, were not turned on or off between them.
template <typename Description>
bool UpdatedTogether(const Description& before, const Description& after) {
  return before.contributor_insights().enabled() && after.contributor_insights().enabled() &&
         before.contributor_insights().update_time_ms() == after.contributor_insights().update_time_ms();
}

}  // namespace

bool Index::Projects(std::string_view attribute) const {
  return projection == v1::PROJECTION_TYPE_ALL ||
         std::binary_search(projected.begin(), projected.end(), attribute);
}

const Index* Table::FindIndex(std::string_view index_name) const {
  for (const Index& index : indexes) {
    if (index.name == index_name && !index.time_to_live) return &index;
  }
  return nullptr;
}

const Index* Table::FindIndexByStorageId(uint64_t index_storage_id) const {
  for (const Index& index : indexes) {
    if (index.storage_id == index_storage_id) return &index;
  }
  return nullptr;
}

const Index* Table::FindTimeToLiveIndex() const {
  return !indexes.empty() && indexes.back().time_to_live ? &indexes.back() : nullptr;
}

bool Table::IsKeyAttribute(std::string_view attribute) const {
  return partition[0].name == attribute || (!sort.empty() && sort[0].name == attribute);
}

absl::Status CheckNotFenced(const Table& table, std::string_view pass_sha256) {
  if (!table.definition.has_write_fence()) {
    if (pass_sha256.empty()) return absl::OkStatus();
    // A mover that was taken for dead, and wakes up, must not replace what writers wrote since.
    return ValidationError("SEM-095", "table " + table.name +
                                          " has no fence; writes with a fence_pass need the fence that lets "
                                          "them through");
  }
  const v1::WriteFence& fence = table.definition.write_fence();
  if (!pass_sha256.empty() && fence.pass_sha256() == pass_sha256) return absl::OkStatus();
  if (fence.moved()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonTableMoved,
                     "table " + table.name + " has moved to " + fence.endpoint() + ": write it there");
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonTableMoving,
                   "table " + table.name + " is moving to " + fence.endpoint() +
                       " and takes no writes until it is there: try again",
                   /*retry_after_ms=*/100);
}

Table MakeTable(v1::TableDescription definition) {
  Table table;
  table.name = definition.table_name();
  table.storage_id = definition.storage_id();
  SplitKeySchema(definition, definition.key_schema(), &table.partition, &table.sort);
  auto add_index = [&](const auto& description, bool local) {
    Index index;
    index.local = local;
    index.name = description.index_name();
    index.storage_id = description.storage_id();
    SplitKeySchema(definition, description.key_schema(), &index.partition, &index.sort);
    index.projection = description.projection().projection_type();
    if (index.projection != v1::PROJECTION_TYPE_ALL) {
      auto& names = index.projected;
      for (const auto* part : {&table.partition, &table.sort, &index.partition, &index.sort}) {
        for (const KeyAttribute& attribute : *part) names.push_back(attribute.name);
      }
      names.insert(names.end(), description.projection().non_key_attributes().begin(),
                   description.projection().non_key_attributes().end());
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
    }
    table.indexes.push_back(std::move(index));
  };
  for (const auto& description : definition.global_secondary_indexes()) {
    add_index(description, false);
    if (description.index_status() == v1::TABLE_STATUS_CREATING)
      table.indexes.back().state = IndexState::kBackfilling;
    table.indexes.back().counted_keys = MakeKeyCounts(description.contributor_insights());
  }
  for (const auto& description : definition.local_secondary_indexes()) add_index(description, true);
  for (const auto& description : definition.vector_indexes())
    table.indexes.push_back(MakeVectorIndex(definition, description, table));
  if (const v1::TimeToLive& time_to_live = definition.time_to_live();
      !time_to_live.attribute_name().empty()) {
    Index& index = table.indexes.emplace_back();
    index.time_to_live = true;
    index.name = kTimeToLiveIndexName;
    index.storage_id = time_to_live.storage_id();
    index.partition.push_back({time_to_live.attribute_name(), ValueType::kN});
    index.projection = v1::PROJECTION_TYPE_KEYS_ONLY;
    if (time_to_live.index_status() == v1::TABLE_STATUS_CREATING) index.state = IndexState::kBackfilling;
  }
  table.counted_keys = MakeKeyCounts(definition.contributor_insights());
  table.has_local_indexes = !definition.local_secondary_indexes().empty();
  table.definition = std::move(definition);
  return table;
}

void ShareUsedUnits(const Table& before, Table* table) {
  table->used = before.used;
  if (UpdatedTogether(before.definition, table->definition)) table->counted_keys = before.counted_keys;
  for (Index& index : table->indexes) {
    // An index that is built again has another storage id.
    for (const Index& old_index : before.indexes) {
      if (old_index.name == index.name) index.used = old_index.used;
    }
  }
  // Global indexes are first, in the order of the definition.
  for (int i = 0; i < table->definition.global_secondary_indexes_size(); ++i) {
    for (int j = 0; j < before.definition.global_secondary_indexes_size(); ++j) {
      const auto& now = table->definition.global_secondary_indexes(i);
      const auto& then = before.definition.global_secondary_indexes(j);
      if (now.storage_id() == then.storage_id() && UpdatedTogether(then, now))
        table->indexes[static_cast<size_t>(i)].counted_keys =
            before.indexes[static_cast<size_t>(j)].counted_keys;
    }
  }
}

absl::StatusOr<std::string> EncodeKeyOfAnySize(const Table& table, ItemView item) {
  std::string key;
  for (const auto* part : {&table.partition, &table.sort}) {
    for (const KeyAttribute& attribute : *part) {
      std::optional<ValueView> value = item.Find(attribute.name);
      ITEMDB_RETURN_IF_ERROR(CheckKeyValue(attribute, value));
      AppendKeyValue(*value, &key);
    }
  }
  return key;
}

absl::Status CheckKeySize(const Table& table, ItemView item) {
  if (item.Find(table.partition[0].name)->payload().size() > kMaxPartitionKeyBytes) {
    return ValidationError(
        "SEM-006",
        "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of" +
            std::to_string(kMaxPartitionKeyBytes) + " bytes");
  }
  if (!table.sort.empty() && item.Find(table.sort[0].name)->payload().size() > kMaxSortKeyBytes) {
    return ValidationError(
        "SEM-006",
        "One or more parameter values were invalid: Aggregated size of all range keys has exceeded the "
        "size limit of " +
            std::to_string(kMaxSortKeyBytes) + " bytes");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodePrimaryKey(const Table& table, ItemView item) {
  ITEMDB_ASSIGN_OR_RETURN(std::string key, EncodeKeyOfAnySize(table, item));
  ITEMDB_RETURN_IF_ERROR(CheckKeySize(table, item));
  return key;
}

absl::Status CheckHasKey(const Table& table, ItemView item) {
  for (const auto* part : {&table.partition, &table.sort}) {
    for (const KeyAttribute& attribute : *part)
      ITEMDB_RETURN_IF_ERROR(CheckKeyType(attribute, item.Find(attribute.name)));
  }
  return absl::OkStatus();
}

absl::Status CheckKeyIsExact(const Table& table, ItemView key) {
  size_t attributes = 0;
  for (const AttributeView& attribute : key) {
    (void)attribute;
    ++attributes;
  }
  if (attributes == table.partition.size() + table.sort.size() && CheckHasKey(table, key).ok())
    return absl::OkStatus();
  std::string expected;
  for (const auto* part : {&table.partition, &table.sort}) {
    for (const KeyAttribute& attribute : *part) {
      expected += (expected.empty() ? "" : ", ") + attribute.name + " (" +
                  std::string(ValueTypeName(attribute.type)) + ")";
    }
  }
  return DetailedError("SEM-007", kKeyMismatch,
                       "; the key of table " + table.name + " consists of: " + expected);
}

absl::StatusOr<std::string> EncodeExactPrimaryKey(const Table& table, ItemView key) {
  ITEMDB_RETURN_IF_ERROR(CheckKeyIsExact(table, key));
  return EncodePrimaryKey(table, key);
}

std::string ExtractPrimaryKey(const Table& table, ItemView item) {
  const KeyAttribute* first = &table.partition[0];
  const KeyAttribute* second = table.sort.empty() ? nullptr : &table.sort[0];
  if (second != nullptr && second->name < first->name) std::swap(first, second);
  std::string key;
  AppendAttribute(first->name, item.Find(first->name)->encoded(), &key);
  if (second != nullptr) AppendAttribute(second->name, item.Find(second->name)->encoded(), &key);
  return key;
}

}  // namespace itemdb::storage
