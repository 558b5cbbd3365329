#include "storage/exports/export_lines.h"

#include "storage/exports/ion_text.h"
#include "storage/json/json_writer.h"

namespace itemdb::storage {

void ExportLines::AppendItem(ItemView item, std::string* out) {
  out->append(is_ion() ? "$ion_1_0 {" : "{");
  AppendName("Item", out);
  AppendAttributes(item, out);
  out->append("}\n");
}

void ExportLines::AppendChange(const ExportedChange& change, std::string* out) {
  const std::string time = std::to_string(change.commit_time_us);
  out->append(is_ion() ? "$ion_1_0 {Record:{" : "{");
  AppendName("Metadata", out);
  out->push_back('{');
  AppendName("WriteTimestampMicros", out);
  out->append(is_ion() ? time + ".}," : "{\"N\":\"" + time + "\"}},");
  AppendName("Keys", out);
  AppendAttributes(change.keys, out);
  if (change.old_image.has_value()) {
    out->push_back(',');
    AppendName("OldImage", out);
    AppendAttributes(*change.old_image, out);
  }
  if (change.new_image.has_value()) {
    out->push_back(',');
    AppendName("NewImage", out);
    AppendAttributes(*change.new_image, out);
  }
  out->append(is_ion() ? "}}\n" : "}\n");
}

void ExportLines::AppendName(std::string_view name, std::string* out) {
  if (is_ion()) {
    AppendIonName(name, out);
  } else {
    AppendJsonString(name, out);
  }
  out->push_back(':');
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
    if (is_ion()) {
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
