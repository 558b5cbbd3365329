#include "daemon/serving/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

using Clock = std::chrono::steady_clock;

// Connections that wait in the kernel while this thread is busy; the kernel lowers it to net.core.somaxconn.
constexpr int kBacklog = 4'096;
// The pause when the process has no free descriptor for a waiting connection.
constexpr int kPauseMs = 100;
// A sweep checks thousands of descriptors. One sweep for each connection beyond the limit would let a client
// that opens many connections keep this thread busy.
constexpr std::chrono::milliseconds kSweepInterval(10);
constexpr std::chrono::seconds kLogInterval(1);

std::string ReasonOf(int error) {
  if (error == EADDRINUSE) return "another process uses this address";
  if (error == EAFNOSUPPORT)
    return "this process may not use the network; the drop-in network.conf of the systemd unit allows it "
           "(/usr/share/itemdb/network.conf), or listen on unix:/PATH";
  return std::strerror(error);
}

absl::Status Unavailable(const ListenAddress& address, absl::string_view message) {
  return absl::UnavailableError(absl::StrCat(address.setting, address.setting.empty() ? "" : ": ", message));
}

absl::Status CannotListen(const ListenAddress& address, int error) {
  return Unavailable(address, absl::StrFormat("cannot listen on %s: %s", address.text, ReasonOf(error)));
}

// The text of `address` with the port that `fd` is bound to.
std::string BoundName(const ListenAddress& address, int fd) {
  if (!address.socket_path.empty()) return address.text;
  sockaddr_storage bound = {};
  socklen_t bytes = sizeof(bound);
  getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &bytes);
  // sin_port and sin6_port have the same offset.
  int port = ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
  return absl::StrFormat("%s:%d", address.text.substr(0, address.text.rfind(':')), port);
}

ino_t InodeOf(int fd) {
  struct stat info = {};
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

// The address of the peer without its port; empty for a unix socket.
std::string AddressOf(int fd) {
  const std::string peer = PeerOf(fd);
  return peer.starts_with("ip") ? peer.substr(0, peer.rfind(':')) : std::string();
}

// Passes() returns true at most once a second.
class RateLimiter {
 public:
  bool Passes() {
    Clock::time_point now = Clock::now();
    if (now - last_ < kLogInterval) return false;
    last_ = now;
    return true;
  }

 private:
  Clock::time_point last_ = Clock::now() - kLogInterval;
};

}  // namespace

std::optional<std::string_view> ConnectionCount::Refuses(int fd, const std::string& address) {
  // If the number of `fd` is counted already, that connection was closed.
  if (const auto former = connections_.find(fd); former != connections_.end()) {
    Forget(former->second);
    connections_.erase(former);
  }
  if (connections_.size() >= limit_ || ExceedsShare(address)) Sweep();
  if (connections_.size() >= limit_) return "all connections are taken";
  if (ExceedsShare(address)) return "its address has more than half of the connections, and few are left";
  connections_[fd] = {.inode = InodeOf(fd), .address = address};
  if (!address.empty()) ++of_address_[address];
  return std::nullopt;
}

bool ConnectionCount::ExceedsShare(const std::string& address) const {
  constexpr size_t kDividedAbove = 64;
  if (address.empty() || limit_ < kDividedAbove || connections_.size() < limit_ - limit_ / 4) return false;
  const auto found = of_address_.find(address);
  return found != of_address_.end() && found->second >= limit_ / 2;
}

void ConnectionCount::Forget(const Connection& connection) {
  const auto found = of_address_.find(connection.address);
  if (found != of_address_.end() && --found->second == 0) of_address_.erase(found);
}

void ConnectionCount::Sweep() {
  Clock::time_point now = Clock::now();
  if (now - swept_ < kSweepInterval) return;
  swept_ = now;
  std::erase_if(connections_, [this](const auto& entry) {
    const bool closed = InodeOf(entry.first) != entry.second.inode;
    if (closed) Forget(entry.second);
    return closed;
  });
}

absl::StatusOr<std::unique_ptr<Listener>> Listener::Open(const std::vector<ListenAddress>& addresses,
                                                         unsigned socket_permissions) {
  std::unique_ptr<Listener> listener(new Listener());
  for (const ListenAddress& address : addresses) {
    ITEMDB_RETURN_IF_ERROR(listener->Listen(address, socket_permissions));
  }
  return listener;
}

absl::Status CheckCanListen(const std::vector<ListenAddress>& addresses) {
  for (const ListenAddress& address : addresses) {
    if (!address.socket_path.empty()) {
      if (absl::Status free = RemoveStaleSocket(address.socket_path); !free.ok())
        return Unavailable(address, free.message());
      const std::string directory = address.socket_path.substr(0, address.socket_path.rfind('/') + 1);
      if (access(directory.c_str(), W_OK | X_OK) != 0) return CannotListen(address, errno);
      continue;
    }
    const SocketAddress target = ToSocketAddress(address);
    // Bound and not listening: nobody can connect. As Listen() does it.
    const Descriptor probe(socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (probe.get() < 0) return CannotListen(address, errno);
    int on = 1, off = 0;
    setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (target.storage.ss_family == AF_INET6)
      setsockopt(probe.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(probe.get(), target.get(), target.bytes) != 0) return CannotListen(address, errno);
  }
  return absl::OkStatus();
}

absl::Status Listener::Listen(const ListenAddress& address, unsigned socket_permissions) {
  const SocketAddress target = ToSocketAddress(address);
  Socket socket;
  socket.tcp = address.socket_path.empty();
  socket.fd.Reset(::socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd.get() < 0) return CannotListen(address, errno);
  int on = 1, off = 0;
  if (socket.tcp) {
    // Allows binding while old connections are in TIME_WAIT. Two daemons still cannot share a port.
    setsockopt(socket.fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    // [::] listens on all IPv4 addresses too.
    if (target.storage.ss_family == AF_INET6) {
      setsockopt(socket.fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    }
  } else {
    absl::Status free = RemoveStaleSocket(address.socket_path);
    if (!free.ok()) return Unavailable(address, free.message());
  }
  if (bind(socket.fd.get(), target.get(), target.bytes) != 0) return CannotListen(address, errno);
  if (!socket.tcp) {
    socket.path = address.socket_path;
    struct stat file = {};
    if (chmod(socket.path.c_str(), socket_permissions) != 0 || stat(socket.path.c_str(), &file) != 0) {
      return CannotListen(address, errno);
    }
    socket.inode = file.st_ino;
  }
  if (listen(socket.fd.get(), kBacklog) != 0) return CannotListen(address, errno);
  names_.push_back(BoundName(address, socket.fd.get()));
  sockets_.push_back(std::move(socket));
  return absl::OkStatus();
}

void Listener::Start(size_t max_connections, Accept accept, common::Log log) {
  stop_.Reset(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this, max_connections, accept = std::move(accept), log = std::move(log)] {
    Run(max_connections, accept, *log);
  });
}

void Listener::Run(size_t max_connections, const Accept& accept, const common::Log& log) {
  ConnectionCount count(max_connections);
  RateLimiter refused, exhausted;
  std::vector<pollfd> events = {{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  for (const Socket& socket : sockets_)
    events.push_back({.fd = socket.fd.get(), .events = POLLIN, .revents = 0});
  while (true) {
    poll(events.data(), events.size(), -1);
    if (events[0].revents != 0) return;
    for (size_t i = 0; i < sockets_.size(); ++i) {
      if (events[i + 1].revents == 0) continue;
      Descriptor connection(accept4(events[i + 1].fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (connection.get() < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) continue;
        if (exhausted.Passes())
          log.warn("connections wait for file descriptors reason={}", std::strerror(errno));
        poll(events.data(), 1, kPauseMs);
        continue;
      }
      if (const auto reason = count.Refuses(connection.get(), AddressOf(connection.get()))) {
        if (refused.Passes())
          log.warn("connection refused max_connections={} reason={}", max_connections, *reason);
        continue;
      }
      if (sockets_[i].tcp) {
        int on = 1;
        setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      }
      accept(connection.Release(), events[i + 1].fd, sockets_[i].tcp);
    }
  }
}

void Listener::Stop() {
  if (thread_.joinable()) {
    eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  for (Socket& socket : sockets_) {
    struct stat file = {};
    bool ours = !socket.path.empty() && stat(socket.path.c_str(), &file) == 0 && file.st_ino == socket.inode;
    if (ours) unlink(socket.path.c_str());
  }
  sockets_.clear();
}

Listener::~Listener() { Stop(); }

size_t RaiseOpenFileLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace itemdb::daemon
