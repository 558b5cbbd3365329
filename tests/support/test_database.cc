#include "tests/support/test_database.h"

#include <cstdlib>
#include <set>

#include "itemdb/v1/data.pb.h"
#include "tests/support/statistics.h"

namespace itemdb::testing {

v1::AttributeValue S(std::string text) {
  v1::AttributeValue value;
  value.set_s(std::move(text));
  return value;
}

v1::AttributeValue N(std::string number) {
  v1::AttributeValue value;
  value.set_n(std::move(number));
  return value;
}

v1::AttributeValue B(std::string bytes) {
  v1::AttributeValue value;
  value.set_b(std::move(bytes));
  return value;
}

v1::Item Item(Attributes attributes) {
  v1::Item item;
  for (const auto& [name, value] : attributes) {
    auto* attribute = item.add_attributes();
    attribute->set_name(name);
    *attribute->mutable_value() = value;
  }
  return item;
}

std::string Encode(Attributes attributes) { return Item(attributes).SerializeAsString(); }

std::string Show(const v1::Item& item) {
  std::string text;
  for (const auto& attribute : item.attributes()) {
    const auto& value = attribute.value();
    if (!text.empty()) text += " ";
    text += attribute.name() + "=";
    if (value.has_s()) {
      text += value.s();
    } else if (value.has_n()) {
      text += value.n();
    } else {
      text += value.ShortDebugString();
    }
  }
  return text;
}

std::string Show(const std::string& encoded_item) {
  v1::Item item;
  EXPECT_TRUE(item.ParseFromString(encoded_item));
  return Show(item);
}

std::vector<std::string> ShowItems(const storage::Page& page) {
  v1::QueryReply reply;
  EXPECT_TRUE(reply.ParseFromString(page.reply.SerializeAsString() + page.encoded_items));
  std::vector<std::string> items;
  for (const auto& item : reply.items()) items.push_back(Show(item));
  return items;
}

v1::GetStatusReply StatusWithTables(storage::Database& database) {
  v1::GetStatusRequest request;
  request.set_with_tables(true);
  return database.GetStatus(request);
}

EncryptionKeys KeysOf(std::initializer_list<std::string> ids) {
  EncryptionKeys keys;
  for (const std::string& id : ids) {
    std::string secret = id;
    secret.resize(kEncryptionSecretBytes, '!');
    keys.push_back({.id = id, .secret = secret});
  }
  return keys;
}

storage::DatabaseOptions TestDatabase::DefaultOptions(std::string directory) {
  storage::DatabaseOptions options;
  options.data_directory = std::move(directory);
  options.block_cache_bytes = 8 << 20;
  options.memtable_bytes = 8 << 20;
  options.free_space_floor_bytes = 0;
  options.io_threads = 2;
  options.change_retention = options.change_retention.zero();
  options.reclaim_interval = options.reclaim_interval.zero();
  options.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
  if (std::getenv("ITEMDB_TEST_ENCRYPTED") != nullptr) options.encryption_keys = KeysOf({"of-all-tests"});
  return options;
}

TestDatabase::TestDatabase() : options_(DefaultOptions(directory_.path() + "/data")) { Reopen(); }

TestDatabase::TestDatabase(storage::DatabaseOptions options) : options_(std::move(options)) { Reopen(); }

void TestDatabase::Reopen() {
  database_.reset();
  auto database = storage::Database::Open(options_);
  ASSERT_TRUE(database.ok()) << database.status();
  database_ = *std::move(database);
}

void TestDatabase::CreateTable(const v1::CreateTableRequest& request) {
  auto reply =
      Await<v1::CreateTableReply>([&](auto done) { database_->CreateTable(request, std::move(done)); });
  ASSERT_TRUE(reply.ok()) << reply.status();
}

absl::StatusOr<wire::WriteItemReply> TestDatabase::Put(const std::string& table, Attributes item,
                                                       const std::string& condition) {
  wire::WriteItemRequest request;
  request.set_table_name(table);
  request.set_key_or_item(Encode(item));
  request.set_condition_expression(condition);
  return Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); });
}

absl::StatusOr<wire::WriteItemReply> TestDatabase::Update(const wire::WriteItemRequest& request) {
  return Await<wire::WriteItemReply>([&](auto done) { database_->UpdateItem(request, std::move(done)); });
}

absl::StatusOr<wire::WriteItemReply> TestDatabase::Delete(const std::string& table, Attributes key) {
  wire::WriteItemRequest request;
  request.set_table_name(table);
  request.set_key_or_item(Encode(key));
  return Await<wire::WriteItemReply>([&](auto done) { database_->DeleteItem(request, std::move(done)); });
}

std::string TestDatabase::Get(const std::string& table, Attributes key) {
  wire::GetItemRequest request;
  request.set_table_name(table);
  request.set_key(Encode(key));
  auto reply = Await<wire::GetItemReply>([&](auto done) { database_->GetItem(request, std::move(done)); });
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() && reply->has_item() ? Show(reply->item()) : "";
}

absl::StatusOr<wire::TransactWriteItemsReply> TestDatabase::Transact(
    const wire::TransactWriteItemsRequest& request) {
  return Await<wire::TransactWriteItemsReply>(
      [&](auto done) { database_->TransactWriteItems(request, std::move(done)); });
}

absl::StatusOr<storage::Page> TestDatabase::Query(const wire::PageRequest& request) {
  return Await<storage::Page>([&](auto done) { database_->Query(request, std::move(done)); });
}

absl::StatusOr<storage::Page> TestDatabase::Scan(const wire::PageRequest& request) {
  return Await<storage::Page>([&](auto done) { database_->Scan(request, std::move(done)); });
}

absl::StatusOr<v1::ReadChangesReply> TestDatabase::ReadChanges(uint64_t after) {
  v1::ReadChangesRequest request;
  request.set_after_sequence(after);
  return Await<v1::ReadChangesReply>([&](auto done) { database_->ReadChanges(request, std::move(done)); });
}

void TestDatabase::CheckIsClean() {
  auto reply =
      Await<v1::CheckDatabaseReply>([&](auto done) { database_->CheckDatabase({}, std::move(done)); });
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->finding_count(), 0) << reply->DebugString();
  ExpectExactStatistics(*database_);
}

v1::CreateTableRequest TableRequest(const std::string& name, bool sorted) {
  v1::CreateTableRequest request;
  request.set_table_name(name);
  request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
  auto add = [&request](const char* attribute, v1::KeyType type) {
    auto* definition = request.add_attribute_definitions();
    definition->set_attribute_name(attribute);
    definition->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
    auto* element = request.add_key_schema();
    element->set_attribute_name(attribute);
    element->set_key_type(type);
  };
  add("pk", v1::KEY_TYPE_HASH);
  if (sorted) add("sk", v1::KEY_TYPE_RANGE);
  return request;
}

namespace {

// Adds `attribute`, "name:type", to the key of an index, and defines the attribute if it is not defined yet.
template <typename Index>
void AddKeyAttribute(v1::CreateTableRequest* table, Index* index, const std::string& attribute,
                     v1::KeyType key_type) {
  std::string attribute_name = attribute.substr(0, attribute.size() - 2);
  auto* element = index->add_key_schema();
  element->set_attribute_name(attribute_name);
  element->set_key_type(key_type);
  for (const auto& definition : table->attribute_definitions()) {
    if (definition.attribute_name() == attribute_name) return;
  }
  auto* definition = table->add_attribute_definitions();
  definition->set_attribute_name(attribute_name);
  char type = attribute.back();
  definition->set_attribute_type(type == 'S'   ? v1::SCALAR_ATTRIBUTE_TYPE_S
                                 : type == 'N' ? v1::SCALAR_ATTRIBUTE_TYPE_N
                                               : v1::SCALAR_ATTRIBUTE_TYPE_B);
}

}  // namespace

void AddIndex(v1::CreateTableRequest* table, const std::string& name,
              std::initializer_list<std::string> attributes, int partition_count,
              v1::ProjectionType projection, std::initializer_list<std::string> included) {
  auto* index = table->add_global_secondary_indexes();
  index->set_index_name(name);
  for (const std::string& attribute : attributes) {
    AddKeyAttribute(table, index, attribute, partition_count-- > 0 ? v1::KEY_TYPE_HASH : v1::KEY_TYPE_RANGE);
  }
  index->mutable_projection()->set_projection_type(projection);
  for (const std::string& attribute : included)
    index->mutable_projection()->add_non_key_attributes(attribute);
}

void AddLocalIndex(v1::CreateTableRequest* table, const std::string& name, const std::string& sort,
                   v1::ProjectionType projection, std::initializer_list<std::string> included) {
  auto* index = table->add_local_secondary_indexes();
  index->set_index_name(name);
  *index->add_key_schema() = table->key_schema(0);
  AddKeyAttribute(table, index, sort, v1::KEY_TYPE_RANGE);
  index->mutable_projection()->set_projection_type(projection);
  for (const std::string& attribute : included)
    index->mutable_projection()->add_non_key_attributes(attribute);
}

}  // namespace itemdb::testing
