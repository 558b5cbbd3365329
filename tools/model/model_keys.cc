#include "tools/model/model_keys.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/json/json_value.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

const AttributeDefinition* FindDefinition(const TableDefinition& table, std::string_view attribute_name) {
  for (const AttributeDefinition& definition : table.attribute_definitions) {
    if (definition.attribute_name == attribute_name) return &definition;
  }
  return nullptr;
}

// `owner` is empty for the table itself.
absl::Status CheckDefined(const TableDefinition& table, const std::vector<KeySchemaElement>& key_schema,
                          const std::string& owner) {
  for (const KeySchemaElement& element : key_schema) {
    if (FindDefinition(table, element.attribute_name) != nullptr) continue;
    return UsageError(
        absl::StrFormat("KeySchema%s names the attribute %s, which AttributeDefinitions does not define",
                        owner, JsonString(element.attribute_name)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckKeysAreDefined(const TableDefinition& table) {
  absl::Status status = CheckDefined(table, table.key_schema, "");
  for (const GlobalSecondaryIndex& index : table.global_secondary_indexes) {
    if (status.ok()) status = CheckDefined(table, index.key_schema, " of the index " + index.index_name);
  }
  for (const LocalSecondaryIndex& index : table.local_secondary_indexes) {
    if (status.ok()) status = CheckDefined(table, index.key_schema, " of the index " + index.index_name);
  }
  return status;
}

absl::Status CheckKeyOf(const TableDefinition& table, const Item& item) {
  for (const KeySchemaElement& element : table.key_schema) {
    const AttributeDefinition* definition = FindDefinition(table, element.attribute_name);
    const std::string_view type = NameOf(definition->attribute_type);
    const Value* value = item.find_or_null(element.attribute_name);
    if (value == nullptr) {
      return UsageError(
          absl::StrFormat("the item lacks the key attribute %s", JsonString(element.attribute_name)));
    }
    if (TypeName(value->type()) == type) continue;
    return UsageError(absl::StrFormat("the key attribute %s is of type %s; the table's is %s",
                                      JsonString(element.attribute_name), TypeName(value->type()), type));
  }
  return absl::OkStatus();
}

}  // namespace itemdb::tools
