// The traceparent of a client arrives at the daemon, over gRPC and HTTP, in calls and in streams.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "itemdb/client.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

using ::testing::ContainsRegex;

class ClientTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(daemon_.Start({"--slow-request", "1us", "--http-listen", "127.0.0.1:0"}).ok());
    ASSERT_TRUE(Client::Open({.endpoint = daemon_.endpoint()})
                    ->CreateTable({.table_name = "Product",
                                   .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                   .key_schema = {{"id", KeyType::kHash}}})
                    .ok());
  }
  // Puts an item in the span 1 and scans in the span 2.
  void PutAndScan(const std::string& endpoint) {
    int spans = 0;
    Client client = *Client::Open({.endpoint = endpoint, .traceparent = [&] {
                                     return "00-0000000000000000000000000000000" + std::to_string(++spans) +
                                            "-00f067aa0ba902b7-00";
                                   }});
    ASSERT_TRUE(client.PutItem({.table_name = "Product", .item = {{"id", "saw"}}}).ok());
    ItemRange range = client.ScanStream({.table_name = "Product"});
    ASSERT_TRUE(range.Next().ok());
    ASSERT_EQ(daemon_.Terminate(), 0);
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(ClientTraces, CarryTheSpanOfTheProgram) {
  PutAndScan(daemon_.endpoint());
  EXPECT_THAT(daemon_.log(),
              ContainsRegex("Data/PutItem table=Product .*trace_id=00000000000000000000000000000001"));
  EXPECT_THAT(daemon_.log(),
              ContainsRegex("Data/ScanStream table=Product .*trace_id=00000000000000000000000000000002"));
}

TEST_F(ClientTraces, CarryTheSpanOfTheProgramOverHttp) {
  PutAndScan("http://" + daemon_.http_endpoint());
  EXPECT_THAT(daemon_.log(),
              ContainsRegex("http/PutItem table=Product .*trace_id=00000000000000000000000000000001"));
  EXPECT_THAT(daemon_.log(),
              ContainsRegex("http/Scan table=Product .*trace_id=00000000000000000000000000000002"));
}

}  // namespace
}  // namespace itemdb
