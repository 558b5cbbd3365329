// itemd dev and --in-memory: a database that is gone when its process ends, however it ends.
#include <fcntl.h>
#include <signal.h>

#include <filesystem>

#include "daemon/process/memory_directory.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

class InMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::error_code error;
    const auto space = std::filesystem::space(daemon::MemoryDirectory::kParent, error);
    if (space.available < 2 * daemon::MemoryDirectory::kMinFreeBytes)
      GTEST_SKIP() << "too little room in /dev/shm here";
  }

  // Starts itemd with `arguments` and waits until it serves.
  void Start(std::vector<std::string> arguments) {
    const std::string address_file = directory_.path() + "/itemd.json";
    std::filesystem::remove(address_file);
    arguments.insert(arguments.end(), {"--address-file", address_file});
    const daemon::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
    const daemon::Descriptor out(
        open((directory_.path() + "/out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    process_ = std::make_unique<ChildProcess>(
        testing::ProgramPath("itemd"), arguments,
        ChildProcess::Streams{.in = nothing.get(), .out = out.get(), .err = out.get()});
    const auto addresses = process_->AwaitAddresses(address_file);
    ASSERT_TRUE(addresses.ok()) << addresses.status() << Output();
    http_ = addresses->http.empty() ? "" : addresses->http.front();
    grpc_ = addresses->grpc.front();
  }

  std::string Output() const { return testing::ReadFile(directory_.path() + "/out"); }

  // The data directory that the process has open.
  std::string DataDirectory() const {
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process_->pid()) + "/fd")) {
      const std::string target = std::filesystem::read_symlink(entry.path(), ignored).string();
      if (target.starts_with(daemon::MemoryDirectory::kParent) && target.ends_with("/LOCK"))
        return std::filesystem::path(target).parent_path().string();
    }
    return "";
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<ChildProcess> process_;
  std::string http_;
  std::string grpc_;
};

TEST_F(InMemoryTest, DevServesBothProtocolsAndSaysHowToReachThem) {
  Start({"dev", "--http-listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"});
  http::RawHttpClient client(http_);
  const auto status_of = [&](std::string_view operation, std::string_view body) {
    client.Send(http::PostRequest(operation, body));
    const auto reply = client.ReadReply();
    return reply.has_value() ? reply->status : 0;
  };
  EXPECT_EQ(status_of("CreateTable",
                      R"({"TableName": "Dev", "BillingMode": "PAY_PER_REQUEST",
                          "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
                          "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}]})"),
            200);
  EXPECT_EQ(status_of("PutItem", R"({"TableName": "Dev", "Item": {"PK": {"S": "a"}}})"), 200);
  absl::StatusOr<Client> grpc = Client::Open({.endpoint = grpc_});
  ASSERT_TRUE(grpc.ok()) << grpc.status();
  const auto item = grpc->GetItem({.table_name = "Dev", .key = {{"PK", "a"}}});
  ASSERT_TRUE(item.ok()) << item.status();
  EXPECT_TRUE(item->item.has_value());

  EXPECT_THAT(Output(), HasSubstr("AWS_ENDPOINT_URL_DYNAMODB=http://" + http_));
  EXPECT_THAT(Output(), HasSubstr("ITEMDB_ENDPOINT=" + grpc_));
  const std::string data = DataDirectory();
  ASSERT_TRUE(std::filesystem::exists(data)) << Output();
  process_->Signal(SIGINT);
  EXPECT_EQ(process_->Wait(), 0) << Output();
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(InMemoryTest, WhatAKilledProcessLeavesIsRemovedByTheNextStart) {
  Start({"--in-memory", "--listen", "127.0.0.1:0"});
  const std::string killed = DataDirectory();
  ASSERT_TRUE(std::filesystem::exists(killed)) << Output();
  process_->Signal(SIGKILL);
  process_->Wait();
  Start({"--in-memory", "--listen", "127.0.0.1:0"});
  EXPECT_FALSE(std::filesystem::exists(killed));
  const std::string data = DataDirectory();
  EXPECT_NE(data, killed);
  EXPECT_TRUE(std::filesystem::exists(data));
  process_->Signal(SIGTERM);
  EXPECT_EQ(process_->Wait(), 0) << Output();
  EXPECT_FALSE(std::filesystem::exists(data));
}

}  // namespace
}  // namespace itemdb::e2e
