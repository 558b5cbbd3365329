// gRPC's credentials, whose certificates can be replaced.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <array>
#include <memory>

#include "daemon/access/tls_files.h"
#include "daemon/process/descriptor.h"
#include "storage/base/status.h"

namespace itemdb {

class GrpcCertificates {
 public:
  // With certificates as ReadTlsFiles examined them; with a client CA, clients must show a certificate that
  // it signed. UNAVAILABLE: they cannot be kept.
  static absl::StatusOr<std::unique_ptr<GrpcCertificates>> Make(const TlsContent& content);

  GrpcCertificates(const GrpcCertificates&) = delete;
  GrpcCertificates& operator=(const GrpcCertificates&) = delete;

  // New connections have these within a second; those that are open go on. For one thread. UNAVAILABLE as of
  // Make.
  absl::Status Set(const TlsContent& content);

  // This must outlive whatever uses them.
  std::shared_ptr<grpc::ServerCredentials> credentials() const { return credentials_; }

 private:
  GrpcCertificates() = default;

  // Files in memory: certificate, key, client CA. gRPC watches files, but would take on halves of a change
  // and has nothing left to serve with when they do not fit; so it watches these, which only ever hold what
  // was examined.
  static constexpr size_t kFiles = 3;
  std::array<Descriptor, kFiles> files_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
};

}  // namespace itemdb
