// HTTP requests on one thread, over connections that are kept and shared (libcurl's multi interface).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace itemdb {

struct CurlRequest {
  std::string body;
  // "name: value".
  std::vector<std::string> headers;
  absl::Time deadline;
};

struct CurlReply {
  enum class End {
    // Head and body have arrived.
    kReplied,
    // No connection was made; the other side has not seen the request.
    kNeverSent,
    // The connection was lost, or the reply is no HTTP, after the request may have been sent.
    kLost,
    kDeadline,
    kCancelled,
  };
  End end = End::kReplied;
  // For kDeadline and kCancelled: whether the request may have been sent.
  bool may_be_sent = false;
  // Why, for all ends but kReplied and kCancelled.
  std::string error;
  unsigned http_status = 0;
  // The header x-amz-crc32; empty if it is missing.
  std::string checksum;
  std::string body;
};

struct CurlOptions {
  std::string url;
  int max_connections = 64;
  // PEM files for https; empty for the system's, and for no client certificate.
  std::string ca_file = "";
  std::string cert_file = "";
  std::string key_file = "";
  // Where connections go instead of to the URL's host, as CURLOPT_CONNECT_TO; empty for the host itself.
  std::string connect_to = "";
};

// Thread-safe.
class CurlLoop {
 public:
  // Runs on the loop's thread and must not block.
  using Done = absl::AnyInvocable<void(CurlReply) &&>;

  explicit CurlLoop(const CurlOptions& options);
  // Ends all requests with kCancelled. Waits for the thread, unless it is the thread itself that destroys the
  // loop.
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  // POSTs the request; returns its number, which is never 0. `done` runs exactly once.
  uint64_t Post(CurlRequest request, Done done);
  // Ends the request with kCancelled; no effect after its end.
  void Cancel(uint64_t number);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace itemdb
