// One HTTP/2 connection whose frames the caller chooses, for peers that no gRPC library imitates: they send
// requests and read nothing, or send all of a message but its last byte.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/process/descriptor.h"

namespace itemdb::bench {

// A socket connected from 127.0.0.2, which only attackers use, to port `port` of 127.0.0.1; none on failure.
daemon::Descriptor ConnectAsAttacker(uint16_t port);
// The same from the IPv4 address `source`.
daemon::Descriptor ConnectTo(uint16_t port, uint32_t source);

class Http2Peer {
 public:
  // Connects from 127.0.0.2 to port `port` of 127.0.0.1 and offers the peer the largest flow-control windows.
  explicit Http2Peer(uint16_t port);

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

}  // namespace itemdb::bench
