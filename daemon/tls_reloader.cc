#include "daemon/tls_reloader.h"

#include <fcntl.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <spdlog/spdlog.h>
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

absl::StatusOr<std::unique_ptr<TlsReloader>> TlsReloader::Start(TlsOptions options,
                                                                std::shared_ptr<spdlog::logger> log) {
  ITEMDB_ASSIGN_OR_RETURN(TlsContent content, ReadTlsFiles(options));
  std::unique_ptr<TlsReloader> reloader(new TlsReloader(std::move(options), std::move(log)));
  ITEMDB_RETURN_IF_ERROR(reloader->Publish(content));

  namespace tls = grpc::experimental;
  constexpr unsigned kLookEverySeconds = 1;
  const bool clients_known = !reloader->options_.client_ca_file.empty();
  auto provider = std::make_shared<tls::FileWatcherCertificateProvider>(
      PathOf(reloader->files_[1]), PathOf(reloader->files_[0]),
      clients_known ? PathOf(reloader->files_[2]) : "", kLookEverySeconds);
  tls::TlsServerCredentialsOptions credentials(provider);
  credentials.watch_identity_key_cert_pairs();
  if (clients_known) credentials.watch_root_certs();
  credentials.set_cert_request_type(clients_known ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                  : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  reloader->credentials_ = tls::TlsServerCredentials(credentials);
  reloader->thread_ = std::thread([self = reloader.get()] { self->Run(); });
  return reloader;
}

TlsReloader::TlsReloader(TlsOptions options, std::shared_ptr<spdlog::logger> log)
    : options_(std::move(options)), log_(std::move(log)) {}

TlsReloader::~TlsReloader() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    stop_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

absl::Status TlsReloader::Publish(const TlsContent& content) {
  ITEMDB_RETURN_IF_ERROR(Replace(files_[0], content.certificate));
  ITEMDB_RETURN_IF_ERROR(Replace(files_[1], content.key));
  ITEMDB_RETURN_IF_ERROR(Replace(files_[2], content.client_ca));
  content_ = content;
  return absl::OkStatus();
}

void TlsReloader::Run() {
  // The last complaint, not to repeat it every interval.
  std::string complaint;
  while (true) {
    {
      MutexLock lock(mutex_);
      // Woken too early, it looks too early: no harm.
      if (!stopping_) stop_.WaitFor(mutex_, absl::ToChronoNanoseconds(options_.reload_interval));
      if (stopping_) return;
    }
    absl::StatusOr<TlsContent> content = ReadTlsFiles(options_);
    absl::Status status = content.status();
    if (status.ok() && *content == content_) {
      complaint.clear();
      continue;
    }
    if (status.ok()) status = Publish(*content);
    if (status.ok()) {
      log_->info("certificates reloaded tls_cert={}", options_.certificate_file);
      complaint.clear();
    } else if (MessageOf(status) != complaint) {
      complaint = MessageOf(status);
      log_->error("certificates not reloaded, the old ones stay in effect reason={}", complaint);
    }
  }
}

}  // namespace itemdb
