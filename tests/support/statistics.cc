#include "tests/support/statistics.h"

#include <string>

#include "gtest/gtest.h"
#include "itemdb/v1/data.pb.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

int64_t NumberSize(std::string text) {
  int64_t sign = 0;
  if (text[0] == '-') {
    sign = 1;
    text.erase(0, 1);
  }
  if (text == "0") return 1;
  size_t point = text.find('.');
  std::string whole = text.substr(0, point);
  std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
  if (fraction.empty()) whole.erase(whole.find_last_not_of('0') + 1);
  if (whole == "0") {
    whole.clear();
    fraction.erase(0, fraction.find_first_not_of('0'));
  }
  return 1 + sign + (static_cast<int64_t>(whole.size()) + 1) / 2 +
         (static_cast<int64_t>(fraction.size()) + 1) / 2;
}

int64_t ValueSize(const v1::AttributeValue& value) {
  int64_t size = 0;
  switch (value.value_case()) {
    case v1::AttributeValue::kS:
      return static_cast<int64_t>(value.s().size());
    case v1::AttributeValue::kN:
      return NumberSize(value.n());
    case v1::AttributeValue::kB:
      return static_cast<int64_t>(value.b().size());
    case v1::AttributeValue::kSs:
      for (const auto& element : value.ss().values()) size += static_cast<int64_t>(element.size());
      return size;
    case v1::AttributeValue::kNs:
      for (const auto& element : value.ns().values()) size += NumberSize(element);
      return size;
    case v1::AttributeValue::kBs:
      for (const auto& element : value.bs().values()) size += static_cast<int64_t>(element.size());
      return size;
    case v1::AttributeValue::kL:
      for (const auto& element : value.l().values()) size += 1 + ValueSize(element);
      return 3 + size;
    case v1::AttributeValue::kM:
      for (const auto& attribute : value.m().attributes()) {
        size += 1 + static_cast<int64_t>(attribute.name().size()) + ValueSize(attribute.value());
      }
      return 3 + size;
    default:
      return 1;
  }
}

void ExpectCounted(storage::Database& database, const std::string& table, const std::string& index,
                   int64_t items, int64_t bytes) {
  SCOPED_TRACE("table " + table + (index.empty() ? "" : ", index " + index));
  wire::PageRequest request;
  request.set_table_name(table);
  request.set_index_name(index);
  int64_t counted = 0;
  int64_t counted_bytes = 0;
  for (bool more = true; more;) {
    auto page = Await<storage::Page>([&](auto done) { database.Scan(request, std::move(done)); });
    ASSERT_TRUE(page.ok()) << page.status();
    v1::QueryReply reply;
    ASSERT_TRUE(reply.ParseFromString(page->encoded_items));
    counted += reply.items_size();
    for (const v1::Item& item : reply.items()) counted_bytes += SizeOf(item);
    more = page->reply.has_last_evaluated_key();
    request.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
  EXPECT_EQ(items, counted) << "items";
  EXPECT_EQ(bytes, counted_bytes) << "bytes";
}

}  // namespace

int64_t SizeOf(const v1::Item& item) {
  int64_t size = 0;
  for (const auto& attribute : item.attributes())
    size += static_cast<int64_t>(attribute.name().size()) + ValueSize(attribute.value());
  return size;
}

void ExpectExactStatistics(storage::Database& database) {
  v1::ListTablesRequest list;
  for (bool more = true; more;) {
    auto names = database.ListTables(list);
    ASSERT_TRUE(names.ok()) << names.status();
    for (const std::string& name : names->table_names()) {
      v1::DescribeTableRequest request;
      request.set_table_name(name);
      auto reply = database.DescribeTable(request);
      ASSERT_TRUE(reply.ok()) << reply.status();
      const v1::TableDescription& table = reply->table();
      ExpectCounted(database, name, "", table.item_count(), table.table_size_bytes());
      for (const auto& index : table.global_secondary_indexes())
        ExpectCounted(database, name, index.index_name(), index.item_count(), index.index_size_bytes());
      for (const auto& index : table.local_secondary_indexes())
        ExpectCounted(database, name, index.index_name(), index.item_count(), index.index_size_bytes());
    }
    more = !names->last_evaluated_table_name().empty();
    list.set_exclusive_start_table_name(names->last_evaluated_table_name());
  }
}

}  // namespace itemdb::testing
