// One HTTP/2 connection whose frames the caller chooses, for peers that no gRPC library imitates: they send
// requests and read nothing, or send all of a message but its last byte.
#pragma once

#include <arpa/inet.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/process/descriptor.h"

namespace itemdb::e2e {

// 127.0.0.2, which only attackers use.
inline constexpr uint32_t kAttackerAddress = INADDR_LOOPBACK + 1;

// A socket connected from the IPv4 address `source` to port `port` of 127.0.0.1; none on failure.
daemon::Descriptor ConnectTo(uint16_t port, uint32_t source);
inline daemon::Descriptor ConnectAsAttacker(uint16_t port) { return ConnectTo(port, kAttackerAddress); }

struct Http2PeerOptions {
  // The IPv4 address to connect from.
  uint32_t source = kAttackerAddress;
  // True: offers the largest flow-control windows, so that replies go to the socket. False: the windows of
  // HTTP/2, 64 KiB; the rest of the replies stays with their sender.
  bool takes_replies = true;
};

class Http2Peer {
 public:
  // Connects to port `port` of 127.0.0.1.
  explicit Http2Peer(uint16_t port, const Http2PeerOptions& options = {});

  // Begins a gRPC call of `path`, "/itemdb.v1.Data/Query". False: the connection has ended.
  bool Begin(uint32_t stream, std::string_view path,
             const std::vector<std::pair<std::string, std::string>>& metadata = {});
  // Begins a call whose whole request is `message`.
  bool Call(uint32_t stream, std::string_view path, std::string_view message,
            const std::vector<std::pair<std::string, std::string>>& metadata = {});
  // Sends bytes of the request; `last` ends it.
  bool Data(uint32_t stream, std::string_view bytes, bool last);
  bool Reset(uint32_t stream);

  // Reads and forgets what has arrived, and answers pings. Returns at once when nothing has; false: the
  // connection has ended.
  bool Drain();
  // The bytes that the peer still accepts on `stream`, as far as Drain() has read; Data() does not look.
  int64_t Window(uint32_t stream) const;
  // Streams that the peer has ended, as far as Drain() has read.
  int64_t ended_streams() const { return ended_; }

 private:
  bool Send(std::string_view bytes);
  void ReadSettings(std::string_view settings);
  bool Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);

  daemon::Descriptor socket_;
  std::string received_;
  // Flow control: of the connection, of a new stream, and what was added to a stream since.
  int64_t window_ = 65'535;
  int64_t initial_window_ = 65'535;
  std::map<uint32_t, int64_t> added_;
  int64_t ended_ = 0;
};

// A gRPC message of `bytes`, with its length before it.
std::string GrpcMessage(std::string_view bytes);

}  // namespace itemdb::e2e
