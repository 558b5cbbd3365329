#include "daemon/process/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "daemon/process/descriptor.h"

namespace itemdb::daemon {
namespace {

constexpr size_t kMaxSocketPathBytes = sizeof(sockaddr_un::sun_path) - 1;

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

SocketAddress UnixAddress(const std::string& path) {
  SocketAddress address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage);
  un->sun_family = AF_UNIX;
  std::memcpy(un->sun_path, path.data(), std::min(path.size(), kMaxSocketPathBytes));
  address.bytes = sizeof(sockaddr_un);
  return address;
}

// `host` without brackets.
std::optional<SocketAddress> IpAddress(const std::string& host, uint16_t port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.bytes = sizeof(sockaddr_in);
    return address;
  }
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.bytes = sizeof(sockaddr_in6);
    return address;
  }
  return std::nullopt;
}

bool IsLoopback(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET) {
    auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

absl::StatusOr<ListenAddress> ParseSocketPath(std::string_view text, const std::string& path) {
  if (path.empty() || path.front() != '/' || path.size() > kMaxSocketPathBytes) {
    return storage::ValidationError(
        absl::StrFormat("\"%s\" is not an address: unix: takes an absolute path of at most %d bytes", text,
                        kMaxSocketPathBytes));
  }
  return ListenAddress{.text = "unix:" + path, .socket_path = path};
}

}  // namespace

SocketAddress ToSocketAddress(const ListenAddress& address) {
  if (!address.socket_path.empty()) return UnixAddress(address.socket_path);
  size_t colon = address.text.rfind(':');
  std::string host = address.text.substr(0, colon);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  return *IpAddress(host, *ParsePort(std::string_view(address.text).substr(colon + 1)));
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  if (text.starts_with("unix:")) return ParseSocketPath(text, std::string(text.substr(5)));

  size_t colon = text.rfind(':');
  std::string host(text.substr(0, colon == std::string_view::npos ? 0 : colon));
  std::optional<uint16_t> port;
  if (!host.empty()) port = ParsePort(text.substr(colon + 1));
  if (!port.has_value()) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" is not an address: write HOST:PORT with a port from 0 to 65535, or unix:/PATH", text));
  }
  if (host == "localhost") host = "127.0.0.1";
  bool bracketed = host.front() == '[' && host.back() == ']';
  std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
  std::optional<SocketAddress> address = IpAddress(bare, *port);
  if (address.has_value() && (address->storage.ss_family == AF_INET6) != bracketed) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" is not an address: square brackets belong around IPv6 addresses, and only there", text));
  }
  if (!address.has_value()) {
    return storage::ValidationError(absl::StrFormat(
        "\"%s\" is not an address: HOST is an IP address or localhost; write 127.0.0.1:%d, [::1]:%d, or "
        "0.0.0.0:%d for every IPv4 address of this machine",
        text, *port, *port, *port));
  }
  return ListenAddress{
      .text = absl::StrFormat("%s:%d", host, *port), .socket_path = "", .loopback = IsLoopback(*address)};
}

std::vector<ListenAddress> DefaultListenAddresses(const std::string& run_directory) {
  std::vector<ListenAddress> addresses;
  if (access(run_directory.c_str(), W_OK | X_OK) == 0) {
    std::string path = run_directory + "/itemd.sock";
    addresses.push_back({.text = "unix:" + path, .socket_path = path});
  }
  addresses.push_back({.text = absl::StrFormat("127.0.0.1:%d", kDefaultPort), .socket_path = ""});
  return addresses;
}

std::string PeerOf(int socket) {
  SocketAddress peer;
  socklen_t bytes = sizeof(peer.storage);
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&peer.storage), &bytes) != 0) return "";
  char host[INET6_ADDRSTRLEN] = "";
  switch (peer.storage.ss_family) {
    case AF_INET: {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(&peer.storage);
      inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
      return absl::StrFormat("ipv4:%s:%d", host, ntohs(v4->sin_port));
    }
    case AF_INET6: {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&peer.storage);
      inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
      return absl::StrFormat("ipv6:[%s]:%d", host, ntohs(v6->sin6_port));
    }
    default:
      return "unix:";
  }
}

std::string NormalPeer(std::string_view peer) {
  std::string text(peer);
  for (const auto& [escaped, bracket] : {std::pair("%5B", "["), std::pair("%5D", "]")}) {
    const size_t found = text.find(escaped);
    if (found != std::string::npos) text.replace(found, 3, bracket);
  }
  // PeerOf() does not name the scope, "%25eth0".
  const size_t scope = text.find('%');
  const size_t end = text.find(']');
  if (scope < end && end != std::string::npos) text.erase(scope, end - scope);
  constexpr std::string_view kMapped = "ipv6:[::ffff:";
  if (!text.starts_with(kMapped) || text.find('.') == std::string::npos) return text;
  text.replace(0, kMapped.size(), "ipv4:");
  return text.erase(text.find(']'), 1);
}

std::string AddressOfPeer(std::string_view peer) {
  std::string address = NormalPeer(peer);
  address.resize(std::min(address.size(), address.rfind(':')));
  return address;
}

absl::Status RemoveStaleSocket(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("cannot listen on unix:%s: the file there is not a socket", path));
  }
  Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  SocketAddress address = UnixAddress(path);
  if (connect(probe.get(), address.get(), address.bytes) == 0 || errno != ECONNREFUSED) {
    return absl::FailedPreconditionError(
        absl::StrFormat("cannot listen on unix:%s: another process listens there", path));
  }
  unlink(path.c_str());
  return absl::OkStatus();
}

}  // namespace itemdb::daemon
