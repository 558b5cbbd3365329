#include "storage/exports/export_lines.h"

#include <optional>

#include "storage/exports/ion_text.h"
#include "storage/json/json_writer.h"

namespace itemdb::storage {

void ExportLines::AppendItem(ItemView item, std::string* out) {
  out->append(format_ == v1::EXPORT_FORMAT_ION ? "$ion_1_0 {Item:" : "{\"Item\":");
  AppendAttributes(item, out);
  out->append("}\n");
}

void ExportLines::AppendAttributes(ItemView item, std::string* out) {
  attributes_.clear();
  for (const auto* schema : {&table_.partition, &table_.sort}) {
    for (const KeyAttribute& key : *schema) {
      if (const std::optional<ValueView> value = item.Find(key.name))
        attributes_.push_back({.name = key.name, .value = *value});
    }
  }
  for (const AttributeView& attribute : item)
    if (!table_.IsKeyAttribute(attribute.name)) attributes_.push_back(attribute);
  out->push_back('{');
  for (const AttributeView& attribute : attributes_) {
    if (&attribute != &attributes_.front()) out->push_back(',');
    if (format_ == v1::EXPORT_FORMAT_ION) {
      AppendIonName(attribute.name, out);
      out->push_back(':');
      AppendIonValue(attribute.value, out);
    } else {
      AppendJsonString(attribute.name, out);
      out->push_back(':');
      AppendJsonValue(attribute.value, out);
    }
  }
  out->push_back('}');
}

}  // namespace itemdb::storage
