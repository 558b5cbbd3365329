// When a real daemon says that it serves: /-/ready and grpc.health.v1, while it opens its database and while
// its disk fails.
#include <chrono>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/metrics/metered_daemon.h"
#include "tests/support/await.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::metrics {
namespace {

using ::testing::HasSubstr;

constexpr char kMakePerches[] = R"x({"TableName": "Perches", "BillingMode": "PAY_PER_REQUEST",
  "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
  "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]})x";
// Replies of grpc.health.v1.Health/Check: {status = 1}.
constexpr char kServing[] = "\x08\x01";
constexpr char kNotServing[] = "\x08\x02";

class Readiness : public MeteredDaemon {
 protected:
  Readiness() {
    std::filesystem::create_directory(faults_);
    daemon_.set_environment(
        {"LD_PRELOAD=" + testing::BuildPath("tests/alerts/libalert_faults.so"), "ALERT_FAULTS=" + faults_});
  }

  void BeginFault(const std::string& name) const { testing::WriteFile(faults_ + "/" + name, ""); }
  void EndFault(const std::string& name) const { std::filesystem::remove(faults_ + "/" + name); }

  // 0: nobody listens.
  static http::RawReply Get(const std::string& endpoint, const std::string& path) {
    http::RawHttpClient client(endpoint);
    if (!client.Send(absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", endpoint, "\r\n\r\n"))) return {};
    return client.ReadReply().value_or(http::RawReply());
  }
  int Put(const std::string& id) const {
    http::RawHttpClient client(daemon_.http_endpoint());
    if (!client.Send(http::PostRequest(
            "PutItem", absl::StrCat(R"x({"TableName": "Perches", "Item": {"id": {"S": ")x", id, "\"}}}"))))
      return 0;
    return client.ReadReply().value_or(http::RawReply()).status;
  }

  const std::string faults_ = directory_.path() + "/faults";
};

// The database has a write-ahead log to read, and the disk keeps it waiting.
TEST_F(Readiness, IsNotThereBeforeTheDatabaseIsRecovered) {
  Start({});
  EXPECT_TRUE(http_->Send(http::PostRequest("CreateTable", kMakePerches)));
  ASSERT_EQ(http_->ReadReply().value_or(http::RawReply()).status, 200);
  ASSERT_EQ(Put("a"), 200);
  const std::string metrics = daemon_.metrics_endpoint(), grpc = daemon_.endpoint();
  ASSERT_EQ(Get(metrics, "/-/ready").status, 200);
  daemon_.Kill();

  BeginFault("held_syncs");
  daemon_.set_listen({grpc});
  daemon_.Launch({"--http-listen", "127.0.0.1:0", "--metrics-listen", metrics});
  ASSERT_TRUE(testing::Await([&] { return Get(metrics, "/-/healthy").status == 200; })) << daemon_.log();
  const auto begin = std::chrono::steady_clock::now();
  const e2e::RawClient health(grpc);
  // Longer than an opening that the log calls slow.
  constexpr std::chrono::milliseconds kHeld(10'500);
  while (std::chrono::steady_clock::now() < begin + kHeld) {
    const http::RawReply ready = Get(metrics, "/-/ready");
    ASSERT_EQ(ready.status, 503) << ready.body;
    ASSERT_EQ(ready.body, "not ready: the database is opening\n");
    ASSERT_THAT(Get(metrics, "/metrics").body, HasSubstr("\nitemdb_ready 0\n"));
    ASSERT_FALSE(health.Call("grpc.health.v1.Health/Check", "").status.ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  ASSERT_FALSE(std::filesystem::exists(daemon_.address_file()));
  EXPECT_THAT(daemon_.log(), HasSubstr("still opening"));

  EndFault("held_syncs");
  ASSERT_TRUE(daemon_.AwaitServing().ok()) << daemon_.log();
  EXPECT_EQ(Get(metrics, "/-/ready").status, 200);
  EXPECT_EQ(e2e::RawClient(grpc).Call("grpc.health.v1.Health/Check", "").bytes, kServing);
  EXPECT_THAT(daemon_.log(), HasSubstr("the database opened slowly"));
}

TEST_F(Readiness, EndsWhileWritesFailAndComesBack) {
  Start({});
  EXPECT_TRUE(http_->Send(http::PostRequest("CreateTable", kMakePerches)));
  ASSERT_EQ(http_->ReadReply().value_or(http::RawReply()).status, 200);
  const auto health = [this](const std::string& service) {
    return grpc_
        ->Call("grpc.health.v1.Health/Check",
               service.empty()
                   ? ""
                   : absl::StrCat("\x0a", std::string(1, static_cast<char>(service.size())), service))
        .bytes;
  };
  EXPECT_EQ(health(""), kServing);
  EXPECT_EQ(Get(daemon_.metrics_endpoint(), "/-/ready").status, 200);

  // The write fails, and the store cannot be opened again.
  BeginFault("held_syncs");
  BeginFault("failing_log");
  std::thread writer([this] { EXPECT_NE(Put("a"), 200); });
  for (const char* service : {"", "itemdb.v1.Data"})
    EXPECT_TRUE(testing::Await([&] { return health(service) == kNotServing; })) << service;
  EXPECT_TRUE(testing::Await([&] { return Get(daemon_.metrics_endpoint(), "/-/ready").status == 503; }));
  EXPECT_EQ(Get(daemon_.metrics_endpoint(), "/-/healthy").status, 200) << "a restart would not help";

  EndFault("failing_log");
  EndFault("held_syncs");
  writer.join();
  EXPECT_TRUE(testing::Await([&] { return Put("b") == 200; })) << daemon_.log();
  for (const char* service : {"", "itemdb.v1.Data"})
    EXPECT_TRUE(testing::Await([&] { return health(service) == kServing; })) << service;
  EXPECT_TRUE(testing::Await([&] { return Get(daemon_.metrics_endpoint(), "/-/ready").status == 200; }));
}

}  // namespace
}  // namespace itemdb::metrics
