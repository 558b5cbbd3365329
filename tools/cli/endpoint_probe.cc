#include "tools/cli/endpoint_probe.h"

#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/match.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/http_page.h"

namespace itemdb::tools {
namespace {

constexpr int kPatienceMs = 1'000;
constexpr long kHttpOk = 200;
constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::string_view kSchemeEnd = "://";

// The first bytes of an HTTP/2 client with an empty SETTINGS frame (RFC 9113, 3.4); a server answers with its
// own SETTINGS frame.
constexpr char kHttp2Preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
constexpr size_t kHttp2PrefaceBytes = sizeof(kHttp2Preface);  // The final zero ends the frame's header.
constexpr size_t kFrameTypeOffset = 3;
constexpr char kSettingsFrame = 4;

// A TLS ClientHello: version 1.2, a random of 32 letters, and what a server needs to accept it whatever its
// certificate is. A TLS server answers with a handshake or an alert record; gRPC's answers only a handshake
// that it accepts.
constexpr char kClientHello[] =
    "\x16\x03\x01\x00\x5c\x01\x00\x00\x58\x03\x03"
    "itemctl asks whether this is TLS"
    "\x00"                                              // No session.
    "\x00\x08\xc0\x2b\xc0\x2f\xc0\x2c\xc0\x30"          // ECDHE with ECDSA and RSA, AES-GCM.
    "\x01\x00\x00\x27"                                  // No compression; 39 bytes of extensions:
    "\x00\x0a\x00\x06\x00\x04\x00\x1d\x00\x17"          // x25519, secp256r1
    "\x00\x0b\x00\x02\x01\x00"                          // points not compressed
    "\x00\x0d\x00\x0a\x00\x08\x04\x03\x08\x04\x04\x01"  // signatures: ECDSA, RSA-PSS, RSA,
    "\x05\x03"                                          //   ECDSA with SHA-384
    "\x00\x10\x00\x05\x00\x03\x02h2";                   // HTTP/2, as gRPC speaks it
constexpr size_t kClientHelloBytes = sizeof(kClientHello) - 1;
// The extension of a ServerHello that selects HTTP/2.
constexpr std::string_view kSelectsHttp2("\x00\x10\x00\x05\x00\x03\x02h2", 9);
constexpr char kAlertRecord = 0x15;
constexpr char kHandshakeRecord = 0x16;
constexpr char kTlsMajorVersion = 0x03;

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool Await(int fd, short events) {
  pollfd waited = {.fd = fd, .events = events, .revents = 0};
  return poll(&waited, 1, kPatienceMs) == 1;
}

// Returns an open socket if the connection is established within kPatienceMs.
Socket ConnectTo(int family, const sockaddr* address, socklen_t size) {
  Socket made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made.is_open()) return made;
  if (connect(made.fd(), address, size) == 0) return made;
  int error = errno;
  socklen_t error_size = sizeof(error);
  if (error == EINPROGRESS && Await(made.fd(), POLLOUT)) {
    getsockopt(made.fd(), SOL_SOCKET, SO_ERROR, &error, &error_size);
  }
  return error == 0 ? std::move(made) : Socket(-1);
}

Socket Connect(const std::string& endpoint) {
  if (endpoint.starts_with(kUnixPrefix)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string path = endpoint.substr(kUnixPrefix.size());
    if (path.size() >= sizeof(address.sun_path)) return Socket(-1);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return ConnectTo(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  const size_t colon = endpoint.rfind(':');
  if (colon == std::string::npos) return Socket(-1);
  std::string host = endpoint.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* addresses = nullptr;
  if (getaddrinfo(host.c_str(), endpoint.c_str() + colon + 1, &hints, &addresses) != 0) return Socket(-1);
  Socket made = ConnectTo(addresses->ai_family, addresses->ai_addr, addresses->ai_addrlen);
  freeaddrinfo(addresses);
  return made;
}

enum class Answered { kNothing, kClosed, kBytes };

// Sends `question` and reads the first bytes that come back.
Answered Ask(const Socket& socket, std::string_view question, std::string* answer) {
  if (send(socket.fd(), question.data(), question.size(), MSG_NOSIGNAL) < 0) return Answered::kClosed;
  if (!Await(socket.fd(), POLLIN)) return Answered::kNothing;
  // A ServerHello fits.
  char bytes[512];
  const ssize_t got = recv(socket.fd(), bytes, sizeof(bytes), 0);
  if (got <= 0) return Answered::kClosed;
  answer->assign(bytes, static_cast<size_t>(got));
  return Answered::kBytes;
}

bool IsTls(const std::string& answer) {
  return answer.size() >= 2 && (answer[0] == kAlertRecord || answer[0] == kHandshakeRecord) &&
         answer[1] == kTlsMajorVersion;
}

}  // namespace

Listener ProbeEndpoint(const std::string& endpoint) {
  const Socket plain = Connect(endpoint);
  if (!plain.is_open()) return Listener::kNone;
  std::string answer;
  const Answered answered = Ask(plain, {kHttp2Preface, kHttp2PrefaceBytes}, &answer);
  if (answered == Answered::kBytes) {
    if (answer.starts_with("HTTP/1")) return Listener::kHttp1;
    if (answer.size() > kFrameTypeOffset && answer[kFrameTypeOffset] == kSettingsFrame)
      return Listener::kHttp2;
  }
  const bool is_tls = IsTls(answer);
  // Some TLS servers close a connection without an answer if the first bytes are not TLS.
  const Socket secure = Connect(endpoint);
  if (secure.is_open()) Ask(secure, {kClientHello, kClientHelloBytes}, &answer);
  if (IsTls(answer))
    return answer.find(kSelectsHttp2) != std::string::npos ? Listener::kTlsHttp2 : Listener::kTls;
  if (is_tls) return Listener::kTls;
  return answered == Answered::kNothing ? Listener::kSilent : Listener::kOther;
}

namespace {

// What the HTTP server at `endpoint` is, as the end of a sentence; empty if it is not itemd's. An itemd
// answers these two pages without a key.
std::string ItemdAddressAt(const std::string& endpoint, const std::string& scheme,
                           const GlobalOptions& options) {
  const auto body = [&](const char* path) {
    const absl::StatusOr<HttpPage> page = GetPage(
        {.url = scheme + endpoint + path, .patience = std::chrono::milliseconds(kPatienceMs)}, options);
    return page.ok() && page->status == kHttpOk ? page->body : "";
  };
  if (body("/-/healthy") == "healthy\n") {
    return "this is an itemd's address for metrics and the console (--metrics-listen), " + scheme + endpoint +
           "/ in a browser; itemctl needs the address of --listen";
  }
  if (body("/").starts_with("healthy: dynamodb")) {
    return "this is an itemd's address for DynamoDB's HTTP protocol (--http-listen); write " + scheme +
           endpoint + " to speak that, or use the address of --listen";
  }
  return "";
}

// Why this user may not connect to the unix socket at `endpoint`, and what to do, as the end of a sentence;
// empty if the user may, or if it is no unix socket.
std::string WhoMayConnect(const std::string& endpoint) {
  if (!endpoint.starts_with(kUnixPrefix)) return "";
  const std::string path = endpoint.substr(kUnixPrefix.size());
  struct stat file = {};
  if (access(path.c_str(), W_OK) == 0 || errno != EACCES) return "";
  if (stat(path.c_str(), &file) != 0) return "this user may not enter the folder of the socket";
  if ((file.st_mode & S_IWGRP) != 0) {
    const group* members = getgrgid(file.st_gid);
    const std::string name = members != nullptr ? members->gr_name : std::to_string(file.st_gid);
    return "this user may not connect to the socket, but members of the group " + name +
           " may: sudo usermod -aG " + name + " \"$USER\", then sign in again";
  }
  const passwd* owner = getpwuid(file.st_uid);
  return "only the user " + (owner != nullptr ? owner->pw_name : std::to_string(file.st_uid)) +
         " may connect to the socket (itemd's --socket-mode)";
}

// As Diagnosed, for a URL with a port, behind which may be anything that speaks DynamoDB's protocol.
absl::Status DiagnosedUrl(const absl::Status& status, const std::string& url, const GlobalOptions& options) {
  const size_t scheme = url.find(kSchemeEnd) + kSchemeEnd.size();
  const bool with_tls = url.starts_with("https:");
  const std::string address = url.substr(scheme, url.find('/', scheme) - scheme);
  if (address.rfind(':') == std::string::npos) return status;
  const auto wrong = [&](const std::string& what) {
    return ToolError(ExitCode::kUnreachable,
                     "no DynamoDB protocol is spoken at " + url + ": the server there " + what);
  };
  const Listener listener = ProbeEndpoint(address);
  switch (listener) {
    case Listener::kHttp2:
      return wrong("speaks gRPC, as itemd does at --listen; write " + address);
    case Listener::kHttp1:
      return with_tls ? wrong("does not use TLS: begin with http://") : status;
    case Listener::kTls:
    case Listener::kTlsHttp2: {
      const std::string if_grpc = "if it is an itemd's address of --listen, write " + address;
      const std::string name_authority = "name its certificate authority with --tls-ca";
      if (!with_tls)
        return wrong("expects TLS: begin with https://; or, " + if_grpc + " and " + name_authority);
      // Other servers offer HTTP/2 too.
      const bool may_be_grpc = listener == Listener::kTlsHttp2;
      if (!absl::StrContains(status.message(), "certificate"))
        return !may_be_grpc ? status
                            : ToolError(ExitCode::kUnreachable,
                                        std::string(status.message()) +
                                            "; the server there speaks HTTP/2 over TLS: " + if_grpc);
      if (!options.tls_ca.empty()) return status;
      return ToolError(ExitCode::kUnreachable, std::string(status.message()) + "; " + name_authority +
                                                   (may_be_grpc ? "; and " + if_grpc : ""));
    }
    default:
      return status;
  }
}

}  // namespace

absl::Status Diagnosed(const absl::Status& status, Context& context) {
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return status;
  const std::string& endpoint = client->endpoint();
  const auto unreachable = [&endpoint](const std::string& why) {
    return ToolError(ExitCode::kUnreachable, "no itemd answers at " + endpoint + ": " + why);
  };
  if (endpoint.find(',') != std::string::npos) return status;  // Nobody knows which of them was meant.
  if (endpoint.find(kSchemeEnd) != std::string::npos)
    return DiagnosedUrl(status, endpoint, context.options());
  const bool with_tls = TlsOf(context.options()).has_value();
  // gRPC asks for HTTP/2 in the handshake (ALPN), which itemd's HTTP servers do not speak.
  const auto over_tls = [&] {
    if (!absl::StrContains(status.message(), "ALPN")) return status;
    const std::string itemd = ItemdAddressAt(endpoint, "https://", context.options());
    return unreachable(itemd.empty() ? "the server there speaks TLS, but not HTTP/2, which gRPC needs"
                                     : itemd);
  };
  switch (ProbeEndpoint(endpoint)) {
    case Listener::kNone: {
      const std::string who = WhoMayConnect(endpoint);
      return who.empty() ? status : unreachable(who);
    }
    case Listener::kHttp2:
      if (!with_tls) return status;
      return unreachable("the server there does not use TLS: remove the --tls options");
    case Listener::kHttp1: {
      const std::string itemd = ItemdAddressAt(endpoint, "http://", context.options());
      return unreachable(itemd.empty()
                             ? "the server there is an HTTP/1.1 server; itemctl needs the address of --listen"
                             : itemd);
    }
    case Listener::kTls:
    case Listener::kTlsHttp2:
      if (with_tls) return over_tls();
      return unreachable("the server there expects TLS: name its certificate authority with --tls-ca");
    case Listener::kOther:
      // A TLS server may close the probe's connection. `status` already has the result of the client's own
      // handshake.
      if (with_tls) return over_tls();
      return unreachable("the server there closed the connection or speaks another protocol");
    case Listener::kSilent:
      return unreachable("the server there accepted the connection and sent nothing");
  }
  return status;
}

}  // namespace itemdb::tools
