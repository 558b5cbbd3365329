// Connections that take a server's time and give it nothing: kept open in number, whatever the server does.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/processes/child_process.h"

namespace itemdb::e2e {

// A third of them never says a word, a third begins HTTP/2 and then falls silent, a third sends a PutItem
// request one byte a second. One that the server closes is opened again.
class SlowPeers {
 public:
  // Connects `count` times to port `port` of 127.0.0.1, and returns when all are there.
  SlowPeers(uint16_t port, int count);
  // Closes them.
  ~SlowPeers();
  SlowPeers(const SlowPeers&) = delete;
  SlowPeers& operator=(const SlowPeers&) = delete;

  // How often the server closed one.
  int64_t closed_by_server() const { return closed_by_server_; }

 private:
  enum class Kind { kSilent, kIdle, kTrickling };
  struct Peer {
    Kind kind;
    Descriptor socket;
  };

  void Connect(Peer& peer);
  void Run();

  const uint16_t port_;
  std::vector<Peer> peers_;
  std::atomic<int64_t> closed_by_server_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace itemdb::e2e
