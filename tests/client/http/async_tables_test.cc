// The operations on tables without blocking, over gRPC and over HTTP to one itemd.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "itemdb/client.h"
#include "itemdb/errors.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

TableDefinition Nails(const std::string& name) {
  return {.table_name = name,
          .attribute_definitions = {{"id", ScalarAttributeType::kString}},
          .key_schema = {{"id", KeyType::kHash}}};
}

class AsyncTables : public ::testing::Test {
 protected:
  AsyncTables() {
    const absl::Status started = daemon_.Start({"--http-listen", "127.0.0.1:0", "--status-delay", "500ms"});
    EXPECT_TRUE(started.ok()) << started;
  }

  // The life of a table, each step with a future; the result of every step as text.
  static std::string Life(const Client& client, const std::string& name) {
    std::string text;
    const auto say = [&](const char* what, const absl::Status& status) {
      text += std::string(what) + ": " + (status.ok() ? "OK" : std::string(ReasonOf(status))) + "\n";
    };
    say("create", client.CreateTableAsync(Nails(name)).get().status());
    say("create again", client.CreateTableAsync(Nails(name)).get().status());
    const absl::StatusOr<TableResult> described = client.DescribeTableAsync(name).get();
    say("describe", described.status());
    if (described.ok() && described->table.table_status == TableStatus::kActive) text += "it is usable\n";
    say("tag", client.TagTableAsync({.table_name = name, .tags = {{"a", "1"}}}).get().status());
    say("untag", client.UntagTableAsync({.table_name = name, .tag_keys = {"a"}}).get().status());
    say("time to live",
        client.UpdateTimeToLiveAsync({.table_name = name, .enabled = true, .attribute_name = "until"})
            .get()
            .status());
    const absl::StatusOr<TimeToLiveResult> shown = client.DescribeTimeToLiveAsync(name).get();
    say("describe it", shown.status());
    if (shown.ok()) text += shown->attribute_name + "\n";
    say("update",
        client.UpdateTableAsync({.table_name = name, .deletion_protection_enabled = true}).get().status());
    say("delete it protected", client.DeleteTableAsync(name).get().status());
    say("update",
        client.UpdateTableAsync({.table_name = name, .deletion_protection_enabled = false}).get().status());
    say("delete", client.DeleteTableAsync(name).get().status());
    say("describe", client.DescribeTableAsync(name).get().status());
    const absl::StatusOr<ListTablesResult> listed = client.ListTablesAsync({.limit = 10}).get();
    text += std::to_string(listed.ok() ? listed->table_names.size() : -1) + " tables\n";
    return text;
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(AsyncTables, AnswerTheSameOverBothTransports) {
  const Client grpc = *Client::Open({.endpoint = daemon_.endpoint()});
  const Client http = *Client::Open({.endpoint = "http://" + daemon_.http_endpoint()});
  const std::string over_grpc = Life(grpc, "Nails");
  EXPECT_EQ(
      over_grpc,
      "create: OK\ncreate again: RESOURCE_IN_USE\ndescribe: OK\nit is usable\ntag: OK\nuntag: OK\n"
      "time to live: OK\ndescribe it: OK\nuntil\nupdate: OK\ndelete it protected: VALIDATION\nupdate: OK\n"
      "delete: OK\ndescribe: RESOURCE_NOT_FOUND\n0 tables\n");
  EXPECT_EQ(Life(http, "Nails"), over_grpc);
}

// Over HTTP the daemon shows a new table as CREATING for half a second, and the client asks until it is
// usable.
TEST_F(AsyncTables, TheCallReturnsBeforeATableIsUsable) {
  const Client http = *Client::Open({.endpoint = "http://" + daemon_.http_endpoint()});
  std::vector<std::future<absl::StatusOr<TableResult>>> created;
  for (int i = 0; i < 5; ++i) created.push_back(http.CreateTableAsync(Nails("Nails" + std::to_string(i))));
  EXPECT_EQ(created.back().wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  for (auto& result : created) {
    const absl::StatusOr<TableResult> table = result.get();
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->table.table_status, TableStatus::kActive);
  }
}

}  // namespace
}  // namespace itemdb
