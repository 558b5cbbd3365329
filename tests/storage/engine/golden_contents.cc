#include "tests/storage/engine/golden_contents.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "itemdb/v1/data.pb.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

std::string Quote(const std::string& text) { return "\"" + absl::CEscape(text) + "\""; }

std::string DescribeKeys(const google::protobuf::RepeatedPtrField<v1::KeySchemaElement>& schema) {
  std::string text;
  for (const auto& element : schema) {
    text +=
        (text.empty() ? "" : ", ") + element.attribute_name() + " " + v1::KeyType_Name(element.key_type());
  }
  return text;
}

// The items of a table, or the entries of an index if `index` is not empty.
std::string DescribeItems(Database& database, const std::string& table, const std::string& index) {
  std::string text;
  wire::PageRequest request;
  request.set_table_name(table);
  request.set_index_name(index);
  while (true) {
    auto page = Await<Page>([&](auto done) { database.Scan(request, std::move(done)); });
    if (!page.ok()) return text + page.status().ToString() + "\n";
    v1::QueryReply reply;
    if (!reply.ParseFromString(page->reply.SerializeAsString() + page->encoded_items))
      return text + "unreadable\n";
    for (const auto& item : reply.items()) text += "    " + Describe(item) + "\n";
    if (!page->reply.has_last_evaluated_key()) return text;
    request.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
}

std::string DescribeTable(Database& database, const std::string& name) {
  v1::DescribeTableRequest request;
  request.set_table_name(name);
  auto reply = database.DescribeTable(request);
  if (!reply.ok()) return reply.status().ToString() + "\n";
  const v1::TableDescription& table = reply->table();
  std::string text =
      "table " + name + " (" + DescribeKeys(table.key_schema()) + ") id " + table.table_id() + " storage " +
      std::to_string(table.storage_id()) + " " + v1::BillingMode_Name(table.billing_mode()) + " " +
      v1::StreamViewType_Name(table.stream_view_type()) + ": " + std::to_string(table.item_count()) +
      " items, " + std::to_string(table.table_size_bytes()) + " bytes\n";
  for (const auto& definition : table.attribute_definitions()) {
    text += "  attribute " + definition.attribute_name() + " " +
            v1::ScalarAttributeType_Name(definition.attribute_type()) + "\n";
  }
  text += "  items\n" + DescribeItems(database, name, "");
  for (const auto& index : table.global_secondary_indexes()) {
    text += "  index " + index.index_name() + " (" + DescribeKeys(index.key_schema()) + ") storage " +
            std::to_string(index.storage_id()) + " " +
            v1::ProjectionType_Name(index.projection().projection_type()) + " [" +
            absl::StrJoin(index.projection().non_key_attributes(), ", ") +
            "]: " + std::to_string(index.item_count()) + " entries, " +
            std::to_string(index.index_size_bytes()) + " bytes\n" +
            DescribeItems(database, name, index.index_name());
  }
  return text;
}

std::string DescribeChange(const v1::ChangeRecord& record) {
  std::string text = std::to_string(record.change_sequence()) + " " + v1::ChangeKind_Name(record.kind()) +
                     " storage " + std::to_string(record.table_storage_id()) + " commit " +
                     std::to_string(record.commit_first_sequence()) + "-" +
                     std::to_string(record.commit_last_sequence());
  if (record.has_table())
    text += " table " + record.table().table_name() + " id " + record.table().table_id();
  if (record.has_key()) text += " key " + Describe(record.key());
  if (record.has_old_image()) text += " old " + Describe(record.old_image());
  if (record.has_new_image()) text += " new " + Describe(record.new_image());
  return "  " + text + "\n";
}

}  // namespace

std::string Describe(const v1::AttributeValue& value) {
  switch (value.value_case()) {
    case v1::AttributeValue::kS:
      return "S" + Quote(value.s());
    case v1::AttributeValue::kN:
      return "N:" + value.n();
    case v1::AttributeValue::kB:
      return "B:" + absl::BytesToHexString(value.b());
    case v1::AttributeValue::kSs:
      return "SS{" +
             absl::StrJoin(value.ss().values(), ", ",
                           [](std::string* out, const std::string& text) { *out += Quote(text); }) +
             "}";
    case v1::AttributeValue::kNs:
      return "NS{" + absl::StrJoin(value.ns().values(), ", ") + "}";
    case v1::AttributeValue::kBs:
      return "BS{" +
             absl::StrJoin(
                 value.bs().values(), ", ",
                 [](std::string* out, const std::string& bytes) { *out += absl::BytesToHexString(bytes); }) +
             "}";
    case v1::AttributeValue::kL: {
      std::string text;
      for (const auto& element : value.l().values()) text += (text.empty() ? "" : ", ") + Describe(element);
      return "L[" + text + "]";
    }
    case v1::AttributeValue::kM: {
      std::string text;
      for (const auto& attribute : value.m().attributes()) {
        text += (text.empty() ? "" : ", ") + attribute.name() + "=" + Describe(attribute.value());
      }
      return "M{" + text + "}";
    }
    case v1::AttributeValue::kBool:
      return value.bool_() ? "true" : "false";
    case v1::AttributeValue::kNull:
      return "null";
    case v1::AttributeValue::VALUE_NOT_SET:
      break;
  }
  return "(no value)";
}

std::string Describe(const v1::Item& item) {
  std::string text;
  for (const auto& attribute : item.attributes()) {
    text += (text.empty() ? "" : ", ") + attribute.name() + "=" + Describe(attribute.value());
  }
  return "{" + text + "}";
}

std::string DescribeContents(Database& database) {
  std::string text = "database " + database.GetStatus().database_id() + "\n";
  auto tables = database.ListTables({});
  if (!tables.ok()) return text + tables.status().ToString();
  for (const std::string& name : tables->table_names()) text += DescribeTable(database, name);
  text += "changes\n";
  v1::ReadChangesRequest request;
  while (true) {
    auto page =
        Await<v1::ReadChangesReply>([&](auto done) { database.ReadChanges(request, std::move(done)); });
    if (!page.ok()) return text + page.status().ToString();
    if (page->records().empty()) return text;
    for (const auto& record : page->records()) text += DescribeChange(record);
    request.set_after_sequence(page->records(page->records_size() - 1).change_sequence());
  }
}

}  // namespace itemdb::testing
