// A daemon that dies at the worst moment: it takes a connection, waits until a whole request has arrived, and
// closes the connection without an answer, or resets the request first.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

namespace itemdb {

// Speaks just enough HTTP/2 for that. Serves one connection.
class HangUpDaemon {
 public:
  // With `reset_code`, an HTTP/2 error code, the request ends with RST_STREAM and that code.
  explicit HangUpDaemon(std::optional<uint8_t> reset_code = std::nullopt);
  // Joins its thread; the client must have made its call or be gone, after a reset be gone.
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
  std::thread thread_;  // Last: runs as soon as it is made.
};

}  // namespace itemdb
