// The ends of connections and calls: timeouts, clients that close the connection, a server that stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/http/http_server_fixture.h"

namespace itemdb::http {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST_F(HttpServerTest, EndsRequestsThatDoNotArriveInTime) {
  options_.request_timeout = absl::Milliseconds(100);
  StartServer();
  const std::string request = PostRequest("Echo", "body");
  for (size_t sent : {size_t{1}, request.size() / 2, request.size() - 1}) {
    RawHttpClient client = Connect();
    ASSERT_TRUE(client.Send(request.substr(0, sent)));
    EXPECT_EQ(client.ReadReply().value_or(RawReply()).status, 408) << sent;
    EXPECT_TRUE(client.IsClosed());
  }
}

TEST_F(HttpServerTest, EndsRequestsThatTrickleIn) {
  options_.request_timeout = absl::Milliseconds(100);
  StartServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\n"));
  // Every piece arrives in time, but the whole request does not. Ends when the server has closed the
  // connection.
  bool cut_off = false;
  for (int i = 0; i < 10'000 && !cut_off; ++i) {
    cut_off = !client.Send("X-Header: value\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(cut_off);
}

// A byte earns nobody the long timeout of callers that are known.
TEST_F(HttpServerTest, ClosesConnectionsWithoutAnAdmittedRequestSoon) {
  options_.handshake_timeout = absl::Milliseconds(100);
  options_.idle_timeout = absl::Seconds(60);
  StartServer();
  RawHttpClient silent = Connect();
  EXPECT_TRUE(silent.IsClosed());
  RawHttpClient one_byte = Connect();
  ASSERT_TRUE(one_byte.Send("P"));
  EXPECT_EQ(one_byte.ReadReply().value_or(RawReply()).status, 408);
  EXPECT_TRUE(one_byte.IsClosed());
  RawHttpClient refused = Connect();
  ASSERT_TRUE(refused.Send(PostRequest("Unknown", "{}")));
  EXPECT_EQ(refused.ReadReply().value_or(RawReply()).status, 400);
  EXPECT_TRUE(refused.IsClosed());

  RawHttpClient admitted = Connect();
  ASSERT_TRUE(admitted.Send(PostRequest("Echo", "body")));
  EXPECT_TRUE(admitted.ReadReply().has_value());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ASSERT_TRUE(admitted.Send(PostRequest("Echo", "again")));
  EXPECT_EQ(admitted.ReadReply().value_or(RawReply()).body, "again");
}

// The body of an admitted request may take as long as the whole request.
TEST_F(HttpServerTest, WaitsForABodyLongerThanForAHead) {
  options_.handshake_timeout = absl::Milliseconds(100);
  StartServer();
  const std::string request = PostRequest("Echo", "body");
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 1)));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  ASSERT_TRUE(client.Send(request.substr(request.size() - 1)));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "body");
}

TEST_F(HttpServerTest, ClosesIdleConnections) {
  options_.idle_timeout = absl::Milliseconds(100);
  StartServer();
  RawHttpClient fresh = Connect();
  EXPECT_TRUE(fresh.IsClosed());
  RawHttpClient used = Connect();
  ASSERT_TRUE(used.Send(PostRequest("Echo", "body")));
  EXPECT_TRUE(used.ReadReply().has_value());
  EXPECT_TRUE(used.IsClosed());
}

TEST_F(HttpServerTest, CutsOffPeersThatDoNotTakeTheirReply) {
  options_.request_timeout = absl::Milliseconds(200);
  StartServer();
  RawHttpClient client = Connect();
  // A reply that is longer than the buffers of the sockets.
  ASSERT_TRUE(client.Send(PostRequest("Long", "100000000")));
  // The memory of the reply is counted until the server closes the connection.
  while (serving_.memory->used_bytes() == 0) std::this_thread::yield();
  while (serving_.memory->used_bytes() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(client.ReadReply().has_value());
}

// While memory is free, a peer may take its time; a second under pressure, so that others get their turn.
TEST_F(HttpServerTest, CutsOffPeersThatDoNotTakeTheirReplyEarlierWhileMemoryIsShort) {
  options_.request_timeout = absl::Seconds(60);
  StartServer();
  RawHttpClient client = Connect();
  const std::string bytes = absl::StrCat(call_bytes_ / 4);
  ASSERT_TRUE(client.Send(PostRequest("Long", bytes)));
  while (serving_.memory->used_bytes() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(1'500));
  EXPECT_GT(serving_.memory->used_bytes(), 0);
  serving_.memory->Add(call_bytes_ * 3 / 4);
  const auto begin = std::chrono::steady_clock::now();
  while (serving_.memory->used_bytes() > static_cast<int64_t>(call_bytes_ * 3 / 4))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  serving_.memory->Release(call_bytes_ * 3 / 4);
  EXPECT_FALSE(client.ReadReply().has_value());
}

TEST_F(HttpServerTest, TimeThatAnOperationTakesEndsNothing) {
  options_.request_timeout = absl::Milliseconds(50);
  options_.idle_timeout = absl::Milliseconds(50);
  StartServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest("Hold", "body")));
  handler_.WaitUntilHeld(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  handler_.Release();
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "body");
}

TEST_F(HttpServerTest, CancelsCallsWhosePeerHasLeft) {
  StartServer();
  {
    RawHttpClient client = Connect();
    ASSERT_TRUE(client.Send(PostRequest("Hold", "body")));
    handler_.WaitUntilHeld(1);
  }
  handler_.WaitUntilCancelled(1);
  {
    // The same on another connection.
    RawHttpClient client = Connect();
    ASSERT_TRUE(client.Send(PostRequest("Hold", "body")));
    handler_.WaitUntilHeld(1);
  }
  handler_.WaitUntilCancelled(2);
}

TEST_F(HttpServerTest, PeersThatOnlyEndTheirSideGetTheirAnswers) {
  StartServer();
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\n";
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest("Hold", "first") + PostRequest("EchoLater", "second")));
  client.EndSending();
  handler_.WaitUntilHeld(1);
  // Sent when the server has seen the end of the client's sending; the call continues.
  EXPECT_EQ(client.Read(interim.size()), interim);
  handler_.Release();
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "first");
  // The second request may be answered before the server looks for the end of the connection.
  std::string rest = client.Read(1 << 20);
  EXPECT_THAT(rest, AllOf(HasSubstr("HTTP/1.1 200 OK"), EndsWith("\r\n\r\nsecond")));
}

TEST_F(HttpServerTest, StoppingAnswersWhatIsInFlightAndRefusesTheRest) {
  StartServer();
  RawHttpClient busy = Connect(), idle = Connect();
  ASSERT_TRUE(busy.Send(PostRequest("Hold", "body")));
  ASSERT_TRUE(idle.Send(PostRequest("Echo", "before")));
  EXPECT_EQ(idle.ReadReply().value_or(RawReply()).body, "before");
  handler_.WaitUntilHeld(1);
  server_->BeginStop();
  serving_.gate.Close();
  // A request that arrives now gets the reason.
  ASSERT_TRUE(idle.Send(PostRequest("Echo", "too late")));
  RawReply refused = idle.ReadReply().value_or(RawReply());
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("stopping"));
  EXPECT_EQ(refused.headers["connection"], "close");
  handler_.Release();
  RawReply last = busy.ReadReply().value_or(RawReply());
  EXPECT_EQ(last.body, "body");
  EXPECT_EQ(last.headers["connection"], "close");
  StopServer(std::chrono::minutes(1));
}

TEST_F(HttpServerTest, StoppingCancelsCallsWhenTheGracePeriodEnds) {
  StartServer();
  RawHttpClient busy = Connect(), half = Connect(), idle = Connect(), stalled = Connect();
  ASSERT_TRUE(busy.Send(PostRequest("Hold", "body")));
  ASSERT_TRUE(half.Send("POST / HT"));
  ASSERT_TRUE(stalled.Send(PostRequest("Long", "100000000")));
  handler_.WaitUntilHeld(1);
  while (serving_.memory->used_bytes() < 100'000'000) std::this_thread::yield();
  StopServer(std::chrono::milliseconds(10));
  handler_.WaitUntilCancelled(1);
  EXPECT_TRUE(half.IsClosed());
  EXPECT_TRUE(idle.IsClosed());
}

TEST_F(HttpServerTest, StopsWhileClientsGoOnSending) {
  options_.threads = 3;
  StartServer();
  std::atomic<bool> over = false;
  std::vector<std::thread> clients;
  const std::string address = server_->addresses()[0];
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i) {
    clients.emplace_back([&, i] {
      while (!over.load()) {
        RawHttpClient client(address);
        const std::string body = absl::StrCat("body of ", i);
        while (client.Send(PostRequest(i % 2 ? "Echo" : "EchoLater", body))) {
          std::optional<RawReply> reply = client.ReadReply();
          if (!reply.has_value()) break;
          // Never the answer to another request, and never a part of an answer.
          EXPECT_TRUE(reply->body == body || reply->status == 503) << reply->body;
          answered += reply->status == 200;
          if (over.load()) break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  while (answered.load() < 100) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  StopServer(std::chrono::minutes(1));
  over = true;
  for (std::thread& client : clients) client.join();
}

}  // namespace
}  // namespace itemdb::http
