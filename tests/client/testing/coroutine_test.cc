// co_await on the operations of a client.
#include "itemdb/coroutine.h"

#include <coroutine>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/testing/fake_database.h"

namespace {

using namespace itemdb;  // NOLINT: as a user's test would.
using itemdb::testing::FakeDatabase;
using itemdb::testing::Fault;

// The least type for coroutines: begins at once, and its end is a future. The future is ready when the frame
// is gone, and its client with it: the last client of a fake closes the database, which must not happen on
// the library's thread while the process ends.
struct Task {
  struct promise_type {
    struct End {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> coroutine) const noexcept {
        std::promise<absl::Status> ended = std::move(coroutine.promise().ended);
        absl::Status status = std::move(coroutine.promise().status);
        coroutine.destroy();
        ended.set_value(std::move(status));
      }
      void await_resume() const noexcept {}
    };
    std::promise<absl::Status> ended;
    absl::Status status;

    Task get_return_object() { return {ended.get_future()}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    End final_suspend() noexcept { return {}; }
    void return_value(absl::Status result) { status = std::move(result); }
    void unhandled_exception() { std::terminate(); }
  };
  std::future<absl::Status> ended;
};

class CoroutineTest : public ::testing::Test {
 protected:
  CoroutineTest() {
    EXPECT_TRUE(client_
                    .CreateTable({.table_name = "Product",
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
  }

  std::unique_ptr<FakeDatabase> database_ = *FakeDatabase::Open();
  Client client_ = database_->NewClient();
};

PutItemRequest PutOf(const std::string& id, int stock = 0) {
  return {.table_name = "Product", .item = {{"id", id}, {"stock", stock}}};
}
GetItemRequest GetOf(const std::string& id) { return {.table_name = "Product", .key = {{"id", id}}}; }

Task PutAndCount(CoClient client, int items, int* found) {
  for (int i = 0; i < items; ++i) {
    const PutItemRequest request = PutOf(std::to_string(i), i);
    absl::StatusOr<WriteResult> put = co_await client.PutItem(request);
    if (!put.ok()) co_return put.status();
  }
  const GetItemRequest key = GetOf("3");
  const CallOptions options = {.timeout = absl::Seconds(30)};
  absl::StatusOr<GetItemResult> got = co_await client.GetItem(key, options);
  if (!got.ok()) co_return got.status();
  EXPECT_EQ((*got->item)["stock"], 3);
  const BatchExecuteStatementRequest batch = {
      .statements = {{.statement = "SELECT stock FROM Product WHERE id = ?", .parameters = {"4"}}}};
  absl::StatusOr<BatchExecuteStatementResult> statements = co_await client.BatchExecuteStatement(batch);
  if (!statements.ok()) co_return statements.status();
  EXPECT_EQ(statements->responses[0].item, (Item{{"stock", 4}}));
  const ScanRequest all = {.table_name = "Product"};
  absl::StatusOr<ItemPage> page = co_await client.Scan(all);
  if (!page.ok()) co_return page.status();
  *found = static_cast<int>(page->items.size());
  co_return absl::OkStatus();
}

TEST_F(CoroutineTest, GoesOnWithTheResultOfEachCall) {
  int found = 0;
  EXPECT_TRUE(PutAndCount(CoClient(client_), 20, &found).ended.get().ok());
  EXPECT_EQ(found, 20);
}

Task LifeOfATable(CoClient client) {
  const std::string name = "Nails";
  const TableDefinition nails = {.table_name = name,
                                 .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                 .key_schema = {{"id", KeyType::kHash}}};
  absl::StatusOr<TableResult> created = co_await client.CreateTable(nails);
  if (!created.ok()) co_return created.status();
  const TagTableRequest tags = {.table_name = name, .tags = {{"a", "1"}, {"b", "2"}}};
  absl::StatusOr<TagTableResult> tagged = co_await client.TagTable(tags);
  if (!tagged.ok()) co_return tagged.status();
  const UntagTableRequest untag = {.table_name = name, .tag_keys = {"a"}};
  absl::StatusOr<TagTableResult> untagged = co_await client.UntagTable(untag);
  if (!untagged.ok()) co_return untagged.status();
  const UpdateTimeToLiveRequest time_to_live = {
      .table_name = name, .enabled = true, .attribute_name = "until"};
  absl::StatusOr<UpdateTimeToLiveResult> updated = co_await client.UpdateTimeToLive(time_to_live);
  if (!updated.ok()) co_return updated.status();
  absl::StatusOr<TimeToLiveResult> shown = co_await client.DescribeTimeToLive(name);
  EXPECT_TRUE(shown.ok() && shown->attribute_name == "until");
  const UpdateTableRequest protect = {.table_name = name, .deletion_protection_enabled = true};
  absl::StatusOr<TableResult> protect_done = co_await client.UpdateTable(protect);
  if (!protect_done.ok()) co_return protect_done.status();
  const ListTablesRequest all = {};
  absl::StatusOr<ListTablesResult> tables = co_await client.ListTables(all);
  EXPECT_TRUE(tables.ok() && tables->table_names.size() == 2);
  absl::StatusOr<TableResult> described = co_await client.DescribeTable(name);
  if (!described.ok()) co_return described.status();
  EXPECT_EQ(described->table.definition.tags, (std::map<std::string, std::string>{{"b", "2"}}));
  EXPECT_TRUE(described->table.definition.deletion_protection_enabled);
  absl::StatusOr<TableResult> refused = co_await client.DeleteTable(name);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument) << refused.status();
  const UpdateTableRequest release = {.table_name = name, .deletion_protection_enabled = false};
  absl::StatusOr<TableResult> released = co_await client.UpdateTable(release);
  if (!released.ok()) co_return released.status();
  absl::StatusOr<TableResult> deleted = co_await client.DeleteTable(name);
  co_return deleted.status();
}

TEST_F(CoroutineTest, HasTheOperationsOnTables) {
  const absl::Status status = LifeOfATable(CoClient(client_)).ended.get();
  EXPECT_TRUE(status.ok()) << status;
}

Task PutOnce(CoClient client) {
  const PutItemRequest request = PutOf("x");
  absl::StatusOr<WriteResult> put = co_await client.PutItem(request);
  co_return put.status();
}

template <typename Request>
concept Accepted = requires(const CoClient& client, Request&& request) {
  client.PutItem(std::forward<Request>(request));
};

// gcc 12 destroys them twice.
TEST_F(CoroutineTest, TemporariesDoNotCompile) {
  static_assert(Accepted<const PutItemRequest&> && Accepted<PutItemRequest&>);
  static_assert(!Accepted<PutItemRequest> && !Accepted<const PutItemRequest>);
}

TEST_F(CoroutineTest, GetsErrorsAsValues) {
  database_->FailNext({.calls = 1, .fault = Fault::kLostReply});
  EXPECT_EQ(ReasonOf(PutOnce(CoClient(client_)).ended.get()), kReasonWriteOutcomeUnknown);
}

TEST_F(CoroutineTest, ACallThatIsNotAwaitedIsNotSent) {
  const CoClient client(client_);
  const PutItemRequest request = PutOf("x");
  { [[maybe_unused]] const auto call = client.PutItem(request); }
  EXPECT_EQ(database_->calls("PutItem"), 0);
}

Task BlockAfterwards(CoClient client) {
  const GetItemRequest key = GetOf("x");
  absl::StatusOr<GetItemResult> got = co_await client.GetItem(key);
  if (!got.ok()) co_return got.status();
  co_return client.client().GetItem(GetOf("x")).status();
}

// A thread of the library runs the callbacks of all clients.
TEST_F(CoroutineTest, MayBlockOnAThreadOfItsOwnOnly) {
  EXPECT_EQ(ReasonCodeOf(BlockAfterwards(CoClient(client_)).ended.get()), Reason::kBlockingCallInCallback);
  std::thread own;
  const CoClient elsewhere(client_, [&](std::coroutine_handle<> coroutine) {
    own = std::thread([coroutine] { coroutine.resume(); });
  });
  EXPECT_TRUE(BlockAfterwards(elsewhere).ended.get().ok());
  own.join();
}

}  // namespace
