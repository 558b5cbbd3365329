// A fixed number of connections that occupy a server without completing a request. A closed connection is
// replaced by a new one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "daemon/process/descriptor.h"

namespace itemdb::e2e {

// A third of the connections sends nothing, a third sends the HTTP/2 preface and then nothing, a third sends
// a PutItem request, one byte a second. If the server closes a connection, it is opened again.
class SlowPeers {
 public:
  // Opens `count` connections to port `port` of 127.0.0.1, and returns when all are open.
  SlowPeers(uint16_t port, int count);
  // Closes the connections.
  ~SlowPeers();
  SlowPeers(const SlowPeers&) = delete;
  SlowPeers& operator=(const SlowPeers&) = delete;

  // How many connections the server has closed.
  int64_t closed_by_server() const { return closed_by_server_; }

 private:
  enum class Kind { kSilent, kIdle, kTrickling };
  struct Peer {
    Kind kind;
    daemon::Descriptor socket;
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
