// Sends mutated request bytes through the path of a call: decode, database, encode. Run by `./dev fuzz`.
//
// An input is one byte that chooses the method, and the bytes of its request. Besides the checks of the
// sanitizers it tests three properties: every error has a reason and a message, every reply parses as the
// published message, and index entries, size statistics and change log agree with the items. The database
// exists as long as the process, so a failing input may depend on earlier inputs; the findings of the check
// then say what disagrees.
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "daemon/rpc/raw_call.h"
#include "itemdb/v1/data.pb.h"
#include "storage/base/check.h"
#include "tests/support/test_database.h"

namespace itemdb::fuzz {
namespace {

using testing::Item;
using testing::N;
using testing::S;
using testing::TestDatabase;

constexpr int kInputsPerCheck = 20'000;
constexpr char kTable[] = "orders";

struct World {
  TestDatabase database;
  int inputs = 0;

  // The key of the index starts with a non-key attribute, so that most writes move entries.
  World() {
    v1::CreateTableRequest request = testing::TableRequest(kTable);
    request.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
    testing::AddIndex(&request, "by-x", {"x:N", "pk:S"}, 1, v1::PROJECTION_TYPE_ALL);
    database.CreateTable(request);
  }
};

World& TheWorld() {
  static World world;
  return world;
}

std::string Flatten(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  ITEMDB_CHECK(bytes.DumpToSingleSlice(&slice).ok());
  return std::string(slice.begin(), slice.end());
}

template <typename Published, typename Reply>
void CheckAnswer(absl::StatusOr<Reply> answer) {
  if (!answer.ok()) {
    ITEMDB_CHECK(!storage::MessageOf(answer.status()).empty());
    ITEMDB_CHECK(!storage::ReasonOf(answer.status()).empty());
    ITEMDB_CHECK(answer.status().code() != absl::StatusCode::kInternal);
    ITEMDB_CHECK(answer.status().code() != absl::StatusCode::kDataLoss);
    return;
  }
  grpc::ByteBuffer bytes;
  static const auto memory = std::make_shared<daemon::CallMemory>(size_t{64} << 20);
  if (!daemon::EncodeReply(*std::move(answer), memory, &bytes).status.ok()) return;
  Published published;
  ITEMDB_CHECK(published.ParseFromString(Flatten(bytes)));
}

template <typename Request, typename Reply>
using Method = void (storage::Database::*)(Request, storage::Done<Reply>, storage::CancellationPtr);

template <typename Published, typename Request, typename Reply>
void Send(Method<Request, Reply> method, const std::string& bytes) {
  grpc::Slice slice(bytes);
  std::remove_cvref_t<Request> request;
  if (!daemon::DecodeRequest(grpc::ByteBuffer(&slice, 1), request)) return;
  CheckAnswer<Published>(testing::Await<Reply>([&](storage::Done<Reply> done) {
    ((*TheWorld().database).*method)(request, std::move(done), nullptr);
  }));
}

using CallFunction = void (*)(const std::string& bytes);

// The first byte of an input, modulo the number of calls, is an index into this array. Do not reorder it, or
// an existing corpus becomes useless.
const CallFunction kCalls[] = {
    [](const std::string& bytes) { Send<v1::PutItemReply>(&storage::Database::PutItem, bytes); },
    [](const std::string& bytes) { Send<v1::UpdateItemReply>(&storage::Database::UpdateItem, bytes); },
    [](const std::string& bytes) { Send<v1::DeleteItemReply>(&storage::Database::DeleteItem, bytes); },
    [](const std::string& bytes) {
      Send<v1::BatchWriteItemReply>(&storage::Database::BatchWriteItem, bytes);
    },
    [](const std::string& bytes) {
      Send<v1::TransactWriteItemsReply>(&storage::Database::TransactWriteItems, bytes);
    },
    [](const std::string& bytes) { Send<v1::GetItemReply>(&storage::Database::GetItem, bytes); },
    [](const std::string& bytes) { Send<v1::QueryReply>(&storage::Database::Query, bytes); },
    [](const std::string& bytes) { Send<v1::ScanReply>(&storage::Database::Scan, bytes); },
    [](const std::string& bytes) { Send<v1::ReadChangesReply>(&storage::Database::ReadChanges, bytes); },
    [](const std::string& bytes) { Send<v1::BatchGetItemReply>(&storage::Database::BatchGetItem, bytes); },
    [](const std::string& bytes) {
      Send<v1::TransactGetItemsReply>(&storage::Database::TransactGetItems, bytes);
    },
};

// One simple request for each method, as a start for mutations.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  auto add = [&](const google::protobuf::Message& request) {
    seeds.push_back(static_cast<char>(seeds.size()) + request.SerializeAsString());
  };
  v1::Item key = Item({{"pk", S("a")}, {"sk", S("1")}});
  v1::Item item = Item({{"pk", S("a")}, {"sk", S("1")}, {"x", N("-2.5e3")}, {"s", S("text")}});
  v1::AttributeValue* set = item.add_attributes()->mutable_value();
  item.mutable_attributes(4)->set_name("l");
  *set->mutable_l()->add_values() = S("in a list");
  set->mutable_l()->add_values()->mutable_ns()->add_values("7");

  v1::PutItemRequest put;
  put.set_table_name(kTable);
  *put.mutable_item() = item;
  put.set_condition_expression(
      "attribute_not_exists(pk) OR NOT (#x BETWEEN :a AND :b AND contains(l[0], :c))");
  (*put.mutable_expression_attribute_names())["#x"] = "x";
  (*put.mutable_expression_attribute_values())[":a"] = N("1");
  (*put.mutable_expression_attribute_values())[":b"] = N("2");
  (*put.mutable_expression_attribute_values())[":c"] = S("in");
  put.set_return_values(v1::RETURN_VALUES_ALL_OLD);
  add(put);

  v1::UpdateItemRequest update;
  update.set_table_name(kTable);
  *update.mutable_key() = key;
  update.set_update_expression(
      "SET x = if_not_exists(x, :a) + :a, l = list_append(l, :l) REMOVE s ADD n :a DELETE t :t");
  (*update.mutable_expression_attribute_values())[":a"] = N("1");
  *(*update.mutable_expression_attribute_values())[":l"].mutable_l()->add_values() = S("new");
  (*update.mutable_expression_attribute_values())[":t"].mutable_ss()->add_values("u");
  update.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
  add(update);

  v1::DeleteItemRequest remove;
  remove.set_table_name(kTable);
  *remove.mutable_key() = key;
  remove.set_condition_expression("size(s) > :a AND attribute_type(l, :t)");
  (*remove.mutable_expression_attribute_values())[":a"] = N("3");
  (*remove.mutable_expression_attribute_values())[":t"] = S("L");
  remove.set_return_values_on_condition_check_failure(v1::RETURN_VALUES_ON_CONDITION_CHECK_FAILURE_ALL_OLD);
  add(remove);

  v1::BatchWriteItemRequest batch;
  v1::TableWriteRequests* writes = batch.add_request_items();
  writes->set_table_name(kTable);
  *writes->add_write_requests()->mutable_put_request()->mutable_item() = item;
  *writes->add_write_requests()->mutable_delete_request()->mutable_key() =
      Item({{"pk", S("b")}, {"sk", S("0")}});
  add(batch);

  v1::TransactWriteItemsRequest transaction;
  v1::TransactUpdate* change = transaction.add_transact_items()->mutable_update();
  change->set_table_name(kTable);
  *change->mutable_key() = key;
  change->set_update_expression("SET s = s, x = :v");
  (*change->mutable_expression_attribute_values())[":v"] = N("9");
  v1::ConditionCheck* check = transaction.add_transact_items()->mutable_condition_check();
  check->set_table_name(kTable);
  *check->mutable_key() = Item({{"pk", S("b")}, {"sk", S("0")}});
  check->set_condition_expression("attribute_not_exists(pk)");
  add(transaction);

  v1::GetItemRequest get;
  get.set_table_name(kTable);
  *get.mutable_key() = key;
  get.set_projection_expression("l[0], #s, x");
  (*get.mutable_expression_attribute_names())["#s"] = "s";
  add(get);

  v1::QueryRequest query;
  query.set_table_name(kTable);
  query.set_key_condition_expression("pk = :p AND sk BETWEEN :a AND :b");
  query.set_filter_expression("x IN (:a, :b)");
  (*query.mutable_expression_attribute_values())[":p"] = S("a");
  (*query.mutable_expression_attribute_values())[":a"] = S("0");
  (*query.mutable_expression_attribute_values())[":b"] = S("2");
  query.set_limit(2);
  query.set_scan_index_forward(false);
  *query.mutable_exclusive_start_key() = Item({{"pk", S("a")}, {"sk", S("2")}});
  add(query);

  v1::ScanRequest scan;
  scan.set_table_name(kTable);
  scan.set_index_name("by-x");
  scan.set_limit(3);
  add(scan);

  v1::ReadChangesRequest changes;
  changes.set_limit(5);
  add(changes);

  v1::BatchGetItemRequest batch_get;
  v1::KeysAndAttributes* keys = batch_get.add_request_items();
  keys->set_table_name(kTable);
  *keys->add_keys() = key;
  *keys->add_keys() = Item({{"pk", S("b")}, {"sk", S("0")}});
  keys->set_projection_expression("x, l[0]");
  batch_get.set_max_reply_bytes(100);
  add(batch_get);

  v1::TransactGetItemsRequest transact_get;
  v1::TransactGet* one = transact_get.add_transact_items();
  one->set_table_name(kTable);
  *one->mutable_key() = key;
  add(transact_get);
  return seeds;
}

}  // namespace
}  // namespace itemdb::fuzz

// libFuzzer's entry points. The seeds are written into the corpus directory, the last argument, before
// libFuzzer reads it.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  google::protobuf::SetLogHandler(nullptr);
  itemdb::fuzz::TheWorld();
  std::filesystem::path corpus((*argv)[*argc - 1]);
  if (*argc < 2 || !std::filesystem::is_directory(corpus)) return 0;
  int number = 0;
  for (const std::string& seed : itemdb::fuzz::Seeds()) {
    std::ofstream(corpus / ("seed" + std::to_string(number++)), std::ios::binary) << seed;
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  if (bytes == 0) return 0;
  itemdb::fuzz::World& world = itemdb::fuzz::TheWorld();
  itemdb::fuzz::kCalls[data[0] % std::size(itemdb::fuzz::kCalls)](std::string(data + 1, data + bytes));
  if (++world.inputs % itemdb::fuzz::kInputsPerCheck == 0) {
    auto check = itemdb::testing::Await<itemdb::v1::CheckDatabaseReply>([&](auto done) {
      world.database->CheckDatabase(itemdb::v1::CheckDatabaseRequest(), std::move(done));
    });
    ITEMDB_CHECK(check.ok());
    for (const std::string& finding : check->findings()) std::fprintf(stderr, "%s\n", finding.c_str());
    ITEMDB_CHECK(check->finding_count() == 0);
  }
  return 0;
}
