// One connection to an HTTP endpoint, byte by byte.
#pragma once

#include <openssl/ssl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/process/descriptor.h"

namespace itemdb {

struct RawReply {
  int status = 0;
  // By lower-case name.
  std::map<std::string, std::string> headers;
  std::string body;
};

// What a client shows and trusts; PEM.
struct RawTls {
  std::string authority;
  // Empty: it shows none.
  std::string certificate = "";
  std::string key = "";
  int max_version = TLS1_3_VERSION;
};

class RawHttpClient {
 public:
  // Connects to "127.0.0.1:PORT". Every read and write gives up after a minute.
  explicit RawHttpClient(const std::string& address);

  // Whether the handshake succeeded, with a certificate for localhost; everything is encrypted from then on.
  bool StartTls(const RawTls& tls);
  // Whether the peer said that the connection ends, before it ended.
  bool saw_close_notify() const {
    return tls_ != nullptr && (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

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

  struct FreeTls {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };

  Descriptor socket_;
  std::unique_ptr<SSL, FreeTls> tls_;
  std::string received_;
};

// A request as SDKs send them; `headers` are lines that end with "\r\n".
std::string PostRequest(std::string_view operation, std::string_view body, std::string_view headers = "");

}  // namespace itemdb
