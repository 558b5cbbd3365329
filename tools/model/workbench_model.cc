#include "tools/model/workbench_model.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/json/item_json.h"
#include "tools/json/member_reader.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

using Kind = JsonValue::Kind;

// ---- keys and tables -----------------------------------------------------------------------------

struct KeyAttribute {
  std::string name;
  std::string type;
};

struct KeyAttributes {
  KeyAttribute partition;
  // Empty if the key has no sort key.
  std::optional<KeyAttribute> sort;
};

KeyAttribute ReadKeyAttribute(MemberReader& reader) {
  reader.Allow({"AttributeName", "AttributeType"});
  return {.name = reader.RequiredString("AttributeName"), .type = reader.RequiredString("AttributeType")};
}

KeyAttributes ReadKeyAttributes(MemberReader& reader) {
  reader.Allow({"PartitionKey", "SortKey"});
  return {.partition =
              reader.Object<KeyAttribute>("PartitionKey", true, ReadKeyAttribute).value_or(KeyAttribute()),
          .sort = reader.Object<KeyAttribute>("SortKey", false, ReadKeyAttribute)};
}

JsonValue KeySchemaOf(const KeyAttributes& key) {
  JsonValue schema = JsonValue::Array();
  const auto add = [&schema](const KeyAttribute& attribute, const char* type) {
    schema.elements.push_back(JsonValue::Object().Add("AttributeName", attribute.name).Add("KeyType", type));
  };
  add(key.partition, "HASH");
  if (key.sort.has_value()) add(*key.sort, "RANGE");
  return schema;
}

struct WorkbenchIndex {
  std::string name;
  KeyAttributes key;
  // In the format of CreateTable.
  JsonValue projection;
};

WorkbenchIndex ReadWorkbenchIndex(MemberReader& reader) {
  reader.Allow({"IndexName", "KeyAttributes", "Projection"});
  WorkbenchIndex index{
      .name = reader.RequiredString("IndexName"),
      .key = reader.Object<KeyAttributes>("KeyAttributes", true, ReadKeyAttributes).value_or(KeyAttributes()),
      .projection = {}};
  if (const JsonValue* projection = reader.Member("Projection", Kind::kObject, true); projection != nullptr) {
    index.projection = *projection;
  }
  return index;
}

// Null if there is no throughput.
JsonValue ReadWorkbenchThroughput(MemberReader& reader) {
  reader.Allow({"ProvisionedThroughput", "AutoScalingRead", "AutoScalingWrite"});
  const JsonValue* throughput = reader.Member("ProvisionedThroughput", Kind::kObject, true);
  return throughput == nullptr ? JsonValue() : *throughput;
}

struct Facet {
  std::string name;
  // The facet's name for the partition key.
  std::string partition_alias = {};
  std::vector<std::string> attributes = {};
  std::vector<Item> items = {};
};

std::vector<Item> ReadItems(MemberReader& reader) {
  std::vector<Item> items;
  const JsonValue* data = reader.Member("TableData", Kind::kArray, false);
  for (size_t i = 0; data != nullptr && i < data->elements.size(); ++i) {
    absl::StatusOr<Item> item = ItemFromJson(data->elements[i], ReadForm::kTyped,
                                             absl::StrFormat("%s[%d]", reader.PathOf("TableData"), i));
    if (item.ok()) {
      items.push_back(*std::move(item));
    } else {
      reader.Fail(std::string(item.status().message()));
    }
  }
  return items;
}

Facet ReadFacet(MemberReader& reader) {
  reader.Allow({"FacetName", "KeyAttributeAlias", "NonKeyAttributes", "TableData", "DataAccess"});
  Facet facet{.name = reader.RequiredString("FacetName")};
  facet.partition_alias = reader
                              .Object<std::string>("KeyAttributeAlias", true,
                                                   [](MemberReader& alias) {
                                                     alias.Allow({"PartitionKeyAlias", "SortKeyAlias"});
                                                     alias.OptionalString("SortKeyAlias");
                                                     return alias.RequiredString("PartitionKeyAlias");
                                                   })
                              .value_or("");
  facet.attributes = reader.Strings("NonKeyAttributes");
  facet.items = ReadItems(reader);
  return facet;
}

// Key values: the partition key and, if there is one, the sort key.
using KeyValues = std::vector<Value>;

struct KeyLess {
  static bool ValueLess(const Value& a, const Value& b) {
    if (a.type() != b.type()) return a.type() < b.type();
    if (const Number* number = a.number_or_null(); number != nullptr) return *number < *b.number_or_null();
    if (const std::string* bytes = a.binary_or_null(); bytes != nullptr) return *bytes < *b.binary_or_null();
    return *a.string_or_null() < *b.string_or_null();
  }
  bool operator()(const KeyValues& a, const KeyValues& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), ValueLess);
  }
};

// Empty if `item` lacks a key attribute, or if its type is not allowed in keys.
std::optional<KeyValues> KeyOf(const KeyAttributes& key, const Item& item) {
  KeyValues values;
  const auto add = [&](const KeyAttribute& attribute) {
    const Value* value = item.find_or_null(attribute.name);
    if (value == nullptr) return false;
    values.push_back(*value);
    return value->type() == ValueType::kString || value->type() == ValueType::kNumber ||
           value->type() == ValueType::kBinary;
  };
  if (!add(key.partition) || (key.sort.has_value() && !add(*key.sort))) return std::nullopt;
  return values;
}

// Adds the items of facets to the table's items. A facet may have items that the table does not list, and
// shows only some attributes of an item. So all items with one key are merged into one; if both the table and
// a facet have an attribute, the table's value is used.
void AddItemsOfFacets(const KeyAttributes& key, const std::vector<Facet>& facets, std::vector<Item>* items) {
  std::map<KeyValues, size_t, KeyLess> positions;
  for (size_t i = 0; i < items->size(); ++i) {
    if (std::optional<KeyValues> values = KeyOf(key, (*items)[i]); values.has_value())
      positions.insert_or_assign(*std::move(values), i);
  }
  for (const Facet& facet : facets) {
    for (const Item& item : facet.items) {
      std::optional<KeyValues> values = KeyOf(key, item);
      if (values.has_value()) {
        const auto [position, is_new] = positions.emplace(*std::move(values), items->size());
        if (!is_new) {
          Item& there = (*items)[position->second];
          for (const Attribute& attribute : item) {
            if (!there.contains(attribute.name)) there.Set(attribute.name, attribute.value);
          }
          continue;
        }
      }
      items->push_back(item);
    }
  }
}

struct WorkbenchTable {
  std::string name;
  KeyAttributes key;
  std::vector<WorkbenchIndex> indexes;
  std::vector<Facet> facets;
  std::vector<Item> items;
  std::string billing_mode;
  JsonValue throughput;
};

WorkbenchTable ReadWorkbenchTable(MemberReader& reader) {
  reader.Allow({"TableName", "KeyAttributes", "NonKeyAttributes", "TableFacets", "GlobalSecondaryIndexes",
                "TableData", "DataAccess", "SampleDataFormats", "BillingMode",
                "ProvisionedCapacitySettings"});
  WorkbenchTable table;
  table.name = reader.RequiredString("TableName");
  table.key =
      reader.Object<KeyAttributes>("KeyAttributes", true, ReadKeyAttributes).value_or(KeyAttributes());
  table.indexes = reader.Objects<WorkbenchIndex>("GlobalSecondaryIndexes", false, ReadWorkbenchIndex);
  table.facets = reader.Objects<Facet>("TableFacets", false, ReadFacet);
  table.items = ReadItems(reader);
  AddItemsOfFacets(table.key, table.facets, &table.items);
  table.billing_mode = reader.OptionalString("BillingMode");
  if (table.billing_mode.empty()) table.billing_mode = "PAY_PER_REQUEST";
  const bool provisioned = table.billing_mode == "PROVISIONED";
  const std::optional<JsonValue> throughput =
      reader.Object<JsonValue>("ProvisionedCapacitySettings", provisioned, ReadWorkbenchThroughput);
  // Workbench keeps these settings in the file after a change to on-demand mode.
  if (provisioned) table.throughput = throughput.value_or(JsonValue());
  return table;
}

// Reads the table as a CreateTable request. UsageError: an attribute has two types, or the request is
// malformed.
absl::StatusOr<TableDefinition> DefinitionOf(const WorkbenchTable& table, MemberReader& reader) {
  std::map<std::string, std::string> types;
  JsonValue attributes = JsonValue::Array();
  const auto define = [&](const KeyAttribute& attribute) {
    const auto [it, is_new] = types.emplace(attribute.name, attribute.type);
    if (is_new) {
      attributes.elements.push_back(
          JsonValue::Object().Add("AttributeName", attribute.name).Add("AttributeType", attribute.type));
    } else if (it->second != attribute.type) {
      reader.Fail(absl::StrFormat("the table %s: the key attribute %s has the types %s and %s", table.name,
                                  attribute.name, it->second, attribute.type));
    }
  };
  const auto define_key = [&](const KeyAttributes& key) {
    define(key.partition);
    if (key.sort.has_value()) define(*key.sort);
  };
  define_key(table.key);
  JsonValue indexes = JsonValue::Array();
  for (const WorkbenchIndex& index : table.indexes) {
    define_key(index.key);
    JsonValue object = JsonValue::Object()
                           .Add("IndexName", index.name)
                           .Add("KeySchema", KeySchemaOf(index.key))
                           .Add("Projection", index.projection);
    if (table.throughput.kind == Kind::kObject) object.Add("ProvisionedThroughput", table.throughput);
    indexes.elements.push_back(std::move(object));
  }
  JsonValue document = JsonValue::Object()
                           .Add("TableName", table.name)
                           .Add("AttributeDefinitions", std::move(attributes))
                           .Add("KeySchema", KeySchemaOf(table.key))
                           .Add("GlobalSecondaryIndexes", std::move(indexes))
                           .Add("BillingMode", table.billing_mode);
  if (table.throughput.kind == Kind::kObject) document.Add("ProvisionedThroughput", table.throughput);
  if (!reader.status().ok()) return reader.status();
  return TableDefinitionFromJson(document);
}

// ---- patterns ------------------------------------------------------------------------------------

// A value of `attribute` from the items. Of the items that have it, prefers the one with the most attributes
// of `others`, and among those the one with the fewest attributes. Empty if no item has it.
std::optional<JsonValue> SampleOf(const std::string& attribute, const std::vector<std::string>& others,
                                  const std::vector<Item>& items) {
  const Value* best = nullptr;
  std::pair<std::ptrdiff_t, std::ptrdiff_t> best_fit;
  for (const Item& item : items) {
    const Value* value = item.find_or_null(attribute);
    if (value == nullptr) continue;
    const std::ptrdiff_t has = std::count_if(others.begin(), others.end(), [&item](const std::string& other) {
      return item.find_or_null(other) != nullptr;
    });
    const std::pair fit(has, -std::distance(item.begin(), item.end()));
    if (best != nullptr && fit <= best_fit) continue;
    best = value;
    best_fit = fit;
  }
  if (best == nullptr) return std::nullopt;
  return ValueToJson(*best, ItemForm::kTyped);
}

// A pattern that queries one partition key of the table, or of an index if `index_name` is not empty.
ModelPattern QueryOf(const WorkbenchTable& table, const std::string& name, const std::string& index_name,
                     const KeyAttributes& key, std::optional<JsonValue> sample) {
  JsonValue query = JsonValue::Object().Add("TableName", table.name);
  if (!index_name.empty()) query.Add("IndexName", index_name);
  query.Add("KeyConditionExpression", "#pk = :pk")
      .Add("ExpressionAttributeNames", JsonValue::Object().Add("#pk", key.partition.name));
  return {.name = name,
          .parameters = {{":pk", std::move(sample)}},
          .requests = {{.operation = "Query", .request = std::move(query)}}};
}

void AddPatterns(const WorkbenchTable& table, std::vector<ModelPattern>* patterns) {
  for (const Facet& facet : table.facets) {
    std::optional<JsonValue> sample =
        SampleOf(table.key.partition.name, facet.attributes, facet.items.empty() ? table.items : facet.items);
    patterns->push_back(QueryOf(table, table.name + "." + facet.name, "", table.key, std::move(sample)));
    patterns->back().title = absl::StrFormat("the facet %s, of one %s", facet.name, facet.partition_alias);
  }
  if (table.facets.empty()) {
    patterns->push_back(
        QueryOf(table, table.name, "", table.key, SampleOf(table.key.partition.name, {}, table.items)));
  }
  for (const WorkbenchIndex& index : table.indexes) {
    std::vector<std::string> sort;
    if (index.key.sort.has_value()) sort.push_back(index.key.sort->name);
    patterns->push_back(QueryOf(table, table.name + "." + index.name, index.name, index.key,
                                SampleOf(index.key.partition.name, sort, table.items)));
  }
}

}  // namespace

absl::StatusOr<ModelFolder> ModelFromWorkbench(const JsonValue& json, const std::string& document) {
  MemberReader reader(json, document);
  reader.Allow({"ModelName", "ModelMetadata", "DataModel"});
  const std::vector<WorkbenchTable> tables =
      reader.Objects<WorkbenchTable>("DataModel", true, ReadWorkbenchTable);
  if (tables.empty()) reader.Fail("DataModel has no tables");
  if (!reader.status().ok()) return reader.status();
  ModelFolder folder{};
  std::set<std::string> names;
  for (const WorkbenchTable& table : tables) {
    if (!names.insert(table.name).second) {
      reader.Fail(absl::StrFormat("two tables have the name %s", JsonString(table.name)));
    }
    absl::StatusOr<TableDefinition> definition = DefinitionOf(table, reader);
    if (!definition.ok()) {
      reader.Fail(absl::StrCat("the table ", table.name, ": ", std::string(definition.status().message())));
      return reader.status();
    }
    ModelTable& added = folder.tables.emplace_back(ModelTable{.definition = *std::move(definition)});
    for (const Item& item : table.items) added.items.push_back({.item = item});
    AddPatterns(table, &folder.patterns);
  }
  names.clear();
  for (const ModelPattern& pattern : folder.patterns) {
    if (!names.insert(pattern.name).second) {
      reader.Fail(absl::StrFormat("two facets or indexes have the name %s", JsonString(pattern.name)));
    }
  }
  if (!reader.status().ok()) return reader.status();
  return folder;
}

}  // namespace itemdb::tools
