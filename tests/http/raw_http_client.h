// A connection to an HTTP endpoint on which a test chooses every byte.
#pragma once

#include <openssl/ssl.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/process/descriptor.h"

namespace itemdb::http {

struct RawReply {
  int status = 0;
  // By name in lower case.
  std::map<std::string, std::string> headers;
  std::string body;
};

// The trusted authority, and the certificate and key of a client; PEM text.
struct RawTls {
  std::string authority;
  // Empty: the client presents no certificate.
  std::string certificate = "";
  std::string key = "";
  int max_version = TLS1_3_VERSION;
};

class RawHttpClient {
 public:
  // Connects to "127.0.0.1:PORT". Every read and write fails after a minute.
  explicit RawHttpClient(const std::string& address);

  // Makes the TLS handshake and expects a certificate for localhost. Returns whether it succeeded; after that
  // all bytes are encrypted.
  bool StartTls(const RawTls& tls);
  // Whether the peer sent close_notify before it closed the connection.
  bool saw_close_notify() const {
    return tls_ != nullptr && (SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }

  // False if the peer has closed the connection.
  bool Send(std::string_view bytes);
  // The next reply; empty if the connection ends before the reply is complete. `head_only`: the reply has no
  // body.
  std::optional<RawReply> ReadReply(bool head_only = false);
  // Puts back bytes that Read returned.
  void Unread(const std::string& bytes) { received_.insert(0, bytes); }
  // Reads `bytes` bytes, or fewer if the connection ends.
  std::string Read(size_t bytes);
  // Waits for the end of the connection. Returns whether it ended without further bytes.
  bool IsClosed();
  // Closes the sending direction.
  void EndSending();
  // Closes the socket without TLS close_notify, as a killed process does.
  void Reset() { socket_.Reset(); }

 private:
  bool Fill();

  struct FreeTls {
    void operator()(SSL* tls) const { SSL_free(tls); }
  };

  daemon::Descriptor socket_;
  std::unique_ptr<SSL, FreeTls> tls_;
  std::string received_;
};

// A request as SDKs send it; `headers` are additional lines that end with "\r\n".
std::string PostRequest(std::string_view operation, std::string_view body, std::string_view headers = "");

}  // namespace itemdb::http
