// Requests and replies over real sockets.
#include "daemon/http/connection/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <random>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "daemon/http/message/http_request.h"
#include "tests/http/gzip_bytes.h"
#include "tests/http/http_server_fixture.h"

namespace itemdb::http {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::string Checksum(const std::string& body) {
  return absl::StrCat(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
}

// The form of a request (SEM-113) and of its reply (SEM-114).
TEST_F(HttpServerTest, AnswersWithIdChecksumAndType) {
  StartServer();
  RawReply reply = Ask(PostRequest("Echo", R"({"TableName":"orders"})"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, R"({"TableName":"orders"})");
  EXPECT_EQ(reply.headers["content-type"], "application/x-amz-json-1.0");
  EXPECT_EQ(reply.headers["x-amzn-requestid"].size(), 52u);
  EXPECT_EQ(reply.headers["x-amz-crc32"], Checksum(reply.body));
  EXPECT_EQ(reply.headers["x-amz-crc32"], "3156328997") << "crc32 of python's zlib";
  EXPECT_FALSE(reply.headers["date"].empty());
  EXPECT_FALSE(reply.headers.contains("connection"));
}

TEST_F(HttpServerTest, KeepsConnectionsAndTellsRequestsApart) {
  StartServer();
  RawHttpClient client = Connect();
  std::set<std::string> ids;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.Send(PostRequest(i % 2 ? "Echo" : "EchoLater", absl::StrCat("body ", i))));
    std::optional<RawReply> reply = client.ReadReply();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->body, absl::StrCat("body ", i));
    ids.insert(reply->headers["x-amzn-requestid"]);
  }
  EXPECT_EQ(ids.size(), 20u);
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  StartServer();
  RawHttpClient client = Connect();
  std::string requests;
  constexpr int kRequests = 100;
  for (int i = 0; i < kRequests; ++i) {
    // A mix of slow, fast and refused requests.
    requests += i % 7 == 3   ? PostRequest("NoSuchOperation", "{}")
                : i % 5 == 0 ? PostRequest("EchoLater", absl::StrCat("body ", i))
                             : PostRequest("Echo", absl::StrCat("body ", i));
  }
  ASSERT_TRUE(client.Send(requests));
  for (int i = 0; i < kRequests; ++i) {
    std::optional<RawReply> reply = client.ReadReply();
    ASSERT_TRUE(reply.has_value()) << i;
    if (i % 7 == 3) {
      EXPECT_EQ(reply->status, 400);
      EXPECT_THAT(reply->body, HasSubstr("UnknownOperationException"));
    } else {
      EXPECT_EQ(reply->body, absl::StrCat("body ", i));
    }
  }
}

TEST_F(HttpServerTest, ReadsRequestsThatComeInTwoPiecesSplitAnywhere) {
  StartServer();
  const std::string request = PostRequest("Echo", "a body of some length");
  RawHttpClient client = Connect();
  for (size_t split = 1; split < request.size(); ++split) {
    ASSERT_TRUE(client.Send(request.substr(0, split)));
    // The first piece has probably arrived before the second is sent.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    ASSERT_TRUE(client.Send(request.substr(split)));
    std::optional<RawReply> reply = client.ReadReply();
    ASSERT_TRUE(reply.has_value()) << split;
    EXPECT_EQ(reply->body, "a body of some length");
  }
}

TEST_F(HttpServerTest, ReadsRequestsByteByByte) {
  StartServer();
  RawHttpClient client = Connect();
  for (char c : PostRequest("Echo", "body")) ASSERT_TRUE(client.Send({&c, 1}));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "body");
}

TEST_F(HttpServerTest, ReadsBodiesInChunks) {
  StartServer();
  RawHttpClient client = Connect();
  std::string head = PostRequest("Echo", "");
  head = head.substr(0, head.find("Content-Length")) + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(head + "3\r\nabc\r\n5;name=value\r\ndefgh\r\n0\r\n\r\n"));
    EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "abcdefgh");
  }
}

TEST_F(HttpServerTest, TellsClientsThatAskToGoOn) {
  StartServer();
  RawHttpClient client = Connect();
  std::string request = PostRequest("Echo", "body", "Expect: 100-continue\r\n");
  ASSERT_TRUE(client.Send(request.substr(0, request.size() - 4)));
  constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(client.Read(kGoOn.size()), kGoOn);
  ASSERT_TRUE(client.Send("body"));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "body");
}

TEST_F(HttpServerTest, KeepsConnectionsAsTheClientAsks) {
  StartServer();
  RawHttpClient closing = Connect();
  ASSERT_TRUE(closing.Send(PostRequest("Echo", "body", "Connection: close\r\n")));
  EXPECT_EQ(closing.ReadReply().value_or(RawReply()).headers["connection"], "close");
  EXPECT_TRUE(closing.IsClosed());

  std::string old = PostRequest("Echo", "body", "Connection: keep-alive\r\n");
  old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
  RawHttpClient keeping = Connect();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(keeping.Send(old));
    EXPECT_EQ(keeping.ReadReply().value_or(RawReply()).headers["connection"], "keep-alive");
  }
}

// GET / answers "healthy: ..." (SEM-113).
TEST_F(HttpServerTest, SaysThatItIsHealthy) {
  StartServer();
  RawReply reply = Ask("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, ::testing::StartsWith("healthy: "));
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  std::optional<RawReply> head = client.ReadReply(/*head_only=*/true);
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->headers["content-length"], absl::StrCat(reply.body.size()));
  ASSERT_TRUE(client.Send(PostRequest("Echo", "after it")));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "after it");
}

// Other methods, targets and content types get 404 (SEM-113), unknown operations UnknownOperationException
// (OP-64).
TEST_F(HttpServerTest, RefusesWhatIsNotAnOperation) {
  StartServer();
  RawHttpClient client = Connect();
  struct Case {
    std::string request;
    int status;
    std::string says;
  };
  auto post = [](std::string_view headers) {
    return absl::StrFormat("POST / HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 2\r\n\r\n{}", headers);
  };
  const std::string type = "Content-Type: application/x-amz-json-1.0\r\n";
  const Case cases[] = {
      {"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "POST /"},
      {"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", 404, "PUT"},
      {"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "BREW"},
      {post(""), 404, "Content-Type"},
      {post("Content-Type: text/xml\r\n"), 404, "text/xml"},
      {post(type), 400, "X-Amz-Target is missing"},
      {post(type + "X-Amz-Target: \r\n"), 400, "X-Amz-Target is missing"},
      {post(type + "X-Amz-Target: DynamoDB_20120810.DropEverything\r\n"), 400,
       R"("message":"Unknown operation exception","Detail":"the operation \"DynamoDB_20120810.DropEverything\")"
       R"( is not supported"})"},
      {post(type + "X-Amz-Target: Echo\r\n"), 400, "UnknownOperationException"},
      {post(type + "X-Amz-Target: DynamoDB_20120810.Echo\r\nContent-Encoding: br\r\n"), 400, "gzip"},
      {post(type + "X-Amz-Target: DynamoDB_20120810.Echo\r\nContent-Encoding: gzip, deflate\r\n"), 400,
       "one of gzip, deflate and identity"},
      {post(type +
            "X-Amz-Target: DynamoDB_20120810.Echo\r\nContent-Encoding: gzip\r\nContent-Encoding: gzip\r\n"),
       400, "one of gzip, deflate and identity"},
  };
  for (const Case& c : cases) {
    ASSERT_TRUE(client.Send(c.request)) << c.request;
    std::optional<RawReply> reply = client.ReadReply();
    ASSERT_TRUE(reply.has_value()) << c.request;
    EXPECT_EQ(reply->status, c.status) << c.request;
    EXPECT_THAT(reply->body, HasSubstr(c.says)) << c.request;
    EXPECT_EQ(reply->headers["x-amz-crc32"], Checksum(reply->body));
  }
}

TEST_F(HttpServerTest, TakesTheTypeInAnyCaseAndWithParameters) {
  StartServer();
  RawReply reply = Ask(absl::StrReplaceAll(
      PostRequest("Echo", "{}"), {{"application/x-amz-json-1.0", "Application/X-Amz-Json-1.0; charset=utf-8"},
                                  {"X-Amz-Target", "x-amz-target"}}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "{}");
}

// ---- compressed bodies ----

// Bodies may be gzip (SEM-113).
TEST_F(HttpServerTest, InflatesGzip) {
  StartServer();
  std::string body;
  for (int i = 0; i < 50'000; ++i) absl::StrAppend(&body, "item ", i, ";");
  for (const std::string& text : {std::string("{}"), std::string(), body}) {
    RawReply reply = Ask(PostRequest("Echo", GzipBytes(text), "Content-Encoding: gzip\r\n"));
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.body == text) << reply.body.size();
  }
  // Several gzip members one after another are one body (RFC 1952, 2.2).
  EXPECT_EQ(Ask(PostRequest("Echo", GzipBytes("one") + GzipBytes("two"), "Content-Encoding: GZIP\r\n")).body,
            "onetwo");
}

// A body with the coding deflate has the zlib format; some clients leave out the header.
TEST_F(HttpServerTest, InflatesDeflate) {
  StartServer();
  const std::string text = "a body that is compressed";
  for (int window_bits : {15, -15}) {
    EXPECT_EQ(Ask(PostRequest("Echo", GzipBytes(text, window_bits), "Content-Encoding: deflate\r\n")).body,
              text);
  }
  const std::string whole = GzipBytes(text, 15);
  for (const std::string& bytes :
       {std::string(), whole.substr(0, whole.size() - 1), whole + "x", GzipBytes(text)}) {
    const RawReply reply = Ask(PostRequest("Echo", bytes, "Content-Encoding: deflate\r\n"));
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr("the body is not deflate"));
  }
}

// A long reply is compressed as Accept-Encoding asks. The checksum is that of the bytes sent (SEM-114).
TEST_F(HttpServerTest, CompressesLongRepliesForClientsThatAsk) {
  StartServer();
  const std::string text(100'000, 'a');
  const struct {
    std::string accepted;
    std::string coding;
  } cases[] = {
      {"", ""},
      {"identity", ""},
      {"br", ""},
      {"gzip", "gzip"},
      {"GZIP", "gzip"},
      {"deflate", "deflate"},
      {"deflate, gzip", "gzip"},
      {"gzip;q=0.5, deflate", "deflate"},
      {"gzip;q=0", ""},
      {"gzip;q=0, deflate;q=0.1", "deflate"},
      {"gzip;q=two", ""},
      {"*", "gzip"},
      {"*;q=0", ""},
      {"gzip;q=0, *", "deflate"},
      {"br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.accepted);
    RawReply reply = Ask(PostRequest("Echo", text, "Accept-Encoding: " + one.accepted + "\r\n"));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.headers["content-encoding"], one.coding);
    EXPECT_EQ(reply.headers["x-amz-crc32"], Checksum(reply.body));
    if (one.coding.empty()) {
      EXPECT_TRUE(reply.body == text);
      continue;
    }
    EXPECT_EQ(reply.headers["vary"], "Accept-Encoding");
    EXPECT_LT(reply.body.size(), 1'000u);
    const absl::StatusOr<std::string> inflated =
        Inflate(one.coding == "gzip" ? Coding::kGzip : Coding::kDeflate, reply.body, text.size(), 0);
    ASSERT_TRUE(inflated.ok()) << inflated.status();
    EXPECT_TRUE(*inflated == text);
  }
  // Short replies, and those that compressing would not make shorter, are sent as they are.
  for (const std::string& short_text : {std::string("{}"), std::string(kMinCompressedBytes - 1, 'a')}) {
    RawReply reply = Ask(PostRequest("Echo", short_text, "Accept-Encoding: gzip\r\n"));
    EXPECT_EQ(reply.body, short_text);
    EXPECT_EQ(reply.headers.count("content-encoding"), 0u);
  }
  std::string noise;
  for (uint32_t x = 1; noise.size() < 5'000;)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  EXPECT_TRUE(Ask(PostRequest("Echo", noise, "Accept-Encoding: gzip\r\n")).body == noise);
}

// application/json is served like the service's own type (SEM-113); the reply has the type of its request.
TEST_F(HttpServerTest, TakesPlainJson) {
  StartServer();
  const RawReply reply = Ask(absl::StrReplaceAll(
      PostRequest("Echo", "{}"), {{"application/x-amz-json-1.0", "Application/JSON; charset=utf-8"}}));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "{}");
  EXPECT_EQ(reply.headers.at("content-type"), "application/json");
}

TEST_F(HttpServerTest, RefusesWhatIsNotGzip) {
  StartServer();
  std::string whole = GzipBytes("a body that is compressed");
  std::string flipped = whole;
  flipped[flipped.size() - 6] ^= 1;
  for (const std::string& bytes :
       {std::string("{}"), std::string(), whole.substr(0, whole.size() - 1), whole + "x", flipped}) {
    RawReply reply = Ask(PostRequest("Echo", bytes, "Content-Encoding: gzip\r\n"));
    EXPECT_EQ(reply.status, 400);
    EXPECT_THAT(reply.body, HasSubstr("SerializationException"));
  }
}

// A body has at most 16 MiB (SEM-018).
TEST_F(HttpServerTest, RefusesBodiesThatInflateToMoreThan16MiB) {
  StartServer();
  std::string longest(kMaxBodyBytes, 'a');
  EXPECT_EQ(Ask(PostRequest("Echo", GzipBytes(longest), "Content-Encoding: gzip\r\n")).body.size(),
            kMaxBodyBytes);
  EXPECT_EQ(Ask(PostRequest("Echo", GzipBytes(longest + "a"), "Content-Encoding: gzip\r\n")).status, 413);
}

// ---- limits ----

// A body has at most 16 MiB (SEM-018).
TEST_F(HttpServerTest, TakesBodiesOf16MiBAndRefusesLongerOnes) {
  StartServer();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest("Echo", std::string(kMaxBodyBytes, 'a'))));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body.size(), kMaxBodyBytes);
  // The answer arrives although the server does not read the whole body.
  client.Send(PostRequest("Echo", std::string(kMaxBodyBytes + 1, 'a')));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).status, 413);
  EXPECT_TRUE(client.IsClosed());

  RawHttpClient chunked = Connect();
  std::string head = PostRequest("Echo", "");
  head = head.substr(0, head.find("Content-Length")) + "Transfer-Encoding: chunked\r\n\r\n";
  chunked.Send(absl::StrFormat("%s%x\r\n%s\r\n1\r\na\r\n0\r\n\r\n", head, kMaxBodyBytes,
                               std::string(kMaxBodyBytes, 'a')));
  EXPECT_EQ(chunked.ReadReply().value_or(RawReply()).status, 413);
}

TEST_F(HttpServerTest, RefusesLongHeaders) {
  StartServer();
  EXPECT_EQ(Ask(PostRequest("Echo", "{}", "X-Long: " + std::string(20'000, 'a') + "\r\n")).status, 200);
  EXPECT_EQ(Ask(PostRequest("Echo", "{}", "X-Long: " + std::string(100'000, 'a') + "\r\n")).status, 431);
  std::string many;
  for (int i = 0; i < 10'000; ++i) absl::StrAppend(&many, "X-", i, ": a\r\n");
  EXPECT_EQ(Ask(PostRequest("Echo", "{}", many)).status, 431);
  EXPECT_EQ(Ask("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n").status, 431);
  const std::string head = PostRequest("Echo", "");
  std::string chunked = head.substr(0, head.find("Content-Length")) + "Transfer-Encoding: chunked\r\n\r\n";
  RawReply extension = Ask(chunked + "1;" + std::string(200'000, 'a'));
  EXPECT_GE(extension.status, 400);
  EXPECT_LT(extension.status, 500);
}

TEST_F(HttpServerTest, RefusesMalformedRequestsAndClosesTheirConnections) {
  StartServer();
  const std::string good = PostRequest("Echo", "{}");
  const std::string no_length = good.substr(0, good.find("Content-Length"));
  for (const std::string& request : {
           std::string("\r\n\r\n"),
           std::string("nonsense\r\n\r\n"),
           std::string("GET\r\n\r\n"),
           std::string("GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
           std::string("GET / HTTP/1.1 \r\nHost: a\r\n\r\n"),
           std::string("GET / FTP/1.1\r\nHost: a\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHost\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHo st: a\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\n: a\r\n\r\n"),
           std::string("GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n"),
           "G\0T / HTTP/1.1\r\nHost: a\r\n\r\n"s,
           "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 is TLS\r\n\r\n"s,
           std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
           no_length + "Content-Length: -1\r\n\r\n",
           no_length + "Content-Length: two\r\n\r\n{}",
           no_length + "Content-Length: 99999999999999999999999\r\n\r\n{}",
           no_length + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
           no_length + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
           no_length + "Transfer-Encoding: gzip\r\n\r\n{}",
           no_length + "Transfer-Encoding: chunked\r\n\r\nnot a number\r\n{}\r\n",
           no_length + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}...\r\n0\r\n\r\n",
           no_length + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n",
       }) {
    RawHttpClient client = Connect();
    ASSERT_TRUE(client.Send(request));
    std::optional<RawReply> reply = client.ReadReply();
    ASSERT_TRUE(reply.has_value()) << request;
    EXPECT_TRUE(reply->status == 400 || reply->status == 413) << request << reply->status;
    EXPECT_EQ(reply->headers["connection"], "close") << request;
    EXPECT_TRUE(client.IsClosed()) << request;
  }
}

TEST_F(HttpServerTest, AnAnnouncedBodyTakesNoMemoryBeforeItComes) {
  StartServer();
  // Each client announces a body of the largest length, and sends almost nothing.
  std::string head = PostRequest("Echo", std::string(16 << 20, 'a'));
  head.resize(head.find("\r\n\r\n") + 4);
  std::vector<RawHttpClient> slow;
  for (int i = 0; i < 8; ++i) {
    slow.push_back(Connect());
    ASSERT_TRUE(slow.back().Send(head + "a"));
  }
  while (serving_.memory->used_bytes() == 0) std::this_thread::yield();
  RawHttpClient client = Connect();
  ASSERT_TRUE(client.Send(PostRequest("Echo", "{}")));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "{}");
  EXPECT_LT(serving_.memory->used_bytes(), 4 << 20);
}

TEST_F(HttpServerTest, KeepsNoBodyOfARefusedRequest) {
  StartServer();
  const std::string refused = PostRequest("Unknown", std::string(50'000, 'a'));
  RawHttpClient client = Connect();
  // The reply comes after the body, and the next request is found behind it.
  ASSERT_TRUE(client.Send(refused + PostRequest("Echo", "next") + refused.substr(0, refused.size() - 1)));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).status, 400);
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "next");
  ASSERT_TRUE(client.Send("a" + PostRequest("Echo", "last")));
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).status, 400);
  EXPECT_EQ(client.ReadReply().value_or(RawReply()).body, "last");
  // Nobody is asked to send such a body.
  RawHttpClient asking = Connect();
  const std::string expecting = PostRequest("Unknown", "{}", "Expect: 100-continue\r\n");
  ASSERT_TRUE(asking.Send(expecting.substr(0, expecting.find("\r\n\r\n") + 4)));
  EXPECT_EQ(asking.ReadReply().value_or(RawReply()).status, 400);
  EXPECT_TRUE(asking.IsClosed());
}

// The least that --memory gives to calls.
class LittleCallMemory : public HttpServerTest {
 protected:
  LittleCallMemory() : HttpServerTest(20 << 20) {}
};

// A body that takes more than all memory for calls is served when it is alone, never refused again and again.
TEST_F(LittleCallMemory, TakesTheLongestBodyWhileNothingElseIsThere) {
  StartServer();
  EXPECT_EQ(Ask(PostRequest("Echo", std::string(kMaxBodyBytes, 'a'))).body.size(), kMaxBodyBytes);
}

TEST_F(HttpServerTest, RefusesRequestsBeyondTheMemoryForCallsBeforeTheirBodyIsRead) {
  StartServer();
  // Reserve all memory for calls; without that, a single request is always accepted.
  ASSERT_TRUE(serving_.memory->TryReserve(call_bytes_));
  RawHttpClient client = Connect();
  std::string large = PostRequest("Echo", std::string(1 << 20, 'a'));
  ASSERT_TRUE(client.Send(large.substr(0, large.find("\r\n\r\n") + 4)));
  EXPECT_THAT(client.ReadReply().value_or(RawReply()).body, HasSubstr("--memory"));
  EXPECT_TRUE(client.IsClosed());
  // Small requests have memory of their own.
  RawHttpClient small = Connect();
  ASSERT_TRUE(small.Send(PostRequest("Echo", "{}")));
  EXPECT_EQ(small.ReadReply().value_or(RawReply()).body, "{}");
  const size_t small_bytes = call_bytes_ / 8;
  for (size_t bytes = 0; bytes < small_bytes; bytes += daemon::CallMemory::kSmallCallBytes) {
    // The memory of the answered request is released after its reply was sent.
    bool reserved = false;
    for (int i = 0; i < 1'000 && !reserved; ++i) {
      reserved = serving_.memory->TryReserveSmall(daemon::CallMemory::kSmallCallBytes);
      if (!reserved) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(reserved);
  }
  // After a refused small request the connection stays open.
  ASSERT_TRUE(small.Send(PostRequest("Echo", "{}")));
  EXPECT_THAT(small.ReadReply().value_or(RawReply()).body, HasSubstr("--memory"));
  serving_.memory->ReleaseSmall(small_bytes);
  serving_.memory->Release(call_bytes_);
  ASSERT_TRUE(small.Send(PostRequest("Echo", "{}")));
  EXPECT_EQ(small.ReadReply().value_or(RawReply()).body, "{}");
}

// Peers that do not take their pages cannot keep others from reading and writing single items.
TEST_F(HttpServerTest, LeavesHalfOfTheMemoryToCallsWithSmallReplies) {
  StartServer();
  serving_.memory->Add(call_bytes_ / 2);
  EXPECT_EQ(Ask(PostRequest("Long", "5")).body, "xxxxx") << "others hold it, so there is what is set aside";
  // The memory of the answered request is released after its reply was sent.
  const auto others = static_cast<int64_t>(call_bytes_ / 2);
  for (int i = 0; i < 1'000 && serving_.memory->used_bytes() != others; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  size_t small_bytes = 0;
  while (serving_.memory->TryReserveSmall(daemon::CallMemory::kSmallCallBytes))
    small_bytes += daemon::CallMemory::kSmallCallBytes;
  EXPECT_THAT(Ask(PostRequest("Long", "5")).body, HasSubstr("--memory"));
  EXPECT_EQ(Ask(PostRequest("Echo", "body")).body, "body");
  serving_.memory->Release(call_bytes_ / 2);
  serving_.memory->ReleaseSmall(small_bytes);
  EXPECT_EQ(Ask(PostRequest("Long", "5")).body, "xxxxx");
}

TEST_F(HttpServerTest, ServesManyConnectionsAndNoMoreThanAllowed) {
  // Of more than 63 one address would get three quarters.
  constexpr int kConnections = 63;
  options_.max_connections = kConnections;
  StartServer();
  std::vector<RawHttpClient> clients;
  for (int i = 0; i < kConnections; ++i) clients.push_back(Connect());
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < clients.size(); ++i) {
      ASSERT_TRUE(clients[i].Send(PostRequest("Echo", absl::StrCat(i))));
    }
    for (size_t i = 0; i < clients.size(); ++i) {
      EXPECT_EQ(clients[i].ReadReply().value_or(RawReply()).body, absl::StrCat(i));
    }
  }
  RawHttpClient refused = Connect();
  EXPECT_TRUE(refused.IsClosed());
}

// ---- pages in a browser ----

TEST_F(HttpServerTest, LetsPagesOfThisMachineInAndNoOthers) {
  StartServer();
  RawReply preflight =
      Ask("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:8001\r\n"
          "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: "
          "x-amz-target,content-type\r\n\r\n");
  EXPECT_EQ(preflight.status, 200);
  EXPECT_EQ(preflight.headers["access-control-allow-origin"], "http://localhost:8001");
  EXPECT_EQ(preflight.headers["access-control-allow-headers"], "x-amz-target,content-type");
  EXPECT_THAT(preflight.headers["access-control-allow-methods"], HasSubstr("POST"));
  RawReply reply = Ask(PostRequest("Echo", "{}", "Origin: http://127.0.0.1\r\n"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers["access-control-allow-origin"], "http://127.0.0.1");
  for (std::string_view origin :
       {"https://example.com", "http://localhost.example.com", "http://127.0.0.1.example.com:80", "null",
        "http://localhost:1@example.com", "", "http://example.com:localhost", "http://[::1].example.com"}) {
    reply = Ask(PostRequest("Echo", "{}", absl::StrFormat("Origin: %s\r\n", origin)));
    EXPECT_EQ(reply.status, 403) << origin;
    EXPECT_FALSE(reply.headers.contains("access-control-allow-origin")) << origin;
  }
  EXPECT_TRUE(IsLoopbackOrigin("http://[::1]:8000"));
}

// The name of an attacker's page may resolve to 127.0.0.1. Its requests then have no Origin that tells.
TEST_F(HttpServerTest, RefusesHostsOfOtherMachinesWithoutKeys) {
  StartServer();
  const auto ask = [this](std::string_view host) {
    return Ask(absl::StrFormat("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host));
  };
  for (std::string_view host : {"localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000"}) {
    EXPECT_EQ(ask(host).status, 200) << host;
  }
  // A container's name, or the service's own through a tunnel, but not from a web page.
  for (std::string_view host : {"itemdb", "my-db_1:8000", "dynamodb.eu-central-1.amazonaws.com",
                                "DYNAMODB.us-east-1.AmazonAWS.com:443"}) {
    EXPECT_EQ(ask(host).status, 200) << host;
  }
  for (std::string_view host :
       {"evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil", "127.0.0.2:8000", "",
        "localhost:x", "[::1]evil", "itemdb:x", "itemdb.", "evil@itemdb", "[::1",
        "amazonaws.com.evil.example", "evilamazonaws.com", "bucket.s3-website.amazonaws.com",
        "itemdb/.amazonaws.com"}) {
    const RawReply reply = ask(host);
    EXPECT_EQ(reply.status, 403) << host;
    EXPECT_THAT(reply.body, HasSubstr("AccessDeniedException")) << host;
  }
  for (std::string_view header :
       {"Origin: http://itemdb", "Referer: http://itemdb/", "Sec-Fetch-Site: same-origin"}) {
    EXPECT_EQ(Ask(absl::StrFormat("GET / HTTP/1.1\r\nHost: itemdb\r\n%s\r\n\r\n", header)).status, 403)
        << header;
  }
  EXPECT_THAT(ask("evil.example").body, HasSubstr("the Host \\\"evil.example\\\" is refused"));
  std::string post = PostRequest("Echo", "{}");
  post.replace(post.find("localhost"), 9, "evil.example");
  EXPECT_EQ(Ask(post).status, 403);
  // An address of --http-listen may be any of 127.0.0.0/8.
  EXPECT_TRUE(IsLocalHost("127.0.0.2:8000", {"127.0.0.2"}));

  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").body,
              HasSubstr("Host must be there once"));

  server_->SetKeys(*daemon::AccessKeys::Make({{.id = "AK1", .secret = "a secret of sufficient length"}}));
  EXPECT_EQ(ask("db.example.com").status, 200);
}

// Reading a body of megabytes takes milliseconds, which must not be those of other connections.
TEST_F(HttpServerTest, LargeBodiesHoldUpNoOtherConnection) {
  options_.threads = 1;
  StartServer();
  struct Row {
    std::string name;
    std::string request;
    size_t body_bytes;
  };
  const std::string text(1 << 20, 'a');
  // Text that does not compress.
  std::mt19937 random(1);
  std::string noise(16 << 10, ' ');
  for (char& c : noise) c = static_cast<char>(random());
  const Row rows[] = {
      {"plain", PostRequest("Block", text), text.size()},
      {"compressed", PostRequest("Block", GzipBytes(text + noise), "Content-Encoding: gzip\r\n"),
       text.size() + noise.size()}};
  std::vector<std::unique_ptr<RawHttpClient>> senders;
  for (const Row& row : rows) {
    senders.push_back(std::make_unique<RawHttpClient>(server_->addresses()[0]));
    ASSERT_TRUE(senders.back()->Send(row.request));
  }
  handler_.WaitUntilHeld(1);
  RawHttpClient other(server_->addresses()[0]);
  ASSERT_TRUE(other.Send(PostRequest("Echo", "abc")));
  const std::optional<RawReply> reply = other.ReadReply();
  handler_.Release();
  ASSERT_TRUE(reply.has_value()) << "the network thread waits with the large request";
  EXPECT_EQ(reply->body, "abc");
  for (size_t i = 0; i < std::size(rows); ++i) {
    const std::optional<RawReply> answer = senders[i]->ReadReply();
    ASSERT_TRUE(answer.has_value()) << rows[i].name;
    EXPECT_EQ(answer->body, std::to_string(rows[i].body_bytes));
  }
}

// The daemon stops while large requests are on their way through the other threads.
TEST_F(HttpServerTest, StopsWhileLargeBodiesAreRead) {
  StartServer();
  const std::string name = server_->addresses()[0];
  const std::string request = PostRequest("Echo", std::string(4 << 20, 'a'));
  std::vector<std::thread> senders;
  for (int i = 0; i < 4; ++i) {
    senders.emplace_back([&] {
      RawHttpClient client(name);
      while (client.Send(request) && client.ReadReply().has_value()) {
      }
    });
  }
  {
    RawHttpClient first(name);
    ASSERT_TRUE(first.Send(request));
    ASSERT_TRUE(first.ReadReply().has_value());
  }
  StopServer();
  for (std::thread& sender : senders) sender.join();
}

}  // namespace
}  // namespace itemdb::http
