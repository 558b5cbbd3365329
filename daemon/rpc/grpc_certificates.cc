#include "daemon/rpc/grpc_certificates.h"

#include <fcntl.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

// A path with which this process can open the file.
std::string PathOf(const Descriptor& file) { return absl::StrFormat("/proc/self/fd/%d", file.get()); }

absl::Status NotKept() {
  return absl::UnavailableError(
      absl::StrFormat("cannot keep certificates in memory: %s", std::strerror(errno)));
}

absl::StatusOr<Descriptor> MakeFile(const std::string& content) {
  Descriptor made(memfd_create("itemd-tls", MFD_CLOEXEC));
  const bool written = made.get() >= 0 && write(made.get(), content.data(), content.size()) ==
                                              static_cast<ssize_t>(content.size());
  if (!written) return NotKept();
  return made;
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcCertificates>> GrpcCertificates::Make(const TlsContent& content) {
  std::unique_ptr<GrpcCertificates> made(new GrpcCertificates());
  ITEMDB_RETURN_IF_ERROR(made->Set(content));

  namespace tls = grpc::experimental;
  constexpr unsigned kRefreshIntervalSeconds = 1;
  const bool clients_known = !content.client_ca.empty();
  auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(
      PathOf(made->files_[1]), PathOf(made->files_[0]), clients_known ? PathOf(made->files_[2]) : "",
      kRefreshIntervalSeconds);
  tls::TlsServerCredentialsOptions credentials(provider);
  credentials.watch_identity_key_cert_pairs();
  if (clients_known) credentials.watch_root_certs();
  credentials.set_cert_request_type(clients_known ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                  : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  made->credentials_ = tls::TlsServerCredentials(credentials);
  return made;
}

absl::Status GrpcCertificates::Set(const TlsContent& content) {
  // All new files are made before one is replaced: an error must not leave a certificate without its key.
  std::array<Descriptor, kFiles> made;
  const std::array<const std::string*, kFiles> contents = {&content.certificate, &content.key,
                                                           &content.client_ca};
  for (size_t i = 0; i < kFiles; ++i) {
    ITEMDB_ASSIGN_OR_RETURN(made[i], MakeFile(*contents[i]));
  }
  for (size_t i = 0; i < kFiles; ++i) {
    if (files_[i].get() < 0) {
      files_[i] = std::move(made[i]);
    } else if (dup3(made[i].get(), files_[i].get(), O_CLOEXEC) < 0) {
      return NotKept();
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb::daemon
