// Credentials that follow the certificate files when they change.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <array>
#include <memory>
#include <thread>

#include "daemon/descriptor.h"
#include "daemon/tls_files.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace spdlog {
class logger;
}

namespace itemdb {

// Credentials that use the files as they are. A thread looks at the files every `reload_interval`: what is
// fit for use is in effect for new connections within another second, and logged; what is not (a key is
// there, its certificate not yet) is logged and the last that was fit stays in effect. Connections that are
// open go on.
class TlsReloader {
 public:
  // As ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<TlsReloader>> Start(TlsOptions options,
                                                            std::shared_ptr<spdlog::logger> log);
  ~TlsReloader();

  TlsReloader(const TlsReloader&) = delete;
  TlsReloader& operator=(const TlsReloader&) = delete;

  // Must outlive whatever uses them.
  std::shared_ptr<grpc::ServerCredentials> credentials() const { return credentials_; }

 private:
  TlsReloader(TlsOptions options, std::shared_ptr<spdlog::logger> log);
  // Puts `content` where gRPC looks.
  absl::Status Publish(const TlsContent& content);
  void Run();

  const TlsOptions options_;
  const std::shared_ptr<spdlog::logger> log_;
  TlsContent content_;
  // Files in memory: certificate, key, client CA. gRPC watches files, but would take on halves of a change
  // and has nothing left to serve with when they do not fit; so it watches these, which only ever hold what
  // was examined.
  std::array<Descriptor, 3> files_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;

  Mutex mutex_;
  CondVar stop_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace itemdb
