// The metrics page of a daemon whose disk is full, and the counters of what it refuses.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "tests/metrics/metered_daemon.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::metrics {
namespace {

constexpr char kMakeNests[] = R"x({"TableName": "Nests", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})x";
constexpr char kPutNest[] = R"x({"TableName": "Nests", "Item": {"id": {"S": "a"}}})x";

TEST_F(MeteredDaemon, CountsWhatAFullDiskRefuses) {
  const std::string faults = directory_.path() + "/faults";
  std::filesystem::create_directory(faults);
  daemon_.set_environment(
      {"LD_PRELOAD=" + testing::BuildPath("tests/alerts/libalert_faults.so"), "ALERT_FAULTS=" + faults});
  Start({"--background-check-rate", "0", "--file-check-rate", "0"});
  Run({"CreateTable", kMakeNests, "Nests", "", 0, {{"tables", 1}, {"changes", 1}, {"commits", 1}}});
  Run({"PutItem",
       kPutNest,
       "Nests",
       "",
       0,
       {{"changes", 1}, {"commits", 1}, {"write Nests", 1}, {"items Nests", 1}, {"bytes Nests", 3}}});

  const auto put = [this] {
    EXPECT_TRUE(http_->Send(http::PostRequest("PutItem", kPutNest)));
    return http_->ReadReply().value_or(http::RawReply()).status;
  };
  testing::WriteFile(faults + "/full_disk", "");
  EXPECT_TRUE(testing::Await([&] { return put() == 503; })) << "the daemon looks now and then";
  LookAgain();
  Run({"PutItem", kPutNest, "Nests", "DISK_FULL", 0, {{"refused commits", 1}}});
  Run({"GetItem",
       R"x({"TableName": "Nests", "Key": {"id": {"S": "a"}}})x",
       "Nests",
       "",
       1,
       {{"read Nests", 0.5}}});

  std::filesystem::remove(faults + "/full_disk");
  EXPECT_TRUE(testing::Await([&] { return put() == 200; }));
  LookAgain();
  // The same item again: nothing changes.
  Run({"PutItem", kPutNest, "Nests", "", 0, {{"write Nests", 1}}});
}

}  // namespace
}  // namespace itemdb::metrics
