// A collector of spans in the test process: an HTTP server on a port that the kernel chooses, which parses
// what it is sent as OTLP.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace itemdb::testing {

struct CollectedSpan {
  std::string trace_id;
  std::string span_id;
  // Empty: none.
  std::string parent_id;
  std::string name;
  int kind = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // The values as texts.
  std::map<std::string, std::string> attributes;
  bool error = false;
};

class TraceCollector {
 public:
  enum class Manner {
    kAccept,
    kRefuse,  // answers 503
    kSilent   // reads the request and never answers
  };

  explicit TraceCollector(Manner manner = Manner::kAccept) : manner_(manner) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Run(); });
  }
  ~TraceCollector() {
    stopping_ = true;
    thread_.join();
    close(listener_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1/traces"; }
  void set_manner(Manner manner) { manner_ = manner; }

  // Waits for at least `count` spans whose name is `name`, of any request so far.
  std::vector<CollectedSpan> Await(size_t count, const std::string& name) {
    std::unique_lock lock(mutex_);
    std::vector<CollectedSpan> found;
    changed_.wait_for(lock, std::chrono::seconds(20), [&] {
      found.clear();
      std::copy_if(spans_.begin(), spans_.end(), std::back_inserter(found),
                   [&](const CollectedSpan& span) { return span.name == name; });
      return found.size() >= count;
    });
    EXPECT_GE(found.size(), count) << name;
    return found;
  }
  // The spans whose parent is `parent_id`, in the order of their begin.
  std::vector<CollectedSpan> Below(const std::string& parent_id) {
    const std::lock_guard lock(mutex_);
    std::vector<CollectedSpan> found;
    std::copy_if(spans_.begin(), spans_.end(), std::back_inserter(found),
                 [&](const CollectedSpan& span) { return span.parent_id == parent_id; });
    std::stable_sort(found.begin(), found.end(),
                     [](const CollectedSpan& a, const CollectedSpan& b) { return a.begin_ns < b.begin_ns; });
    return found;
  }
  std::vector<CollectedSpan> all() {
    const std::lock_guard lock(mutex_);
    return spans_;
  }
  // Requests that have arrived whole.
  void AwaitRequests(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return requests_ >= count; }));
  }

 private:
  void Run() {
    std::vector<std::thread> connections;
    while (!stopping_) {
      pollfd wanted = {listener_, POLLIN, 0};
      if (poll(&wanted, 1, 20) <= 0) continue;
      const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection >= 0) connections.emplace_back([this, connection] { Serve(connection); });
    }
    for (std::thread& connection : connections) connection.join();
  }

  void Serve(int connection) {
    std::string bytes;
    while (!stopping_) {
      const size_t head_end = bytes.find("\r\n\r\n");
      if (head_end != std::string::npos) {
        const size_t length_at = bytes.find("Content-Length: ");
        EXPECT_NE(length_at, std::string::npos) << bytes.substr(0, head_end);
        const size_t length = std::strtoul(bytes.c_str() + length_at + 16, nullptr, 10);
        if (bytes.size() >= head_end + 4 + length) {
          if (!Take(bytes.substr(0, head_end), bytes.substr(head_end + 4, length), connection)) break;
          bytes.erase(0, head_end + 4 + length);
          continue;
        }
      }
      pollfd wanted = {connection, POLLIN, 0};
      if (poll(&wanted, 1, 20) <= 0) continue;
      char buffer[65536];
      const ssize_t got = read(connection, buffer, sizeof(buffer));
      if (got <= 0) break;
      bytes.append(buffer, static_cast<size_t>(got));
    }
    close(connection);
  }

  bool Take(const std::string& head, const std::string& body, int connection) {
    EXPECT_TRUE(head.starts_with("POST /v1/traces HTTP/1.1\r\n")) << head;
    EXPECT_NE(head.find("Content-Type: application/json"), std::string::npos) << head;
    const Manner manner = manner_;
    {
      const std::lock_guard lock(mutex_);
      ++requests_;
      if (manner == Manner::kAccept) Parse(body);
    }
    changed_.notify_all();
    if (manner == Manner::kSilent) return true;
    const std::string reply =
        manner == Manner::kAccept
            ? "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
            : "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    return write(connection, reply.data(), reply.size()) == static_cast<ssize_t>(reply.size());
  }

  void Parse(const std::string& body) {
    const auto document = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
    ASSERT_FALSE(document.is_discarded()) << body;
    for (const auto& resource : document.at("resourceSpans")) {
      EXPECT_EQ(resource.at("resource").at("attributes").at(0).at("value").at("stringValue"), "itemd");
      for (const auto& scope : resource.at("scopeSpans")) {
        for (const auto& span : scope.at("spans")) {
          CollectedSpan& collected = spans_.emplace_back();
          collected.trace_id = span.at("traceId");
          collected.span_id = span.at("spanId");
          collected.parent_id = span.value("parentSpanId", "");
          collected.name = span.at("name");
          collected.kind = span.at("kind");
          collected.begin_ns = std::stoll(span.at("startTimeUnixNano").get<std::string>());
          collected.end_ns = std::stoll(span.at("endTimeUnixNano").get<std::string>());
          collected.error = span.contains("status") && span["status"].value("code", 0) == 2;
          for (const auto& attribute : span.value("attributes", nlohmann::json::array())) {
            const auto& value = attribute.at("value");
            collected.attributes[attribute.at("key")] = value.contains("stringValue")
                                                            ? value.at("stringValue").get<std::string>()
                                                            : value.at("intValue").get<std::string>();
          }
        }
      }
    }
  }

  std::atomic<Manner> manner_;
  std::atomic<bool> stopping_ = false;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CollectedSpan> spans_;
  int requests_ = 0;
  std::thread thread_;
};

}  // namespace itemdb::testing
