#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

template <typename Read>
std::vector<std::string> ReadAll(wire::PageRequest request, int* pages, Read read) {
  std::vector<std::string> items;
  for (int count = 1;; ++count) {
    if (pages != nullptr) *pages = count;
    absl::StatusOr<Page> page = read(request);
    EXPECT_TRUE(page.ok()) << page.status();
    if (!page.ok()) return items;
    for (std::string& item : ShowItems(*page)) items.push_back(std::move(item));
    if (!page->reply.has_last_evaluated_key()) return items;
    EXPECT_NE(page->reply.last_evaluated_key(), request.exclusive_start_key()) << "the same page again";
    if (::testing::Test::HasFailure()) return items;
    request.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
}

}  // namespace

wire::WriteItemRequest WriteRequest(const std::string& table, Attributes key_or_item) {
  wire::WriteItemRequest request;
  request.set_table_name(table);
  request.set_key_or_item(Encode(key_or_item));
  return request;
}

wire::WriteItemRequest UpdateRequest(const std::string& table, Attributes key, const std::string& expression,
                                     Attributes values) {
  wire::WriteItemRequest request = WriteRequest(table, key);
  request.set_update_expression(expression);
  for (const auto& [name, value] : values) SetValue(&request, name, value);
  return request;
}

wire::WriteItemRequest If(wire::WriteItemRequest request, const std::string& condition, Attributes values) {
  request.set_condition_expression(condition);
  for (const auto& [name, value] : values) SetValue(&request, name, value);
  request.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  return request;
}

wire::PageRequest QueryRequest(const std::string& table, const std::string& condition, Attributes values) {
  wire::PageRequest request;
  request.set_table_name(table);
  request.set_key_condition_expression(condition);
  for (const auto& [name, value] : values) SetValue(&request, name, value);
  return request;
}

wire::PageRequest ScanRequest(const std::string& table) {
  wire::PageRequest request;
  request.set_table_name(table);
  return request;
}

absl::StatusOr<wire::WriteItemReply> PutItem(TestDatabase& database, const wire::WriteItemRequest& request) {
  return Await<wire::WriteItemReply>([&](auto done) { database->PutItem(request, std::move(done)); });
}

absl::StatusOr<wire::WriteItemReply> DeleteItem(TestDatabase& database,
                                                const wire::WriteItemRequest& request) {
  return Await<wire::WriteItemReply>([&](auto done) { database->DeleteItem(request, std::move(done)); });
}

absl::StatusOr<wire::GetItemReply> GetItem(TestDatabase& database, const wire::GetItemRequest& request) {
  return Await<wire::GetItemReply>([&](auto done) { database->GetItem(request, std::move(done)); });
}

absl::StatusOr<wire::BatchWriteItemReply> BatchWrite(TestDatabase& database,
                                                     const wire::BatchWriteItemRequest& request) {
  return Await<wire::BatchWriteItemReply>(
      [&](auto done) { database->BatchWriteItem(request, std::move(done)); });
}

absl::StatusOr<v1::CreateTableReply> CreateTable(TestDatabase& database,
                                                 const v1::CreateTableRequest& request) {
  return Await<v1::CreateTableReply>([&](auto done) { database->CreateTable(request, std::move(done)); });
}

absl::StatusOr<v1::DeleteTableReply> DeleteTable(TestDatabase& database, const std::string& table) {
  v1::DeleteTableRequest request;
  request.set_table_name(table);
  return Await<v1::DeleteTableReply>([&](auto done) { database->DeleteTable(request, std::move(done)); });
}

v1::TableDescription Describe(TestDatabase& database, const std::string& table) {
  v1::DescribeTableRequest request;
  request.set_table_name(table);
  auto reply = database->DescribeTable(request);
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() ? reply->table() : v1::TableDescription();
}

std::vector<v1::ChangeRecord> Changes(TestDatabase& database) {
  std::vector<v1::ChangeRecord> records;
  while (true) {
    auto reply = database.ReadChanges(records.size());
    EXPECT_TRUE(reply.ok()) << reply.status();
    if (!reply.ok() || reply->records().empty()) return records;
    records.insert(records.end(), reply->records().begin(), reply->records().end());
  }
}

std::vector<std::string> QueryAll(TestDatabase& database, wire::PageRequest request, int* pages) {
  return ReadAll(std::move(request), pages,
                 [&](const wire::PageRequest& page) { return database.Query(page); });
}

std::vector<std::string> ScanAll(TestDatabase& database, wire::PageRequest request, int* pages) {
  return ReadAll(std::move(request), pages,
                 [&](const wire::PageRequest& page) { return database.Scan(page); });
}

}  // namespace itemdb::testing
