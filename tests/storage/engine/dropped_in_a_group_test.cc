// One commit group deletes a table and then writes to it. The size statistics of the table are removed with
// the deletion, so a write that still reached the table would count items that do not exist.
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

class DroppedInAGroup : public ::testing::Test {
 protected:
  // Opens the gate, because closing the database waits for the file that is being written.
  void TearDown() override { gate_->Open(); }

  // Starts an asynchronous operation; the future has its status.
  template <typename Reply, typename Begin>
  static std::future<absl::Status> Later(Begin begin) {
    auto promise = std::make_shared<std::promise<absl::Status>>();
    std::future<absl::Status> status = promise->get_future();
    begin([promise](absl::StatusOr<Reply> reply) { promise->set_value(reply.status()); });
    return status;
  }

  static wire::WriteItemRequest Put(const std::string& table, const std::string& pk) {
    wire::WriteItemRequest request;
    request.set_table_name(table);
    request.set_key_or_item(Encode({{"pk", S(pk)}, {"rank", N("1")}, {"sk", S("#")}}));
    return request;
  }
  static DatabaseOptions Gated(const std::string& directory, std::shared_ptr<rocksdb::FileSystem> gate) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.file_system = std::move(gate);
    return options;
  }

  TemporaryDirectory directory_;
  std::shared_ptr<GateFileSystem> gate_ = std::make_shared<GateFileSystem>(
      rocksdb::FileSystem::Default(), [](const std::string& path) { return path.ends_with(".log"); });
  TestDatabase database_{Gated(directory_.path() + "/data", gate_)};
};

TEST_F(DroppedInAGroup, TakesNoMoreWrites) {
  for (const char* name : {"Gone", "Kept"}) {
    v1::CreateTableRequest table = TableRequest(name);
    AddLocalIndex(&table, "ByRank", "rank:N", v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(table);
    ASSERT_TRUE(database_.Put(name, {{"pk", S("old")}, {"rank", N("1")}, {"sk", S("#")}}).ok());
  }
  // All writes that come while this group is synced form one group.
  gate_->Shut();
  std::thread first([&] { EXPECT_TRUE(database_.Put("Kept", {{"pk", S("1")}, {"sk", S("#")}}).ok()); });
  gate_->AwaitWaiting();
  v1::DeleteTableRequest drop;
  drop.set_table_name("Gone");
  auto dropped = Later<v1::DeleteTableReply>([&](auto done) { database_->DeleteTable(drop, done); });
  // Time for the DDL thread to submit the deletion to the pipeline. The test cannot see when it has; a write
  // that comes before the deletion is answered with OK.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::vector<std::future<absl::Status>> writes;
  for (const char* pk : {"old", "new"}) {
    const wire::WriteItemRequest put = Put("Gone", pk);
    writes.push_back(Later<wire::WriteItemReply>([&](auto done) { database_->PutItem(put, done); }));
    wire::WriteItemRequest deletion;
    deletion.set_table_name("Gone");
    deletion.set_key_or_item(Encode({{"pk", S(pk)}, {"sk", S("#")}}));
    writes.push_back(Later<wire::WriteItemReply>([&](auto done) { database_->DeleteItem(deletion, done); }));
    wire::TransactWriteItemsRequest transaction;
    *transaction.add_transact_items()->mutable_put() = put;
    *transaction.add_transact_items()->mutable_put() = Put("Kept", std::string("with ") + pk);
    writes.push_back(Later<wire::TransactWriteItemsReply>(
        [&](auto done) { database_->TransactWriteItems(transaction, done); }));
  }
  auto last = Later<wire::WriteItemReply>([&](auto done) { database_->PutItem(Put("Kept", "2"), done); });
  gate_->Open();
  first.join();
  EXPECT_TRUE(dropped.get().ok());
  for (std::future<absl::Status>& write : writes) {
    const absl::Status status = write.get();
    EXPECT_TRUE(status.ok() || absl::IsNotFound(status)) << status;
  }
  EXPECT_TRUE(last.get().ok());
  database_.CheckIsClean();
  database_.Reopen();
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
