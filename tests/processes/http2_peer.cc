#include "tests/processes/http2_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace itemdb::e2e {
namespace {

// Frames of HTTP/2 (RFC 9113, 6).
enum FrameType : uint8_t { kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kWindowUpdate = 8 };
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndHeaders = 4;
constexpr size_t kFrameHeadBytes = 9;
constexpr size_t kMaxFrameBytes = 16'384;
// SETTINGS_INITIAL_WINDOW_SIZE.
constexpr uint8_t kInitialWindowSize = 4;
constexpr uint32_t kMaxWindow = 0x7fffffff;
// How long one write may wait for the peer to take bytes.
constexpr int kWritePatienceMs = 1'000;

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

uint32_t FromBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (char c : bytes) value = value << 8 | static_cast<uint8_t>(c);
  return value;
}

// A header field that no table has (RFC 7541, 6.2.2), without Huffman coding; name and value are short.
void AppendField(std::string_view name, std::string_view value, std::string& block) {
  block.push_back(0);
  for (std::string_view text : {name, value}) {
    block.push_back(static_cast<char>(text.size()));
    block.append(text);
  }
}

}  // namespace

std::string GrpcMessage(std::string_view bytes) {
  std::string message(1, '\0');
  return message.append(BigEndian(static_cast<uint32_t>(bytes.size()))).append(bytes);
}

daemon::Descriptor ConnectTo(uint16_t port, uint32_t source) {
  daemon::Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(source);
  int on = 1;
  // A port is chosen when the target is known, so that all ports can be used.
  setsockopt(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) fd.Reset();
  return fd;
}

Http2Peer::Http2Peer(uint16_t port, const Http2PeerOptions& options)
    : socket_(ConnectTo(port, options.source)) {
  if (socket_.get() < 0) return;
  int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  if (!options.takes_replies) {
    Frame(kSettings, 0, 0, "");
    return;
  }
  Frame(kSettings, 0, 0, std::string{0, char{kInitialWindowSize}} + BigEndian(kMaxWindow));
  Frame(kWindowUpdate, 0, 0, BigEndian(kMaxWindow - 65'535));
}

bool Http2Peer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno != EAGAIN) return false;
    pollfd event = {.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    if (poll(&event, 1, kWritePatienceMs) <= 0) return false;
  }
  return true;
}

bool Http2Peer::Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string frame = BigEndian(static_cast<uint32_t>(payload.size())).substr(1);
  frame.push_back(static_cast<char>(type));
  frame.push_back(static_cast<char>(flags));
  return Send(frame.append(BigEndian(stream)).append(payload));
}

bool Http2Peer::Begin(uint32_t stream, std::string_view path,
                      const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string block;
  AppendField(":method", "POST", block);
  AppendField(":scheme", "http", block);
  AppendField(":path", path, block);
  AppendField(":authority", "localhost", block);
  AppendField("content-type", "application/grpc", block);
  AppendField("te", "trailers", block);
  for (const auto& [name, value] : metadata) AppendField(name, value, block);
  return Frame(kHeaders, kEndHeaders, stream, block);
}

bool Http2Peer::Call(uint32_t stream, std::string_view path, std::string_view message,
                     const std::vector<std::pair<std::string, std::string>>& metadata) {
  return Begin(stream, path, metadata) && Data(stream, GrpcMessage(message), true);
}

bool Http2Peer::Data(uint32_t stream, std::string_view bytes, bool last) {
  do {
    const std::string_view part = bytes.substr(0, kMaxFrameBytes);
    bytes.remove_prefix(part.size());
    window_ -= static_cast<int64_t>(part.size());
    added_[stream] -= static_cast<int64_t>(part.size());
    if (!Frame(kData, last && bytes.empty() ? kEndStream : 0, stream, part)) return false;
  } while (!bytes.empty());
  return true;
}

bool Http2Peer::Reset(uint32_t stream) {
  constexpr uint32_t kCancel = 8;
  return Frame(kReset, 0, stream, BigEndian(kCancel));
}

int64_t Http2Peer::Window(uint32_t stream) const {
  const auto added = added_.find(stream);
  return std::min(window_, initial_window_ + (added == added_.end() ? 0 : added->second));
}

void Http2Peer::ReadSettings(std::string_view settings) {
  constexpr size_t kSettingBytes = 6;
  for (; settings.size() >= kSettingBytes; settings.remove_prefix(kSettingBytes)) {
    if (FromBigEndian(settings.substr(0, 2)) == kInitialWindowSize)
      initial_window_ = FromBigEndian(settings.substr(2, 4));
  }
}

bool Http2Peer::Drain() {
  char bytes[64 << 10];
  while (true) {
    const ssize_t count = recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return false;
    if (count < 0) return true;
    received_.append(bytes, static_cast<size_t>(count));
    size_t consumed = 0;
    while (received_.size() - consumed >= kFrameHeadBytes) {
      const std::string_view frame = std::string_view(received_).substr(consumed);
      const size_t length = FromBigEndian(frame.substr(0, 3));
      if (frame.size() < kFrameHeadBytes + length) break;
      const auto type = static_cast<uint8_t>(frame[3]);
      const auto flags = static_cast<uint8_t>(frame[4]);
      const uint32_t stream = FromBigEndian(frame.substr(5, 4));
      const std::string payload(frame.substr(kFrameHeadBytes, length));
      if (type == kWindowUpdate) (stream == 0 ? window_ : added_[stream]) += FromBigEndian(payload);
      if (type == kSettings) ReadSettings(payload);
      if (type == kReset || (type == kHeaders && (flags & kEndStream) != 0)) ++ended_;
      if ((type == kPing || type == kSettings) && (flags & kAck) == 0 &&
          !Frame(type, kAck, 0, type == kPing ? payload : "")) {
        return false;
      }
      consumed += kFrameHeadBytes + length;
    }
    received_.erase(0, consumed);
  }
}

}  // namespace itemdb::e2e
