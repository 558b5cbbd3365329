// Addresses itemd listens on.
//
//   HOST:PORT     HOST is an IPv4 address, an IPv6 address in square brackets or localhost; PORT 0 lets the
//                 kernel choose
//   unix:/PATH    a unix socket, at most 107 bytes of absolute path
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace itemdb {

inline constexpr int kDefaultPort = 7420;

struct ListenAddress {
  // As gRPC takes it: "127.0.0.1:7420", "[::1]:0", "unix:/run/itemdb/itemd.sock".
  std::string text;
  // The path of a unix socket, else empty.
  std::string socket_path;
  // Other machines cannot reach it: unix sockets, 127.0.0.0/8 and [::1].
  bool loopback = true;
};

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// As the kernel takes it.
SocketAddress ToSocketAddress(const ListenAddress& address);

// INVALID_ARGUMENT: not an address.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// Where itemd listens unless told: itemd.sock in `run_directory` when that directory is there and writable,
// and the default port of 127.0.0.1.
std::vector<ListenAddress> DefaultListenAddresses(const std::string& run_directory = "/run/itemdb");

// Makes room for a socket at `path`: removes a socket file nobody listens on. FAILED_PRECONDITION: a process
// listens there, or the file is no socket.
absl::Status RemoveStaleSocket(const std::string& path);

}  // namespace itemdb
