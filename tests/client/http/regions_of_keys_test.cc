// --regions-apart with access keys: each key has tables of its own in each region.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "itemdb/client.h"
#include "tests/processes/daemon_process.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace itemdb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kRegionSecret[] = "a secret for all of them";

class RegionsOfKeysTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string keys = directory_.path() + "/keys.toml";
    std::string text;
    for (const char* id : {"alice", "bobby"})
      text +=
          std::string("[[key]]\nid = \"") + id + "\"\nsecret = \"" + kRegionSecret + "\"\nrole = \"admin\"\n";
    testing::WriteFile(keys, text);
    ASSERT_EQ(chmod(keys.c_str(), 0600), 0);
    const absl::Status started =
        daemon_.Start({"--http-listen", "127.0.0.1:0", "--access-keys", keys, "--regions-apart"});
    ASSERT_TRUE(started.ok()) << started;
  }

  Client Open(const std::string& key, const std::string& region) const {
    return *Client::Open({.endpoint = "http://" + daemon_.http_endpoint(),
                          .access_key_id = key,
                          .secret_access_key = kRegionSecret,
                          .http = {.region = region}});
  }
  static std::vector<std::string> Tables(const Client& client) {
    const auto tables = client.ListTables();
    EXPECT_TRUE(tables.ok()) << tables.status();
    return tables.ok() ? tables->table_names : std::vector<std::string>();
  }
  static void Create(const Client& client, const std::string& name) {
    const auto created = client.CreateTable({.table_name = name,
                                             .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                             .key_schema = {{"pk", KeyType::kHash}}});
    EXPECT_TRUE(created.ok()) << created.status();
  }

  testing::TemporaryDirectory directory_;
  e2e::DaemonProcess daemon_{directory_.path()};
};

TEST_F(RegionsOfKeysTest, AreApart) {
  Create(Open("alice", "eu-west-1"), "OfAlice");
  Create(Open("bobby", "eu-west-1"), "OfBobby");
  Create(Open("alice", "local"), "OfAll");
  EXPECT_THAT(Tables(Open("alice", "eu-west-1")), ElementsAre("OfAlice"));
  EXPECT_THAT(Tables(Open("bobby", "eu-west-1")), ElementsAre("OfBobby"));
  EXPECT_THAT(Tables(Open("alice", "eu-west-2")), IsEmpty());
  EXPECT_THAT(Tables(Open("bobby", "local")), ElementsAre("OfAll"));
  const auto grpc = Client::Open(
      {.endpoint = daemon_.endpoint(), .access_key_id = "alice", .secret_access_key = kRegionSecret});
  ASSERT_TRUE(grpc.ok()) << grpc.status();
  EXPECT_THAT(Tables(*grpc), ElementsAre("OfAll"));
}

}  // namespace
}  // namespace itemdb
