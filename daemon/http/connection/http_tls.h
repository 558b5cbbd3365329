// TLS of the HTTP endpoint: what connections shake hands with.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "daemon/access/tls_files.h"
#include "storage/base/status.h"

namespace itemdb {

// TLS 1.2 at least, with certificates that ReadTlsFiles has examined; with a client CA, clients must show a
// certificate that it signed. INTERNAL: OpenSSL does not take them.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsContent& content);

}  // namespace itemdb
