#include "client/tls.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "client/errors_internal.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

absl::Status BadFile(std::string_view what, const std::string& path, const std::string& why) {
  return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                   "the TLS " + std::string(what) + " file " + path + " " + why);
}

// The content of a PEM file with at least one block of `kind`, such as "CERTIFICATE". Empty for no path.
absl::StatusOr<std::string> ReadPem(std::string_view what, const std::string& path, std::string_view kind) {
  if (path.empty()) return std::string();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return BadFile(what, path, "is a directory");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  if (!in || !(content << in.rdbuf())) {
    const int error = errno;
    return BadFile(what, path,
                   "cannot be read: " +
                       (error == 0 ? std::string("it is empty") : std::generic_category().message(error)));
  }
  const std::string text = std::move(content).str();
  const size_t begin = text.find("-----BEGIN ");
  if (begin == std::string::npos || text.find(std::string(kind) + "-----", begin) == std::string::npos) {
    return BadFile(what, path,
                   "has no PEM block that ends its first line in \"" + std::string(kind) + "-----\"");
  }
  return text;
}

struct Meaning {
  std::string_view words;
  std::string_view sentence;
};

// Messages of gRPC 1.51 over OpenSSL 3. With TLS 1.3 a daemon refuses the client's certificate after the
// client's side of the handshake has ended; gRPC then says only that the socket was closed. With TLS 1.2
// there is an alert.
constexpr Meaning kMeanings[] = {
    {"not in peer certificate",
     "the daemon's certificate does not bear the name asked for; connect by a name it bears, or set the TLS "
     "server name"},
    {"certificate has expired", "the daemon's certificate has expired"},
    {"certificate required", "the daemon requires a client certificate, and none was given"},
    {"CERTIFICATE_REQUIRED", "the daemon requires a client certificate, and none was given"},
    {"alert unknown ca", "the daemon does not trust the client certificate"},
    {"alert certificate expired", "the client certificate has expired"},
    {"alert bad certificate", "the daemon refuses the client certificate"},
    {"alert certificate unknown", "the daemon refuses the client certificate"},
    {"handshake failure", "the daemon refuses the handshake; it may require a client certificate"},
    {"certificate verify failed",
     "the daemon's certificate is not trusted: no authority in the TLS CA file signed it, or it has expired "
     "or is not valid yet"},
    {"CERTIFICATE_VERIFY_FAILED",
     "the daemon's certificate is not trusted: no authority in the TLS CA file signed it, or it has expired "
     "or is not valid yet"},
    {"wrong version number", "the daemon does not speak TLS there"},
    {"WRONG_VERSION_NUMBER", "the daemon does not speak TLS there"},
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeTlsCredentials(const TlsOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return MakeError(
        absl::StatusCode::kInvalidArgument, kReasonValidation,
        options.key_file.empty()
            ? "the TLS certificate file " + options.cert_file + " needs a private key file beside it"
            : "the TLS private key file " + options.key_file + " needs a certificate file beside it");
  }
  ITEMDB_ASSIGN_OR_RETURN(std::string ca, ReadPem("CA", options.ca_file, "CERTIFICATE"));
  ITEMDB_ASSIGN_OR_RETURN(std::string certificate, ReadPem("certificate", options.cert_file, "CERTIFICATE"));
  ITEMDB_ASSIGN_OR_RETURN(std::string key, ReadPem("private key", options.key_file, "PRIVATE KEY"));
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = std::move(ca);
  ssl.pem_cert_chain = std::move(certificate);
  ssl.pem_private_key = std::move(key);
  return grpc::SslCredentials(ssl);
}

std::string WhyNotConnected(const std::string& grpc_message, const std::optional<TlsOptions>& tls) {
  const auto says = [&](std::string_view words) { return grpc_message.find(words) != std::string::npos; };
  const bool closed = says("Socket closed") || says("Connection reset") || says("Broken pipe");
  std::string_view why;
  if (tls.has_value()) {
    for (const Meaning& meaning : kMeanings) {
      if (why.empty() && says(meaning.words)) why = meaning.sentence;
    }
    if (why.empty() && closed) {
      why = tls->cert_file.empty() ? "it ends the connection after the TLS handshake; it seems to require a "
                                     "client certificate, and none was given"
                                   : "it ends the connection after the TLS handshake; it seems not to trust "
                                     "the client certificate, or the certificate has expired";
    }
    if (why.empty() && says("empty address list")) {
      why = "a TLS file holds no usable certificate, or the private key is not the certificate's";
    }
  } else if (closed) {
    why = "it closes the connection at once; it may want TLS, or not be itemd";
  }
  if (why.empty() && says("Connection refused")) {
    why = "the connection is refused; is itemd running, and listening there?";
  }
  if (why.empty() && says("No such file or directory")) why = "there is no such socket; is itemd running?";
  if (why.empty()) return grpc_message;
  return std::string(why) + " (" + grpc_message + ")";
}

}  // namespace itemdb
