// The addresses on which itemd listens.
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

namespace itemdb::daemon {

inline constexpr int kDefaultPort = 7420;

struct ListenAddress {
  // In gRPC's syntax: "127.0.0.1:7420", "[::1]:0", "unix:/run/itemdb/itemd.sock".
  std::string text;
  // The path of a unix socket, else empty.
  std::string socket_path;
  // True for addresses that other machines cannot reach: unix sockets, 127.0.0.0/8 and [::1].
  bool loopback = true;
  // What messages call the setting that has this address: "--listen", or where the configuration file has it.
  // May be empty.
  std::string setting = {};
};

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// The form that bind() and connect() take.
SocketAddress ToSocketAddress(const ListenAddress& address);

// INVALID_ARGUMENT: not an address.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// The addresses when none are configured: `run_directory`/itemd.sock if that directory exists and is
// writable, and kDefaultPort of 127.0.0.1.
std::vector<ListenAddress> DefaultListenAddresses(const std::string& run_directory = "/run/itemdb");

// Removes the socket file at `path` if no process listens on it; does nothing if there is no file.
// FAILED_PRECONDITION: a process listens there, or the file is not a socket.
absl::Status RemoveStaleSocket(const std::string& path);

// The other end of a connected socket in the form that gRPC has: "ipv4:10.0.0.7:40312", "ipv6:[::1]:40312",
// "unix:". Empty if the socket is not connected any more.
std::string PeerOf(int socket);

// One name for a peer, whether gRPC or PeerOf() named it: brackets as such ("%5B" of gRPC), without the scope
// of a link-local address, and an IPv4 peer of a socket that listens on [::] as "ipv4:".
std::string NormalPeer(std::string_view peer);
// The part of it that other connections of the same address share: "ipv4:127.0.0.1", "ipv6:[::1]", "unix".
// Each IPv6 address is one of its own: a client who has a network of them has as many.
std::string AddressOfPeer(std::string_view peer);

}  // namespace itemdb::daemon
