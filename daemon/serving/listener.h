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
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "daemon/process/descriptor.h"
#include "daemon/process/listen_address.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

// Counts open connections that other code owns: a connection is closed when its descriptor is closed or
// refers to another file. Not thread-safe.
class ConnectionCount {
 public:
  explicit ConnectionCount(size_t limit) : limit_(limit) {}

  // True: `fd` exceeds the limit and is not counted. False: `fd` is counted until its owner closes it.
  bool Exceeds(int fd);

 private:
  // Stops counting closed connections; does nothing within 10 ms of the last time.
  void Sweep();

  const size_t limit_;
  // Inode of the socket behind each descriptor.
  std::unordered_map<int, ino_t> connections_;
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
  void Start(size_t max_connections, Accept accept, std::shared_ptr<spdlog::logger> log);

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
  void Run(size_t max_connections, const Accept& accept, spdlog::logger& log);

  std::vector<Socket> sockets_;
  std::vector<std::string> names_;
  Descriptor stop_;  // An eventfd; Stop() makes it readable to end the thread.
  std::thread thread_;
};

// Raises the soft limit on open files to the hard one, and returns it.
size_t RaiseOpenFileLimit();

}  // namespace itemdb::daemon
