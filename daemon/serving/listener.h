// Listening sockets, and the thread that accepts connections and hands them to gRPC or HTTP.
//
// gRPC can listen itself, but gRPC 1.51 stops accepting for ever once the process is out of file descriptors,
// has no bound on connections, removes the socket file of another daemon that is serving on it, and does not
// say why an address failed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/log/log.h"
#include "daemon/process/descriptor.h"
#include "daemon/process/listen_address.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// Counts open connections that other code owns: a connection is closed when its descriptor is closed or
// refers to another file. Not thread-safe.
//
// The last quarter of the connections is reserved for addresses with less than half of the limit, so one
// address cannot take all: it gets three quarters. Limits below 64 are not divided, and unix sockets, whose
// permissions say who may connect, have no address.
class ConnectionCount {
 public:
  explicit ConnectionCount(size_t limit) : limit_(limit) {}

  // Not nullopt: `fd` is refused, for this reason, and not counted. nullopt: `fd` is counted until its owner
  // closes it. `address` is the peer's, without its port; empty for a unix socket.
  std::optional<std::string_view> Refuses(int fd, const std::string& address);

 private:
  struct Connection {
    // Of the socket behind the descriptor.
    ino_t inode = 0;
    std::string address;
  };

  // Stops counting closed connections; does nothing within 10 ms of the last time.
  void Sweep();
  void Forget(const Connection& connection);
  bool ExceedsShare(const std::string& address) const;

  const size_t limit_;
  // By descriptor.
  std::unordered_map<int, Connection> connections_;
  std::unordered_map<std::string, size_t> of_address_;
  std::chrono::steady_clock::time_point swept_;
};

class Listener {
 public:
  // Called with a connected, non-blocking socket, which the callee owns. `tcp` is true for HOST:PORT, false
  // for unix sockets. Called by one thread.
  using Accept = std::function<void(int fd, int listener_fd, bool tcp)>;

  // Listens on all of `addresses` or on none; accepts nothing yet. Socket files get `socket_permissions`; a
  // stale one is replaced. UNAVAILABLE: listening on an address failed; the message names it and the reason.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::vector<ListenAddress>& addresses,
                                                        unsigned socket_permissions);
  // Calls Stop().
  ~Listener();

  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // One for each address passed to Open(), with the port that the kernel chose.
  const std::vector<std::string>& addresses() const { return names_; }

  // Starts the thread that accepts connections. Connections beyond `max_connections` are closed at once,
  // which is logged at most once a second. Called once.
  void Start(size_t max_connections, Accept accept, common::Log log);

  // Stops listening and removes the socket files. Open connections stay open. May be called again.
  void Stop();

 private:
  struct Socket {
    Descriptor fd;
    bool tcp = true;
    // The socket file, and its inode: Stop() does not remove a file with another inode.
    std::string path;
    ino_t inode = 0;
  };

  Listener() = default;
  absl::Status Listen(const ListenAddress& address, unsigned socket_permissions);
  void Run(size_t max_connections, const Accept& accept, const common::Log& log);

  std::vector<Socket> sockets_;
  std::vector<std::string> names_;
  Descriptor stop_;  // An eventfd; Stop() makes it readable to end the thread.
  std::thread thread_;
};

// Asks whether Listener::Open() would succeed now, without letting anybody connect. UNAVAILABLE: not on an
// address; the message is that of Open().
absl::Status CheckCanListen(const std::vector<ListenAddress>& addresses);

// Raises the soft limit on open files to the hard one, and returns it.
size_t RaiseOpenFileLimit();

}  // namespace itemdb::daemon
