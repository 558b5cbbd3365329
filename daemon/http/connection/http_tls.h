// The TLS context of the HTTP endpoint: certificates and protocol versions for new connections.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "daemon/access/tls_files.h"
#include "storage/base/status.h"

namespace itemdb::http {

// TLS 1.2 or later with these certificates, which ReadTlsFiles() has checked. With a client CA, clients must
// show a certificate that the CA has signed. INTERNAL: OpenSSL refuses the certificates.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const daemon::TlsContent& content);

}  // namespace itemdb::http
