// TLS credentials for gRPC whose certificates can be replaced while the server runs.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <array>
#include <memory>

#include "daemon/access/tls_files.h"
#include "daemon/process/descriptor.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

class GrpcCertificates {
 public:
  // `content` comes from ReadTlsFiles(), which has checked it. With a client CA, clients must show a
  // certificate that the CA has signed. UNAVAILABLE: a file in memory cannot be made.
  static absl::StatusOr<std::unique_ptr<GrpcCertificates>> Make(const TlsContent& content);

  GrpcCertificates(const GrpcCertificates&) = delete;
  GrpcCertificates& operator=(const GrpcCertificates&) = delete;

  // Replaces the certificates: new connections use them after one second at most, open connections keep the
  // old ones. Not thread-safe. UNAVAILABLE: as Make().
  absl::Status Set(const TlsContent& content);

  // This object must outlive the server that uses the credentials.
  std::shared_ptr<grpc::ServerCredentials> credentials() const { return credentials_; }

 private:
  GrpcCertificates() = default;

  // Files in memory: certificate, key, client CA. If gRPC watched the user's files, it would read a new key
  // while the certificate is still the old one, and then have no valid pair. It watches these files instead,
  // which hold only content that ReadTlsFiles() has checked.
  static constexpr size_t kFiles = 3;
  std::array<Descriptor, kFiles> files_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
};

}  // namespace itemdb::daemon
