// itemctl with a URL: DynamoDB's HTTP protocol instead of gRPC, against the real daemon.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/processes/daemon_process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/itemctl_fixture.h"

namespace itemdb::tools {
namespace {

class HttpCommandsTest : public ::testing::Test {
 protected:
  HttpCommandsTest() {
    const absl::Status started =
        daemon_.Start({"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"});
    EXPECT_TRUE(started.ok()) << started;
  }

  Outcome Call(const std::string& endpoint, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--endpoint", endpoint});
    return RunTool(std::move(arguments));
  }
  Outcome OverHttp(std::vector<std::string> arguments) { return Call(url(), std::move(arguments)); }
  Outcome OverGrpc(std::vector<std::string> arguments) {
    return Call(daemon_.endpoint(), std::move(arguments));
  }
  std::string url() const { return "http://" + daemon_.http_endpoint(); }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(HttpCommandsTest, ItemsTablesAndStatementsPrintWhatTheyPrintOverGrpc) {
  ASSERT_EQ(OverHttp({"order-entry", "load"}).out, "{\"written\": 27, \"kept\": 0}\n");
  const std::vector<std::string> kReads[] = {
      {"table", "list"},
      {"item", "get", "Customer", R"({"customer_id": "cust_001"})"},
      {"item", "get", "Customer", R"({"customer_id": "nobody"})"},
      {"item", "get", "Customer", R"({"wrong": "cust_001"})"},
      {"item", "get", "NoTable", R"({"customer_id": "cust_001"})"},
      {"scan", "Product"},
      {"scan", "Product", "--limit", "2", "--max-items", "3"},
      {"query", "Product", "--pk", "prod_100"},
      {"count", "Order"},
      {"partiql", "SELECT * FROM Product WHERE product_id = 'prod_100'"},
      {"batch-get", "Customer", R"([{"customer_id": "cust_002"}, {"customer_id": "cust_001"}])"},
      {"order-entry", "all"},
      {"ttl", "status", "Order"},
      {"contributors", "list"},
      {"contributors", "enable", "NoTable"},
      {"model", "check", testing::SourcePath("examples/order_entry")},
  };
  for (const std::vector<std::string>& arguments : kReads) {
    SCOPED_TRACE(arguments[0] + " " + arguments[1]);
    const Outcome http = OverHttp(arguments);
    const Outcome grpc = OverGrpc(arguments);
    EXPECT_EQ(http.out, grpc.out);
    EXPECT_EQ(http.exit_code, grpc.exit_code) << http.err;
  }
  for (const char* action : {"enable", "disable"}) {
    SCOPED_TRACE(action);
    // Over HTTP the answer says ENABLING and DISABLING.
    EXPECT_EQ(OverHttp({"contributors", action, "Order"}).exit_code, 0);
    EXPECT_EQ(OverHttp({"contributors", "list"}).out, OverGrpc({"contributors", "list"}).out);
    EXPECT_EQ(OverGrpc({"contributors", "list"}).out.find("Order") != std::string::npos,
              action == std::string("enable"));
  }
  EXPECT_EQ(OverHttp({"item", "put", "Customer", R"({"customer_id": "cust_900", "n": 1})"}).exit_code, 0);
  EXPECT_EQ(OverHttp({"item", "get", "Customer", R"({"customer_id": "cust_900"})"}).out,
            "{\"customer_id\": \"cust_900\", \"n\": 1}\n");
  EXPECT_EQ(OverHttp({"table", "delete", "Customer", "--yes"}).exit_code, 0);
  EXPECT_EQ(OverHttp({"table", "list"}).out.find("Customer"), std::string::npos);
}

TEST_F(HttpCommandsTest, ModelsAreAppliedAndRun) {
  for (const char* folder :
       {"examples/order_entry", "examples/ecommerce_single_table", "examples/one_to_many"}) {
    SCOPED_TRACE(folder);
    const Outcome applied = OverHttp({"model", "apply", testing::SourcePath(folder)});
    EXPECT_EQ(applied.exit_code, 0) << applied.err;
    const Outcome run = OverHttp({"model", "run", testing::SourcePath(folder)});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    const Outcome check = OverHttp({"model", "check", testing::SourcePath(folder)});
    EXPECT_EQ(check.exit_code, 0) << check.out;
  }
}

TEST_F(HttpCommandsTest, GenerateWritesTheSameItemsAsOverGrpc) {
  const std::vector<std::string> kGenerate = {"generate", "--orders",    "60", "--products",
                                              "20",       "--employees", "10"};
  ASSERT_EQ(OverHttp(kGenerate).exit_code, 0);
  std::vector<std::string> over_http;
  for (const char* table : {"Order", "Product", "Customer", "Employee"})
    over_http.push_back(OverGrpc({"scan", table}).out);
  EXPECT_THAT(over_http, ::testing::Each(::testing::Not("")));
  for (const char* table : {"Order", "Product", "Customer", "Employee"})
    ASSERT_EQ(OverGrpc({"table", "delete", table, "--yes"}).exit_code, 0);
  ASSERT_EQ(OverGrpc(kGenerate).exit_code, 0);
  std::vector<std::string> over_grpc;
  for (const char* table : {"Order", "Product", "Customer", "Employee"})
    over_grpc.push_back(OverGrpc({"scan", table}).out);
  EXPECT_EQ(over_http, over_grpc);
}

TEST_F(HttpCommandsTest, OtherCommandsSayThatTheyAreNotOffered) {
  ASSERT_EQ(OverHttp({"order-entry", "load"}).exit_code, 0);
  struct Row {
    std::vector<std::string> arguments;
    std::string method;
  };
  const Row kRows[] = {
      {{"status"}, "itemdb.v1.Admin/GetStatus"},
      {{"check"}, "itemdb.v1.Admin/CheckDatabase"},
      {{"changes", "read"}, "itemdb.v1.Changes/ReadChanges"},
      {{"change-holds", "release", "mover", "--yes"}, "itemdb.v1.Changes/ReleaseChanges"},
      {{"backup", "create"}, "itemdb.v1.Admin/CreateDatabaseBackup"},
      {{"table-backup", "list"}, "itemdb.v1.Backups/ListBackups"},
      {{"export", "list"}, "itemdb.v1.Exports/ListExports"},
      {{"import", "list"}, "itemdb.v1.Imports/ListImports"},
      {{"patterns"}, "itemdb.v1.Admin/GetAccessPatterns"},
      {{"contributors", "show", "Order"}, "itemdb.v1.Admin/GetTopKeys"},
      {{"scan", "Order", "--skip-damage"}, "skip_damage"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.arguments[0]);
    const Outcome outcome = OverHttp(row.arguments);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, ::testing::AllOf(::testing::HasSubstr(row.method), ::testing::HasSubstr("HTTP"),
                                              ::testing::HasSubstr("gRPC address (--listen)")));
  }
}

// The address of one protocol with the other protocol's form.
TEST_F(HttpCommandsTest, AddressesOfTheOtherProtocolAreExplained) {
  const Outcome plain = Call(daemon_.http_endpoint(), {"table", "list"});
  EXPECT_THAT(plain.err, ::testing::HasSubstr("write " + url() + " to speak that"));
  const Outcome metrics = Call(daemon_.metrics_endpoint(), {"table", "list"});
  EXPECT_EQ(metrics.exit_code, 5);
  EXPECT_THAT(metrics.err, ::testing::HasSubstr("an itemd's address for metrics and the console"));
  const Outcome grpc = Call("http://" + daemon_.endpoint(), {"table", "list"});
  EXPECT_NE(grpc.exit_code, 0);
  EXPECT_THAT(grpc.err, ::testing::HasSubstr("http://" + daemon_.endpoint()));
  const Outcome nobody = Call("http://127.0.0.1:1", {"--timeout", "2", "table", "list"});
  EXPECT_EQ(nobody.exit_code, Call("127.0.0.1:1", {"--timeout", "2", "table", "list"}).exit_code);
  EXPECT_THAT(nobody.err, ::testing::HasSubstr("http://127.0.0.1:1 cannot be reached"));
  EXPECT_THAT(Call("ftp://127.0.0.1:1", {"table", "list"}).err,
              ::testing::HasSubstr("has an unknown scheme"));
}

}  // namespace
}  // namespace itemdb::tools
