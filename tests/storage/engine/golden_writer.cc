// golden_writer DIRECTORY: makes DIRECTORY/data, a small data directory that uses every part of the format,
// and DIRECTORY/contents.txt, its content as text. Used once for each format version; see
// tests/storage/golden_v2/README.md.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/storage/engine/golden_contents.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

namespace fs = std::filesystem;

// Prints the error and ends the program: an incomplete golden directory is useless.
void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "golden_writer: %s\n", status.ToString().c_str());
  std::exit(1);
}

wire::WriteItemRequest Write(const std::string& table, Attributes key_or_item) {
  wire::WriteItemRequest request;
  request.set_table_name(table);
  request.set_key_or_item(Encode(key_or_item));
  return request;
}

void Create(Database& database, const v1::CreateTableRequest& request) {
  Check(Await<v1::CreateTableReply>([&](auto done) {
          database.CreateTable(request, std::move(done));
        }).status());
}
void Put(Database& database, const std::string& table, Attributes item) {
  Check(Await<wire::WriteItemReply>([&](auto done) {
          database.PutItem(Write(table, item), std::move(done));
        }).status());
}
void Delete(Database& database, const std::string& table, Attributes key) {
  Check(Await<wire::WriteItemReply>([&](auto done) {
          database.DeleteItem(Write(table, key), std::move(done));
        }).status());
}

v1::AttributeValue Bool(bool truth) {
  v1::AttributeValue value;
  value.set_bool_(truth);
  return value;
}
v1::AttributeValue Null() {
  v1::AttributeValue value;
  value.set_null(true);
  return value;
}
v1::AttributeValue List(std::initializer_list<v1::AttributeValue> elements) {
  v1::AttributeValue value;
  value.mutable_l();
  for (const auto& element : elements) *value.mutable_l()->add_values() = element;
  return value;
}
v1::AttributeValue Map(Attributes attributes) {
  v1::AttributeValue value;
  *value.mutable_m()->mutable_attributes() = Item(attributes).attributes();
  return value;
}

// A table whose key attribute "key" has the type `type`.
v1::CreateTableRequest KeyTable(const std::string& name, v1::ScalarAttributeType type,
                                v1::StreamViewType view) {
  v1::CreateTableRequest table = TableRequest(name, /*sorted=*/false);
  table.mutable_attribute_definitions(0)->set_attribute_name("key");
  table.mutable_attribute_definitions(0)->set_attribute_type(type);
  table.mutable_key_schema(0)->set_attribute_name("key");
  table.set_stream_view_type(view);
  return table;
}

// Keys of each type in order, and values of all ten types.
void WriteTypes(Database& database) {
  Create(database, KeyTable("Numbers", v1::SCALAR_ATTRIBUTE_TYPE_N, v1::STREAM_VIEW_TYPE_NEW_IMAGE));
  for (const char* number :
       {"-9.9999999999999999999999999999999999999E+125", "-25", "-1E-130", "0", "1E-130", "0.1", "25.00",
        "123456789012345678901234567890.12345678", "9.9999999999999999999999999999999999999E+125"}) {
    Put(database, "Numbers", {{"key", N(number)}});
  }
  Create(database, KeyTable("Bytes", v1::SCALAR_ATTRIBUTE_TYPE_B, v1::STREAM_VIEW_TYPE_OLD_IMAGE));
  using namespace std::string_literals;
  for (const std::string& bytes : {"\0"s, "\0\0"s, "\0\xFF"s, "\1"s, "a\0b"s, "\xFF"s, "\xFF\xFF"s}) {
    Put(database, "Bytes", {{"key", B(bytes)}});
  }
  Delete(database, "Bytes", {{"key", B("\1")}});

  Create(database, KeyTable("Types", v1::SCALAR_ATTRIBUTE_TYPE_S, v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES));
  v1::AttributeValue strings, numbers, binaries;
  for (const char* text : {"pear", "apple", "\xC3\xA4pfel"}) strings.mutable_ss()->add_values(text);
  for (const char* number : {"10", "-1.5", "1e2"}) numbers.mutable_ns()->add_values(number);
  for (const std::string& bytes : {"\xFF"s, "\0"s, "ab"s}) binaries.mutable_bs()->add_values(bytes);
  Put(database, "Types",
      {{"key", S("all")},
       {"s", S("text")},
       {"n", N("1.50")},
       {"b", B("\0\x80\xFF"s)},
       {"ss", strings},
       {"ns", numbers},
       {"bs", binaries},
       {"l", List({S("x"), N("2"), List({}), Map({{"deep", List({Null(), Bool(false)})}})})},
       {"m", Map({{"b", N("2")}, {"a", S("first")}})},
       {"true", Bool(true)},
       {"false", Bool(false)},
       {"null", Null()}});
  Put(database, "Types", {{"key", S("empty")}, {"s", S("")}, {"b", B("")}, {"l", List({})}, {"m", Map({})}});
  Put(database, "Types", {{"key", S("a\0b \xE2\x82\xAC"s)}, {"changed", N("1")}});
  Put(database, "Types", {{"key", S("a\0b \xE2\x82\xAC"s)}, {"changed", N("2")}});
}

// Order entry: every kind of projection, an index with a key of several attributes, a sparse index.
void CreateOrders(Database& database) {
  v1::CreateTableRequest table = TableRequest("Order");
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  AddIndex(&table, "OrderByCustomerDate", {"customer:S", "date:S"}, 1, v1::PROJECTION_TYPE_INCLUDE,
           {"status", "total"});
  AddIndex(&table, "OpenOrdersByDate", {"status:S", "shard:N", "date:S", "total:N"}, 2,
           v1::PROJECTION_TYPE_KEYS_ONLY);
  AddIndex(&table, "OrderByTotal", {"total:N"}, 1, v1::PROJECTION_TYPE_ALL);
  Create(database, table);
}

void PutOrders(Database& database, int from, int to) {
  for (int i = from; i < to; ++i) {
    std::string id = "order-" + std::to_string(i);
    Put(database, "Order",
        {{"pk", S(id)},
         {"sk", S("#")},
         {"customer", S("customer-" + std::to_string(i % 3))},
         {"date", S("2025-10-" + std::to_string(10 + i))},
         {"status", S("OPEN")},
         {"shard", N(std::to_string(i % 2))},
         {"total", N(std::to_string(i * 10 - 25) + ".5")}});
    Put(database, "Order",
        {{"pk", S(id)}, {"sk", S("line-1")}, {"product", S("product-" + std::to_string(i))}});
  }
}

void CloseOrder(Database& database, const std::string& id) {
  wire::WriteItemRequest request = Write("Order", {{"pk", S(id)}, {"sk", S("#")}});
  request.set_update_expression("SET #s = :closed REMOVE #shard");
  SetName(&request, "#s", "status");
  SetName(&request, "#shard", "shard");
  SetValue(&request, ":closed", S("CLOSED"));
  Check(Await<wire::WriteItemReply>([&](auto done) {
          database.UpdateItem(request, std::move(done));
        }).status());
}

// A local index, so that there are sizes of item collections, and a time to live.
void WriteThreads(Database& database) {
  v1::CreateTableRequest table = TableRequest("Thread");
  AddLocalIndex(&table, "ByViews", "views:N", v1::PROJECTION_TYPE_INCLUDE, {"title"});
  Create(database, table);
  for (int i = 0; i < 6; ++i) {
    Put(database, "Thread",
        {{"pk", S("forum-" + std::to_string(i % 2))},
         {"sk", S("thread-" + std::to_string(i))},
         {"title", S("title " + std::to_string(i))},
         {"views", N(std::to_string(100 - i))},
         {"expires", N("32503680000")}});
  }
  v1::UpdateTimeToLiveRequest request;
  request.set_table_name("Thread");
  request.mutable_time_to_live_specification()->set_attribute_name("expires");
  request.mutable_time_to_live_specification()->set_enabled(true);
  Check(Await<v1::UpdateTimeToLiveReply>([&](auto done) {
          database.UpdateTimeToLive(request, std::move(done));
        }).status());
  v1::DescribeTimeToLiveRequest describe;
  describe.set_table_name("Thread");
  while (database.DescribeTimeToLive(describe)->time_to_live_status() != v1::TIME_TO_LIVE_STATUS_ENABLED)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The token is kept for ten minutes; the written item is there at any time.
void PutOnce(Database& database) {
  wire::WriteItemRequest request = Write("Thread", {{"pk", S("forum-2")}, {"sk", S("once")}});
  request.set_client_request_token("a token");
  Check(Await<wire::WriteItemReply>([&](auto done) { database.PutItem(request, std::move(done)); }).status());
}

void MoveLine(Database& database) {
  wire::TransactWriteItemsRequest request;
  *request.add_transact_items()->mutable_delete_() =
      Write("Order", {{"pk", S("order-1")}, {"sk", S("line-1")}});
  *request.add_transact_items()->mutable_put() =
      Write("Order", {{"pk", S("order-2")}, {"sk", S("line-2")}, {"product", S("product-1")}});
  *request.add_transact_items()->mutable_put() =
      Write("Numbers", {{"key", N("7")}, {"why", S("a transaction")}});
  Check(Await<wire::TransactWriteItemsReply>([&](auto done) {
          database.TransactWriteItems(request, std::move(done));
        }).status());
}

std::unique_ptr<Database> Open(const DatabaseOptions& options) {
  auto opened = Database::Open(options);
  Check(opened.status());
  return *std::move(opened);
}

void Run(const std::string& directory) {
  TemporaryDirectory temporary;
  auto disk = std::make_shared<PowerLossFileSystem>(temporary.path());
  disk->SetFreeSpace(200 << 20);  // Too little for a ballast.
  const std::string data = temporary.path() + "/data";
  DatabaseOptions options = TestDatabase::DefaultOptions(data);
  options.file_system = disk;
  options.reclaim_interval = std::chrono::hours(1);  // Keeps the deleted table in the directory.
  {
    std::unique_ptr<Database> database = Open(options);
    WriteTypes(*database);
    CreateOrders(*database);
    PutOrders(*database, 0, 6);
    WriteThreads(*database);
    PutOnce(*database);
    Create(*database, TableRequest("Gone"));
    Put(*database, "Gone", {{"pk", S("p")}, {"sk", S("s")}});
    v1::DeleteTableRequest gone;
    gone.set_table_name("Gone");
    Check(Await<v1::DeleteTableReply>([&](auto done) {
            database->DeleteTable(gone, std::move(done));
          }).status());
  }
  // Opening has written everything into table files; the following writes stay in the log.
  std::unique_ptr<Database> database = Open(options);
  PutOrders(*database, 6, 8);
  CloseOrder(*database, "order-3");
  Delete(*database, "Order", {{"pk", S("order-5")}, {"sk", S("#")}});
  MoveLine(*database);
  std::string contents = DescribeContents(*database);
  database.reset();

  fs::create_directories(directory);
  fs::copy(data, directory + "/data", fs::copy_options::recursive);
  fs::remove(directory + "/data/LOCK");
  for (const auto& entry : fs::directory_iterator(directory + "/data/rocksdb")) {
    // Not needed for opening; OPTIONS contains the path of the directory where it was made.
    std::string name = entry.path().filename();
    if (name == "LOCK" || name.starts_with("OPTIONS-")) fs::remove(entry.path());
  }
  std::ofstream(directory + "/contents.txt", std::ios::binary) << contents;
}

}  // namespace
}  // namespace itemdb::testing

int main(int argc, char** argv) {
  if (argc != 2 || std::filesystem::exists(std::string(argv[1]) + "/data")) {
    std::fprintf(stderr, "usage: golden_writer DIRECTORY, where DIRECTORY/data does not exist yet\n");
    return 2;
  }
  itemdb::testing::Run(argv[1]);
  return 0;
}
