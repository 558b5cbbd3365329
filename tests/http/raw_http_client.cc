#include "tests/http/raw_http_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "daemon/process/listen_address.h"

namespace itemdb::http {

RawHttpClient::RawHttpClient(const std::string& address) {
  daemon::SocketAddress target = daemon::ToSocketAddress(*daemon::ParseListenAddress(address));
  socket_.Reset(socket(target.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  timeval timeout = {.tv_sec = 60, .tv_usec = 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  // Send each piece of a request at once.
  int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(socket_.get(), target.get(), target.bytes) != 0) socket_.Reset();
}

bool RawHttpClient::StartTls(const RawTls& tls) {
  using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
  using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
  const auto reader = [](const std::string& pem) {
    return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  };
  const auto certificate_of = [&](const std::string& pem) {
    return Certificate(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr), &X509_free);
  };
  // A write to a closed connection must be an error and not end the test.
  signal(SIGPIPE, SIG_IGN);
  Context context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), tls.max_version);
  // Security level 0, so that the client offers old protocols and ciphers, which the daemon must refuse.
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  SSL_CTX_set_cipher_list(context.get(), "DEFAULT@SECLEVEL=0");
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), certificate_of(tls.authority).get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (!tls.certificate.empty()) {
    using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
    Key key(PEM_read_bio_PrivateKey(reader(tls.key).get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
    SSL_CTX_use_certificate(context.get(), certificate_of(tls.certificate).get());
    SSL_CTX_use_PrivateKey(context.get(), key.get());
  }
  tls_.reset(SSL_new(context.get()));
  SSL_set_fd(tls_.get(), socket_.get());
  SSL_set1_host(tls_.get(), "localhost");
  return SSL_connect(tls_.get()) == 1;
}

bool RawHttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = tls_ != nullptr ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                                   : send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool RawHttpClient::Fill() {
  char buffer[65'536];
  ssize_t received = tls_ != nullptr ? SSL_read(tls_.get(), buffer, sizeof(buffer))
                                     : recv(socket_.get(), buffer, sizeof(buffer), 0);
  if (received <= 0) return false;
  received_.append(buffer, static_cast<size_t>(received));
  return true;
}

std::string RawHttpClient::Read(size_t bytes) {
  while (received_.size() < bytes && Fill()) {
  }
  std::string read = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return read;
}

std::optional<RawReply> RawHttpClient::ReadReply(bool head_only) {
  size_t end;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return std::nullopt;
  }
  std::string head = received_.substr(0, end + 2);
  received_.erase(0, end + 4);
  RawReply reply;
  if (!head.starts_with("HTTP/1.1 ") || !absl::SimpleAtoi(head.substr(9, 3), &reply.status))
    return std::nullopt;
  for (size_t line = head.find("\r\n") + 2; line < head.size();) {
    size_t line_end = head.find("\r\n", line);
    std::string text = head.substr(line, line_end - line);
    size_t colon = text.find(':');
    if (colon == std::string::npos) return std::nullopt;
    reply.headers[absl::AsciiStrToLower(text.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(text.substr(colon + 1)));
    line = line_end + 2;
  }
  size_t body_bytes = 0;
  if (!head_only && !absl::SimpleAtoi(reply.headers["content-length"], &body_bytes)) return std::nullopt;
  reply.body = Read(body_bytes);
  if (reply.body.size() != body_bytes) return std::nullopt;
  return reply;
}

void RawHttpClient::EndSending() { shutdown(socket_.get(), SHUT_WR); }

bool RawHttpClient::IsClosed() { return received_.empty() && !Fill(); }

std::string PostRequest(std::string_view operation, std::string_view body, std::string_view headers) {
  return absl::StrFormat(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
      "X-Amz-Date: 20260101T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 "
      "Credential=any/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00\r\n"
      "X-Amz-Target: DynamoDB_20120810.%s\r\nContent-Length: %d\r\n%s\r\n%s",
      operation, body.size(), headers, body);
}

}  // namespace itemdb::http
