#include "tools/model/table_text.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {

std::string KeySchemaText(const std::vector<KeySchemaElement>& key_schema, const TableDefinition& table) {
  std::vector<std::string> elements;
  for (const KeySchemaElement& element : key_schema) {
    std::string text = element.attribute_name;
    for (const AttributeDefinition& attribute : table.attribute_definitions) {
      if (attribute.attribute_name == element.attribute_name) {
        text.append(" ").append(NameOf(attribute.attribute_type));
      }
    }
    text.append(" ").append(NameOf(element.key_type));
    elements.push_back(std::move(text));
  }
  return absl::StrJoin(elements, ", ");
}

std::string ProjectionText(const Projection& projection) {
  std::string text(NameOf(projection.projection_type));
  if (!projection.non_key_attributes.empty()) {
    text.append(" ").append(absl::StrJoin(projection.non_key_attributes, ", "));
  }
  return text;
}

}  // namespace itemdb::tools
