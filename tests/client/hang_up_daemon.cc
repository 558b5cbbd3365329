#include "tests/client/hang_up_daemon.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace itemdb {
namespace {

// HTTP/2 (RFC 9113): a client sends a preface of 24 bytes, then frames with a header of 9: length (3), type,
// flags, stream id (4).
constexpr size_t kPrefaceBytes = 24;
constexpr size_t kHeaderBytes = 9;
constexpr unsigned char kDataFrame = 0;
constexpr unsigned char kResetFrame = 3;
constexpr unsigned char kEndStream = 1;
// An empty SETTINGS frame, which a server must send before a client uses the connection.
constexpr unsigned char kSettings[kHeaderBytes] = {0, 0, 0, 4, 0, 0, 0, 0, 0};

bool ReadBytes(int socket, unsigned char* bytes, size_t count) {
  return recv(socket, bytes, count, MSG_WAITALL) == static_cast<ssize_t>(count);
}

// Reads until the last frame of a request. Returns the four bytes of its stream id; empty if the peer closed
// the connection before.
std::optional<std::array<unsigned char, 4>> ReadRequest(int socket) {
  unsigned char bytes[1 << 14];
  if (!ReadBytes(socket, bytes, kPrefaceBytes)) return std::nullopt;
  while (ReadBytes(socket, bytes, kHeaderBytes)) {
    const size_t length = size_t{bytes[0]} << 16 | size_t{bytes[1]} << 8 | bytes[2];
    const bool last = bytes[3] == kDataFrame && (bytes[4] & kEndStream) != 0;
    const std::array<unsigned char, 4> stream = {bytes[5], bytes[6], bytes[7], bytes[8]};
    if (length > sizeof(bytes) || !ReadBytes(socket, bytes, length)) return std::nullopt;
    if (last) return stream;
  }
  return std::nullopt;
}

// Sends RST_STREAM and waits until the peer closes the connection, so that the peer has read the frame.
void Reset(int socket, const std::array<unsigned char, 4>& stream, uint8_t code) {
  const unsigned char frame[kHeaderBytes + 4] = {
      0, 0, 4, kResetFrame, 0, stream[0], stream[1], stream[2], stream[3], 0, 0, 0, code};
  if (send(socket, frame, sizeof(frame), MSG_NOSIGNAL) != sizeof(frame)) return;
  unsigned char ignored[1 << 10];
  while (recv(socket, ignored, sizeof(ignored), 0) > 0) {
  }
}

}  // namespace

HangUpDaemon::HangUpDaemon(std::optional<uint8_t> reset_code) : reset_code_(reset_code) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  listen(listener_, 1);
  socklen_t length = sizeof(address);
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

HangUpDaemon::~HangUpDaemon() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::string HangUpDaemon::endpoint() const { return "127.0.0.1:" + std::to_string(port_); }

void HangUpDaemon::Serve() {
  const int connection = accept(listener_, nullptr, nullptr);
  if (connection < 0) return;
  if (send(connection, kSettings, sizeof(kSettings), MSG_NOSIGNAL) == sizeof(kSettings)) {
    const std::optional<std::array<unsigned char, 4>> stream = ReadRequest(connection);
    hung_up_ = stream.has_value();
    if (stream.has_value() && reset_code_.has_value()) Reset(connection, *stream, *reset_code_);
  }
  close(connection);
}

}  // namespace itemdb
