#include "bench/epoll_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/process/address_file.h"

namespace itemdb::bench {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLength = "\r\nContent-Length: ";

// The bytes of the first request in `text`; 0: it is not there whole.
size_t WholeRequest(std::string_view text) {
  const size_t head = text.find(kHeadEnd);
  if (head == std::string_view::npos) return 0;
  const size_t length = text.find(kLength);
  size_t bytes = head + kHeadEnd.size();
  if (length < head) bytes += std::strtoull(text.data() + length + kLength.size(), nullptr, 10);
  return bytes <= text.size() ? bytes : 0;
}

absl::Status SystemError(std::string_view what) { return absl::ErrnoToStatus(errno, std::string(what)); }

// Listens on `port`, 0: one that the kernel chooses. All threads listen on the same one.
absl::StatusOr<int> Listen(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return SystemError("socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return SystemError("bind");
  if (listen(fd, SOMAXCONN) != 0) return SystemError("listen");
  return fd;
}

absl::StatusOr<uint16_t> PortOf(int fd) {
  sockaddr_in address = {};
  socklen_t bytes = sizeof(address);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return SystemError("getsockname");
  return ntohs(address.sin_port);
}

// One thread with its connections.
class EpollLoop {
 public:
  EpollLoop(int listener, std::string_view reply) : listener_(listener), reply_(reply) { Watch(listener_); }

  void Run() {
    std::vector<epoll_event> events(128);
    while (true) {
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < ready; ++i) {
        const int fd = events[i].data.fd;
        if (fd == listener_) {
          Accept();
        } else if (!Serve(fd, connections_[fd])) {
          connections_.erase(fd);
          close(fd);
        }
      }
    }
  }

 private:
  void Watch(int fd) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }

  void Accept() {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    Watch(fd);
  }

  // False: the connection has ended. `unread` is the beginning of a request.
  bool Serve(int fd, std::string& unread) {
    const ssize_t got = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) return got < 0 && errno == EAGAIN;
    unread.append(buffer_.data(), static_cast<size_t>(got));
    while (const size_t bytes = WholeRequest(unread)) {
      // A reply fits the socket's buffer: a client waits for it before it sends more.
      if (send(fd, reply_.data(), reply_.size(), MSG_NOSIGNAL) < 0) return false;
      unread.erase(0, bytes);
    }
    return true;
  }

  const int listener_;
  const std::string_view reply_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<char> buffer_ = std::vector<char>(64 << 10);
  std::unordered_map<int, std::string> connections_;
};

}  // namespace

absl::Status RunEpollServer(const std::string& address_file, size_t reply_bytes) {
  const std::string reply = absl::StrCat(
      "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: ", reply_bytes,
      "\r\n\r\n", std::string(reply_bytes, 'x'));
  uint16_t port = 0;
  std::vector<std::unique_ptr<EpollLoop>> loops;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    ITEMDB_ASSIGN_OR_RETURN(const int listener, Listen(port));
    ITEMDB_ASSIGN_OR_RETURN(port, PortOf(listener));
    loops.push_back(std::make_unique<EpollLoop>(listener, reply));
  }
  daemon::AddressFile file(address_file, 0600);
  ITEMDB_RETURN_IF_ERROR(file.Write({}, {absl::StrCat("127.0.0.1:", port)}));
  std::vector<std::thread> threads;
  for (const auto& loop : loops) threads.emplace_back([&loop] { loop->Run(); });
  for (std::thread& thread : threads) thread.join();
  return absl::InternalError("the epoll server ended");
}

}  // namespace itemdb::bench
