// HTTP requests of this process to another machine, by libcurl. Connections are kept for later requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::storage {

struct HttpCall {
  // "PUT".
  std::string method;
  std::string url;
  // Names and values, all that are sent but for those that HTTP itself needs.
  std::vector<std::pair<std::string, std::string>> headers;
  // Borrowed.
  std::string_view body;
  // A longer reply is an error.
  size_t max_reply_bytes = 0;
};

struct HttpReply {
  // 0: there was no reply.
  int status = 0;
  // Names in lower case.
  std::map<std::string, std::string> headers;
  // What has arrived, also when the connection was cut.
  std::string body;

  // Empty: there is no such header.
  std::string HeaderOf(const std::string& name) const;
};

// Thread-safe.
class HttpTransfers {
 public:
  struct Settings {
    // Empty: the authorities of the system.
    std::string ca_file;
    std::chrono::seconds stall_timeout;
  };

  // Sends "User-Agent: itemd" and follows no redirections. `cancellation` is borrowed.
  HttpTransfers(Settings settings, const Cancellation& cancellation);
  ~HttpTransfers();
  HttpTransfers(const HttpTransfers&) = delete;
  HttpTransfers& operator=(const HttpTransfers&) = delete;

  // Blocks until the reply is there; a cancellation ends it within about a second. `*reply` is set also after
  // an error. OK: there is a whole reply, of any status.
  //
  // UNAVAILABLE: there is no connection, or it was cut, or stalled; another attempt may succeed.
  // FAILED_PRECONDITION: TLS says that it is the wrong machine, or `ca_file` cannot be used.
  // RESOURCE_EXHAUSTED: the reply is too long. CANCELLED.
  absl::Status Perform(const HttpCall& call, HttpReply* reply);

 private:
  const Settings settings_;
  const Cancellation& cancellation_;
  Mutex mutex_;
  // Handles of libcurl that nobody uses now. Each has its connections.
  std::vector<void*> handles_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
