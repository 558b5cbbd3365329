#include "daemon/http/connection/http_tls.h"

#include <boost/asio/buffer.hpp>

namespace itemdb::http {
namespace {

namespace net = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

// A TLS session is only resumed by a server with the same session context.
constexpr unsigned char kSessionContext[] = "itemd";

error_code Fill(const daemon::TlsContent& content, ssl::context& context) {
  error_code error;
  context.use_certificate_chain(net::buffer(content.certificate), error);
  if (error) return error;
  context.use_private_key(net::buffer(content.key), ssl::context::pem, error);
  if (error || content.client_ca.empty()) return error;
  context.add_certificate_authority(net::buffer(content.client_ca), error);
  if (error) return error;
  context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  return error;
}

}  // namespace

absl::StatusOr<std::shared_ptr<ssl::context>> MakeTlsContext(const daemon::TlsContent& content) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const handle = context->native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  SSL_CTX_set_options(handle, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_id_context(handle, kSessionContext, sizeof(kSessionContext) - 1);
  if (error_code error = Fill(content, *context)) {
    return storage::MakeError(absl::StatusCode::kInternal, storage::kReasonInternal,
                              "the certificates cannot be used for HTTP: " + error.message());
  }
  return context;
}

}  // namespace itemdb::http
