// A daemon that fails after it has received a request: it accepts a connection, waits until a whole request
// has arrived, and closes the connection without an answer, or resets the request first.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace itemdb {

// Implements only as much HTTP/2 as necessary. Serves one connection.
class HangUpDaemon {
 public:
  // With `reset_code`, an HTTP/2 error code, the request ends with RST_STREAM and that code.
  explicit HangUpDaemon(std::optional<uint8_t> reset_code = std::nullopt);
  // Joins the thread. Before that the client must have made its call or closed its connection; after a reset
  // it must have closed its connection.
  ~HangUpDaemon();

  // "127.0.0.1:PORT".
  std::string endpoint() const;
  // True once a request has arrived and the connection was closed.
  bool hung_up() const { return hung_up_; }

 private:
  void Serve();

  const std::optional<uint8_t> reset_code_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> hung_up_ = false;
  std::thread thread_;  // Last, because it uses the other members as soon as it is constructed.
};

}  // namespace itemdb
