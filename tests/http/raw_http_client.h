// One connection to an HTTP endpoint, byte by byte.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/descriptor.h"

namespace itemdb {

struct RawReply {
  int status = 0;
  // By lower-case name.
  std::map<std::string, std::string> headers;
  std::string body;
};

class RawHttpClient {
 public:
  // Connects to "127.0.0.1:PORT". Every read and write gives up after a minute.
  explicit RawHttpClient(const std::string& address);

  // False when the peer has closed the connection.
  bool Send(std::string_view bytes);
  // The next reply; nothing when the connection ends before it is whole. `head_only`: it has no body.
  std::optional<RawReply> ReadReply(bool head_only = false);
  // Puts back what Read gave.
  void Unread(const std::string& bytes) { received_.insert(0, bytes); }
  // What comes until `bytes` are there or the connection ends.
  std::string Read(size_t bytes);
  // Whether nothing more comes: waits for the end.
  bool IsClosed();
  // Says that nothing more will be sent.
  void EndSending();
  // Closes as a process that dies does.
  void Reset() { socket_.Reset(); }

 private:
  bool Fill();

  Descriptor socket_;
  std::string received_;
};

// A request as SDKs send them; `headers` are lines that end with "\r\n".
std::string PostRequest(std::string_view operation, std::string_view body, std::string_view headers = "");

}  // namespace itemdb
