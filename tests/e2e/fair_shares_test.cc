// One caller who makes as many calls with large replies as it can, over 60 connections, and reads none of the
// replies, does not keep others from being served: another address, or another key of the same address, over
// either protocol.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "daemon/http/signature/signature.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/v1/data.pb.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/http/raw_http_client.h"
#include "tests/processes/http2_peer.h"
#include "tests/support/await.h"
#include "tests/support/files.h"

namespace itemdb::e2e {
namespace {

constexpr int kGreedyConnections = 60;
// Each connection has so many calls in flight over gRPC, and sends as many over HTTP, one after another.
constexpr int kGreedyCalls = 16;
constexpr char kSharedSecret[] = "a secret of sufficient length";
constexpr char kLargePage[] = R"({"TableName":"Things","KeyConditionExpression":"pk = :pk",)"
                              R"("ExpressionAttributeValues":{":pk":{"S":"large"}}})";

enum class Over { kGrpc, kHttp };

class FairSharesTest : public E2eTest, public ::testing::WithParamInterface<std::pair<bool, Over>> {
 protected:
  void SetUp() override {
    std::vector<std::string> arguments = {"--memory", absl::StrCat(kSmallMemoryMib, "MiB"), "--http-listen",
                                          "127.0.0.1:0"};
    if (keys()) {
      const auto key = [](const std::string& id, const std::string& role) {
        return absl::StrCat("[[key]]\nid = \"", id, "\"\nsecret = \"", kSharedSecret, "\"\nrole = \"", role,
                            "\"\n");
      };
      testing::WriteFile(key_file_, key("GREEDY", "read") + key("OTHER", "admin"));
      ASSERT_EQ(chmod(key_file_.c_str(), 0600), 0);
      arguments.insert(arguments.end(), {"--access-keys", key_file_});
    }
    const absl::Status started = daemon_.Start(arguments);
    ASSERT_TRUE(started.ok()) << started;
    Client client = OtherClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                            {"sk", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}}})
                    .ok());
    BulkWriter writer(client);
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(
          writer.Put("Things", {{"pk", "large"}, {"sk", std::to_string(i)}, {"a", std::string(350'000, 'x')}})
              .ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
  }

  void TearDown() override {
    stop_ = true;
    if (greedy_.joinable()) greedy_.join();
    E2eTest::TearDown();
  }

  bool keys() const { return GetParam().first; }
  // Without keys the greedy caller has another address, with keys the same one.
  uint32_t greedy_address() const { return keys() ? INADDR_LOOPBACK : kAttackerAddress; }

  // A client without retries.
  Client OtherClient() const {
    ClientOptions options = {.endpoint = daemon_.endpoint()};
    options.retry.max_attempts = 1;
    if (keys()) {
      options.access_key_id = "OTHER";
      options.secret_access_key = kSharedSecret;
    }
    absl::StatusOr<Client> client = Client::Open(options);
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }

  // A query over HTTP, signed if there are keys.
  std::string HttpQuery(const std::string& key_id) const {
    const std::string target = "DynamoDB_20120810.Query";
    const std::string time = absl::FormatTime("%E4Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone());
    const std::string scope = absl::StrCat(time.substr(0, 8), "/us-east-1/dynamodb/aws4_request");
    std::string authorization =
        absl::StrCat("AWS4-HMAC-SHA256 Credential=", key_id, "/", scope,
                     ", SignedHeaders=host;x-amz-date;x-amz-target, Signature=", std::string(64, '0'));
    const http::HttpHead head{.method = "POST",
                              .target = "/",
                              .headers = {{"Host", "localhost"},
                                          {"X-Amz-Date", time},
                                          {"X-Amz-Target", target},
                                          {"Authorization", authorization}}};
    http::Signature signature;
    EXPECT_FALSE(http::ReadSignature(head, signature).has_value());
    const std::string value =
        *http::Sign(head, kLargePage, signature, http::DeriveSigningKey(kSharedSecret, signature));
    return absl::StrCat("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n",
                        "X-Amz-Date: ", time, "\r\nX-Amz-Target: ", target,
                        "\r\nAuthorization: ", authorization.substr(0, authorization.size() - 64), value,
                        "\r\nContent-Length: ", std::string_view(kLargePage).size(), "\r\n\r\n", kLargePage);
  }

  static uint16_t PortOf(const std::string& endpoint) {
    uint32_t port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(endpoint.substr(endpoint.rfind(':') + 1), &port));
    return static_cast<uint16_t>(port);
  }

  void BeGreedyOverGrpc() {
    v1::QueryRequest query;
    query.set_table_name("Things");
    query.set_key_condition_expression("pk = :pk");
    (*query.mutable_expression_attribute_values())[":pk"].set_s("large");
    const std::string message = query.SerializeAsString();
    std::vector<std::pair<std::string, std::string>> metadata;
    if (keys()) {
      metadata.emplace_back("authorization",
                            "Basic " + absl::Base64Escape(absl::StrCat("GREEDY:", kSharedSecret)));
    }
    // The peers and the numbers of their next calls.
    std::vector<std::pair<std::optional<Http2Peer>, uint32_t>> peers(kGreedyConnections);
    while (!stop_) {
      for (auto& [peer, stream] : peers) {
        int calls = 1;
        if (!peer.has_value()) {
          peer.emplace(PortOf(daemon_.endpoint()),
                       Http2PeerOptions{.source = greedy_address(), .takes_replies = false});
          stream = 1;
          calls = kGreedyCalls;
        }
        for (; calls > 0; --calls, stream += 2) {
          if (peer->Call(stream, "/itemdb.v1.Data/Query", message, metadata)) continue;
          peer.reset();
          break;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void BeGreedyOverHttp() {
    const std::string query = HttpQuery("GREEDY");
    std::vector<daemon::Descriptor> peers(kGreedyConnections);
    while (!stop_) {
      for (daemon::Descriptor& peer : peers) {
        const bool is_new = peer.get() < 0;
        if (is_new) {
          peer = ConnectTo(PortOf(daemon_.http_endpoint()), greedy_address());
          const int bytes = 4'096;
          setsockopt(peer.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
        }
        for (int i = 0; i < (is_new ? kGreedyCalls : 1); ++i) {
          const ssize_t sent = send(peer.get(), query.data(), query.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
          if (sent == static_cast<ssize_t>(query.size())) continue;
          // A part of a request, or the end.
          peer.Reset();
          break;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  void BeginToBeGreedy() {
    greedy_ =
        std::thread([this] { GetParam().second == Over::kGrpc ? BeGreedyOverGrpc() : BeGreedyOverHttp(); });
    Client client = OtherClient();
    // Half of what calls with large replies may take.
    ASSERT_TRUE(testing::Await([&] {
      const absl::StatusOr<DaemonStatus> status = client.GetStatus();
      return status.ok() && status->memory.calls >= status->memory.call_limit / 4;
    })) << "the greedy caller holds little";
  }

  const std::string key_file_ = directory_.path() + "/keys.toml";
  std::atomic<bool> stop_ = false;
  std::thread greedy_;
};

TEST_P(FairSharesTest, AGreedyCallerDoesNotStarveAnother) {
  BeginToBeGreedy();
  if (HasFatalFailure()) return;
  Client client = OtherClient();
  http::RawHttpClient http(daemon_.http_endpoint());
  for (int i = 0; i < 40; ++i) {
    const absl::StatusOr<ItemPage> page = client.Query({.table_name = "Things",
                                                        .key_condition_expression = "pk = :pk",
                                                        .expression_attribute_values = {{":pk", "large"}}});
    EXPECT_TRUE(page.ok()) << i << ": " << page.status();
    ASSERT_TRUE(http.Send(HttpQuery("OTHER")));
    const std::optional<http::RawReply> reply = http.ReadReply();
    ASSERT_TRUE(reply.has_value()) << i;
    EXPECT_EQ(reply->status, 200) << i << ": " << reply->body.substr(0, 300);
    EXPECT_TRUE(client.PutItem({.table_name = "Things", .item = {{"pk", "small"}, {"sk", "1"}}}).ok()) << i;
  }
  EXPECT_LT(HighestRssMib(), kMaxRssMib);
}

INSTANTIATE_TEST_SUITE_P(, FairSharesTest,
                         ::testing::Values(std::pair(false, Over::kGrpc), std::pair(false, Over::kHttp),
                                           std::pair(true, Over::kGrpc), std::pair(true, Over::kHttp)),
                         [](const auto& info) {
                           return absl::StrCat(info.param.first ? "OfTwoKeys" : "OfTwoAddresses",
                                               info.param.second == Over::kGrpc ? "OverGrpc" : "OverHttp");
                         });

}  // namespace
}  // namespace itemdb::e2e
