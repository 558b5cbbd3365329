#include "daemon/grpc_certificates.h"

#include <fcntl.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace itemdb {
namespace {

// A path under which this process finds the file.
std::string PathOf(const Descriptor& file) { return absl::StrFormat("/proc/self/fd/%d", file.get()); }

// Replaces the file behind `file` by one with this content, at once.
absl::Status Replace(Descriptor& file, const std::string& content) {
  Descriptor made(memfd_create("itemd-tls", MFD_CLOEXEC));
  bool written = made.get() >= 0 &&
                 write(made.get(), content.data(), content.size()) == static_cast<ssize_t>(content.size());
  if (written && file.get() < 0) {
    file = std::move(made);
  } else if (!written || dup3(made.get(), file.get(), O_CLOEXEC) < 0) {
    return absl::UnavailableError(
        absl::StrFormat("cannot keep certificates in memory: %s", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcCertificates>> GrpcCertificates::Make(const TlsContent& content) {
  std::unique_ptr<GrpcCertificates> made(new GrpcCertificates());
  ITEMDB_RETURN_IF_ERROR(made->Set(content));

  namespace tls = grpc::experimental;
  constexpr unsigned kLookEverySeconds = 1;
  const bool clients_known = !content.client_ca.empty();
  auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(
      PathOf(made->files_[1]), PathOf(made->files_[0]), clients_known ? PathOf(made->files_[2]) : "",
      kLookEverySeconds);
  tls::TlsServerCredentialsOptions credentials(provider);
  credentials.watch_identity_key_cert_pairs();
  if (clients_known) credentials.watch_root_certs();
  credentials.set_cert_request_type(clients_known ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                  : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  made->credentials_ = tls::TlsServerCredentials(credentials);
  return made;
}

absl::Status GrpcCertificates::Set(const TlsContent& content) {
  ITEMDB_RETURN_IF_ERROR(Replace(files_[0], content.certificate));
  ITEMDB_RETURN_IF_ERROR(Replace(files_[1], content.key));
  return Replace(files_[2], content.client_ca);
}

}  // namespace itemdb
