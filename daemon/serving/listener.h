// Listening sockets, and the thread that accepts connections and hands them to gRPC.
//
// gRPC could do both, but its 1.51 stops accepting for ever once the process is out of file descriptors, has
// no bound on connections, removes the socket file of a daemon that serves it, and does not say why an
// address failed.
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

namespace itemdb {

// Counts connections that were given away: one is gone when its descriptor is closed or names something else.
// Not thread-safe.
class ConnectionCount {
 public:
  explicit ConnectionCount(size_t limit) : limit_(limit) {}

  // True when `fd` is one more than the limit allows. Otherwise it is counted until it is closed, by
  // whomever.
  bool Exceeds(int fd);

 private:
  // Forgets what is closed.
  void Sweep();

  const size_t limit_;
  // Inode of the socket behind each descriptor.
  std::unordered_map<int, ino_t> connections_;
  std::chrono::steady_clock::time_point swept_;
};

class Listener {
 public:
  // Takes a connected, non-blocking socket, which it owns from then on. `tcp` tells HOST:PORT from unix
  // sockets. Called by one thread.
  using Accept = std::function<void(int fd, int listener_fd, bool tcp)>;

  // Listens on all of `addresses` or on none; nothing is accepted yet. Socket files get `socket_permissions`;
  // a stale one is replaced. UNAVAILABLE: one of them cannot be listened on; the message names it and the
  // reason.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(const std::vector<ListenAddress>& addresses,
                                                        unsigned socket_permissions);
  // As Stop().
  ~Listener();

  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // One per address asked for, with the ports the kernel chose.
  const std::vector<std::string>& addresses() const { return names_; }

  // Accepts from now on, `max_connections` at once; what is beyond is closed as it comes, and logged at most
  // once a second. Called once.
  void Start(size_t max_connections, Accept accept, std::shared_ptr<spdlog::logger> log);

  // Stops listening and removes the socket files. Connections go on. May be called again.
  void Stop();

 private:
  struct Socket {
    Descriptor fd;
    bool tcp = true;
    // Of the socket file, to remove no other.
    std::string path;
    ino_t inode = 0;
  };

  Listener() = default;
  absl::Status Listen(const ListenAddress& address, unsigned socket_permissions);
  void Run(size_t max_connections, const Accept& accept, spdlog::logger& log);

  std::vector<Socket> sockets_;
  std::vector<std::string> names_;
  Descriptor stop_;  // An eventfd, readable once the thread is to end.
  std::thread thread_;
};

// Raises the soft limit on open files to the hard one, and returns it.
size_t RaiseOpenFileLimit();

}  // namespace itemdb
