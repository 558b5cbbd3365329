#include "tools/base/item_key.h"

namespace itemdb::tools {

Item KeyOf(const TableDefinition& definition, const Item& item) {
  Item key;
  for (const KeySchemaElement& element : definition.key_schema) {
    const Value* value = item.find_or_null(element.attribute_name);
    if (value != nullptr) key.Set(element.attribute_name, *value);
  }
  return key;
}

}  // namespace itemdb::tools
