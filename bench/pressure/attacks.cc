#include "bench/pressure/attacks.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "absl/strings/escaping.h"
#include "daemon/process/descriptor.h"
#include "itemdb/v1/data.pb.h"
#include "storage/base/check.h"
#include "tests/processes/http2_peer.h"

namespace itemdb::bench {
namespace {

using e2e::ConnectAsAttacker;
using e2e::ConnectTo;
using e2e::GrpcMessage;
using e2e::Http2Peer;
using Metadata = std::vector<std::pair<std::string, std::string>>;

constexpr uint32_t kFirstStream = 1;

void Sleep(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

// Runs `attacker(i)` on a thread of its own for each of `count`.
void OnThreads(int count, const std::function<void(int)>& attacker) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&attacker, i] { attacker(i); });
  for (std::thread& thread : threads) thread.join();
}

Metadata KeyOf(const Target& target) {
  if (!target.keys) return {};
  return {{"authorization", "Basic " + absl::Base64Escape(std::string(kKeyId) + ":" + kSecret)}};
}

// Small updates of 100 items of 400 KB, each in five indexes as a whole.
void Transactions(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  OnThreads(count, [&](int attacker) {
    Client client = OpenClient(target, 1);
    for (int64_t round = 0; !stop; ++round) {
      TransactWriteItemsRequest request;
      for (int i = 0; i < kWideItems; ++i) {
        request.actions.push_back(TransactUpdate{
            .table_name = kWideTable,
            .key = {{"id", std::to_string(i)}},
            .update_expression = "SET v = :v",
            .expression_attribute_values = {{":v", std::to_string(attacker) + "/" + std::to_string(round)}}});
      }
      const absl::Status done = client.TransactWriteItems(request).status();
      ++counts.rounds;
      if (done.ok()) continue;
      if (++counts.refused == 1)
        std::fprintf(stderr, "  first refusal: %s\n", std::string(done.message()).c_str());
      Sleep(10);
    }
  });
}

// Streams of the reflection protocol that are opened and reset at once, without a key.
void Reflection(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  OnThreads(count, [&](int) {
    std::optional<Http2Peer> peer;
    for (uint32_t stream = 0; !stop; stream += 2) {
      if (!peer.has_value() || stream > 1'000'000) {
        peer.emplace(target.grpc_port);
        stream = kFirstStream;
      }
      ++counts.rounds;
      const bool open = peer->Begin(stream, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") &&
                        peer->Reset(stream) && peer->Drain();
      if (open) continue;
      ++counts.refused;
      peer.reset();
      Sleep(10);
    }
  });
}

// As above, but nothing is read and the streams are not reset.
void OpenReflection(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  OnThreads(count, [&](int) {
    while (!stop) {
      Http2Peer peer(target.grpc_port);
      for (uint32_t stream = kFirstStream; stream < 2'000 && !stop; stream += 2) {
        ++counts.rounds;
        if (peer.Begin(stream, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo")) continue;
        ++counts.refused;
        break;
      }
    }
  });
}

// Connections that pipeline queries with replies of 1 MiB and read nothing. `takes_replies` as in
// Http2PeerOptions.
void PipelineQueries(const Target& target, int count, bool takes_replies, const std::atomic<bool>& stop,
                     AttackCounts& counts) {
  v1::QueryRequest query;
  query.set_table_name(kTable);
  query.set_key_condition_expression("id = :id");
  v1::AttributeValue id;
  id.set_s("large");
  (*query.mutable_expression_attribute_values())[":id"] = id;
  const std::string message = query.SerializeAsString();
  OnThreads(count, [&](int) {
    constexpr int kCalls = 16;
    while (!stop) {
      Http2Peer peer(target.grpc_port, {.takes_replies = takes_replies});
      bool open = true;
      for (int i = 0; open && i < kCalls; ++i) {
        ++counts.rounds;
        open = peer.Call(kFirstStream + 2 * static_cast<uint32_t>(i), "/itemdb.v1.Data/Query", message,
                         KeyOf(target));
      }
      // A peer that asks again now and then learns when it is cut off.
      for (uint32_t stream = kFirstStream + 2 * kCalls; open && !stop; stream += 2) {
        Sleep(200);
        open = peer.Call(stream, "/itemdb.v1.Data/Query", message, KeyOf(target));
      }
      if (!open) ++counts.refused;
    }
  });
}

void UnreadReplies(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  PipelineQueries(target, count, /*takes_replies=*/true, stop, counts);
}
void ClosedWindows(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  PipelineQueries(target, count, /*takes_replies=*/false, stop, counts);
}

// Calls without a key whose request has 17 MiB, of which the last byte is never sent.
void KeylessBodies(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  constexpr int kStreams = 8;
  constexpr int64_t kBytes = (17 << 20) - 64;
  const std::string message = GrpcMessage(std::string(kBytes, 'x'));
  OnThreads(count, [&](int) {
    while (!stop) {
      Http2Peer peer(target.grpc_port);
      bool open = true;
      std::vector<size_t> sent(kStreams, 0);
      for (int i = 0; open && i < kStreams; ++i) {
        open = peer.Begin(kFirstStream + 2 * static_cast<uint32_t>(i), "/itemdb.v1.Data/PutItem");
        ++counts.rounds;
      }
      while (open && !stop) {
        open = peer.Drain();
        bool any = false;
        for (int i = 0; open && i < kStreams; ++i) {
          const uint32_t stream = kFirstStream + 2 * static_cast<uint32_t>(i);
          const int64_t left = static_cast<int64_t>(message.size() - 1 - sent[i]);
          const int64_t bytes = std::min({left, peer.Window(stream), int64_t{16'384}});
          if (bytes <= 0) continue;
          any = true;
          open =
              peer.Data(stream, std::string_view(message).substr(sent[i], static_cast<size_t>(bytes)), false);
          sent[i] += static_cast<size_t>(bytes);
        }
        if (peer.ended_streams() >= kStreams) break;
        if (!any) Sleep(10);
      }
      if (!stop) ++counts.refused;
    }
  });
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

std::string Post(std::string_view operation, std::string_view body, std::string_view headers = "") {
  std::string request =
      "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00\r\n"
      "X-Amz-Target: DynamoDB_20120810.";
  request.append(operation).append("\r\nContent-Type: application/x-amz-json-1.0\r\n").append(headers);
  return request.append("Content-Length: ")
      .append(std::to_string(body.size()))
      .append("\r\n\r\n")
      .append(body);
}

// The same over HTTP.
void UnreadHttpReplies(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  const std::string request = Post("Query", std::string(R"({"TableName":")") + kTable +
                                                R"(","KeyConditionExpression":"id = :id",)"
                                                R"("ExpressionAttributeValues":{":id":{"S":"large"}}})");
  OnThreads(count, [&](int) {
    while (!stop) {
      const daemon::Descriptor fd = ConnectAsAttacker(target.http_port);
      if (fd.get() < 0) continue;
      const timeval patience = {.tv_sec = 1, .tv_usec = 0};
      setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
      bool open = true;
      for (int i = 0; open && i < 16; ++i, ++counts.rounds) open = SendAll(fd.get(), request);
      while (open && !stop) {
        Sleep(200);
        open = SendAll(fd.get(), request);
      }
      if (!open) ++counts.refused;
    }
  });
}

// BatchWriteItem requests of nearly 16 MiB, compressed, one after another on each connection.
void LargeBodies(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  std::string body = std::string(R"({"RequestItems":{")") + kTable + R"(":[)";
  for (int i = 0; i < 25; ++i) {
    body.append(i == 0 ? "" : ",")
        .append(R"({"PutRequest":{"Item":{"id":{"S":"body"},"n":{"S":")" + std::to_string(i) +
                R"("},"list":{"L":[)");
    // Many small values: the JSON is long, the item is not.
    for (int value = 0; value < 45'000; ++value) body.append(value == 0 ? "" : ",").append(R"({"N":"1"})");
    body.append("]}}}}");
  }
  body.append("]}}");
  std::string compressed(compressBound(body.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(body.data());
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  ITEMDB_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  const std::string request = Post("BatchWriteItem", compressed, "Content-Encoding: gzip\r\n");
  OnThreads(count, [&](int) {
    while (!stop) {
      const daemon::Descriptor fd = ConnectAsAttacker(target.http_port);
      while (!stop && fd.get() >= 0 && SendAll(fd.get(), request)) {
        char reply[4'096];
        const ssize_t bytes = recv(fd.get(), reply, sizeof(reply), 0);
        if (bytes <= 0) break;
        ++counts.rounds;
        if (!std::string_view(reply, static_cast<size_t>(bytes)).starts_with("HTTP/1.1 200") &&
            ++counts.refused == 1) {
          std::fprintf(stderr, "  first refusal: %.*s\n", static_cast<int>(bytes), reply);
        }
      }
    }
  });
}

// Connections that one address opens on both ports and keeps, as many as it gets.
void ManyConnections(const Target& target, int count, const std::atomic<bool>& stop, AttackCounts& counts) {
  std::vector<daemon::Descriptor> open;
  for (int i = 0; i < count && !stop; ++i) {
    open.push_back(ConnectAsAttacker(i % 2 == 0 ? target.grpc_port : target.http_port));
    ++counts.rounds;
  }
  while (!stop) {
    Sleep(100);
    for (size_t i = 0; i < open.size() && !stop; ++i) {
      char byte;
      if (recv(open[i].get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) != 0 && errno == EAGAIN) continue;
      // gRPC sends its settings first.
      if (recv(open[i].get(), &byte, 1, MSG_DONTWAIT) > 0) continue;
      ++counts.refused;
      ++counts.rounds;
      open[i] = ConnectAsAttacker(i % 2 == 0 ? target.grpc_port : target.http_port);
    }
  }
}

}  // namespace

HttpCaller::HttpCaller(uint16_t port) : socket_(e2e::ConnectTo(port, INADDR_LOOPBACK)) {}

bool HttpCaller::Get() {
  static const std::string request = Post(
      "GetItem", std::string(R"({"TableName":")") + kTable + R"(","Key":{"id":{"S":"a"},"n":{"S":"1"}}})");
  if (!SendAll(socket_.get(), request)) return false;
  std::string reply;
  while (reply.find("\r\n\r\n") == std::string::npos || !reply.ends_with('}')) {
    char bytes[4'096];
    const ssize_t received = recv(socket_.get(), bytes, sizeof(bytes), 0);
    if (received <= 0) return false;
    reply.append(bytes, static_cast<size_t>(received));
  }
  return reply.starts_with("HTTP/1.1 200");
}

Client OpenClient(const Target& target, int attempts) {
  ClientOptions options = {.endpoint = "127.0.0.1:" + std::to_string(target.grpc_port)};
  options.retry.max_attempts = attempts;
  if (target.keys) {
    options.access_key_id = kKeyId;
    options.secret_access_key = kSecret;
  }
  absl::StatusOr<Client> client = Client::Open(options);
  ITEMDB_CHECK(client.ok());
  return *std::move(client);
}

const std::vector<Attack>& Attacks() {
  static const std::vector<Attack> attacks = {
      {"transactions", "100 small updates of 400 KB items with five indexes of all attributes", 16, false,
       false, Transactions},
      {"reflection", "reflection streams without a key, opened and reset", 8, true, false, Reflection},
      {"open-reflection", "reflection streams without a key, a thousand a connection, left open", 8, true,
       false, OpenReflection},
      {"unread", "connections that pipeline queries over gRPC and read nothing", 60, false, false,
       UnreadReplies},
      {"closed-windows", "the same with the flow-control windows of HTTP/2, so that replies stay in itemd",
       60, false, false, ClosedWindows},
      {"unread-http", "the same over HTTP", 60, false, false, UnreadHttpReplies},
      {"keyless-bodies", "gRPC requests of 17 MiB without a key that never end, 8 a connection", 16, true,
       false, KeylessBodies},
      {"large-bodies", "BatchWriteItem bodies of 10 MB over HTTP, compressed, in a loop", 1, false, true,
       LargeBodies},
      {"connections", "idle connections from one address", 20'000, false, false, ManyConnections},
  };
  return attacks;
}

}  // namespace itemdb::bench
