#include "daemon/metrics/metrics_server.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/watched_secrets.h"
#include "daemon/http/message/absl_view.h"
#include "daemon/http/message/http_request.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kHome =
    "itemd\n\n/metrics     for Prometheus\n/-/healthy   200: the process runs\n"
    "/-/ready     200: reads and writes are served\n";
// A page of a database with thousands of tables, and the connections beside it.
constexpr size_t kPageBytes = 64 << 20;
constexpr size_t kMaxConnections = 64;

http::HttpAnswer Answer(unsigned http_status, std::string body, std::string_view type = kText) {
  http::HttpAnswer answer;
  answer.reply.http_status = http_status;
  answer.reply.body = std::move(body);
  answer.content_type = type;
  return answer;
}

// The value that Authorizer::Check() takes, of Basic authorization or of a bearer token ID:SECRET.
std::optional<std::string> Authorization(const http::HttpHead& head) {
  const std::optional<std::string_view> sent = head.Find("Authorization");
  if (!sent.has_value()) return std::nullopt;
  // Two values are refused like a malformed one.
  if (head.Count("Authorization") > 1) return "";
  constexpr std::string_view kBearer = "Bearer ";
  if (!sent->starts_with(kBearer)) return std::string(*sent);
  return absl::StrCat("Basic ", absl::Base64Escape(http::Absl(sent->substr(kBearer.size()))));
}

}  // namespace

// Answers the pages.
class MetricsHandler final : public http::HttpHandler {
 public:
  MetricsHandler(const Authorizer& authorizer, CallAudit& audit, ProcessFacts facts)
      : authorizer_(authorizer), audit_(audit), facts_(std::move(facts)) {}

  std::optional<http::HttpOperation> Find(std::string_view) const override { return std::nullopt; }
  void Answer(const http::HttpOperation&, std::string, Caller, storage::CancellationPtr,
              absl::AnyInvocable<void(http::JsonReply) &&>) override {}

  std::optional<http::HttpAnswer> Page(const http::HttpHead& head) const override {
    const std::string_view path = head.path();
    if (path == "/") return daemon::Answer(200, std::string(kHome));
    if (path == "/-/healthy") return daemon::Answer(200, "healthy\n");
    if (path == "/-/ready") {
      storage::MutexLock lock(mutex_);
      const std::string_view why_not = WhyNotReady();
      return why_not.empty() ? daemon::Answer(200, "ready\n")
                             : daemon::Answer(503, absl::StrCat(http::Absl(why_not), "\n"));
    }
    if (path != "/metrics")
      return daemon::Answer(404, absl::StrCat("there is no such page here\n\n", http::Absl(kHome)));
    absl::StatusOr<Caller> caller =
        authorizer_.Check("metrics", {Role::kMetrics, Scope::kDatabase}, Authorization(head));
    if (!caller.ok()) return Refuse(caller.status());
    storage::MutexLock lock(mutex_);
    return daemon::Answer(200, MetricsPage(facts_, WhyNotReady().empty(), database_, serving_),
                          kPrometheusText);
  }

  void Attach(storage::Database& database, ServingContext& serving) {
    storage::MutexLock lock(mutex_);
    database_ = &database;
    serving_ = &serving;
  }
  void BeginStop() {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
  }
  void Detach() {
    storage::MutexLock lock(mutex_);
    database_ = nullptr;
    serving_ = nullptr;
  }

 private:
  // Empty: it is ready.
  std::string_view WhyNotReady() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (stopping_) return "not ready: itemd is stopping";
    if (database_ == nullptr) return "not ready: the database is opening";
    if (!database_->IsWritable()) return "not ready: a write failed, and the database is being opened again";
    return "";
  }

  http::HttpAnswer Refuse(const absl::Status& refusal) const {
    const bool unauthenticated = absl::IsUnauthenticated(refusal);
    AuditedCall call;
    call.operation = "metrics";
    call.outcome = absl::StatusCodeToString(refusal.code());
    call.reason = storage::MessageOf(refusal);
    audit_.Refused(std::move(call), unauthenticated);
    http::HttpAnswer answer = daemon::Answer(unauthenticated ? 401 : 403, storage::MessageOf(refusal) + "\n");
    if (unauthenticated) answer.headers = "WWW-Authenticate: Basic realm=\"itemd\"\r\n";
    return answer;
  }

  const Authorizer& authorizer_;
  CallAudit& audit_;
  const ProcessFacts facts_;
  mutable storage::Mutex mutex_;
  storage::Database* database_ ABSL_GUARDED_BY(mutex_) = nullptr;
  ServingContext* serving_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

MetricsServer::MetricsServer(const MetricsServerOptions& options)
    : serving_(kPageBytes, absl::ZeroDuration(), options.log),
      handler_(std::make_unique<MetricsHandler>(serving_.authorizer, serving_.audit, options.facts)) {}

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(MetricsServerOptions options) {
  std::unique_ptr<MetricsServer> server(new MetricsServer(options));
  http::HttpServerOptions http;
  http.addresses = options.addresses;
  http.threads = 1;
  http.max_connections = kMaxConnections;
  http.idle_timeout = absl::Minutes(2);
  http.log = options.log;
  ITEMDB_ASSIGN_OR_RETURN(server->http_, http::HttpServer::Open(server->serving_, http));
  ITEMDB_RETURN_IF_ERROR(server->WatchFiles(options));
  server->http_->Start(*server->handler_);
  return server;
}

absl::Status MetricsServer::WatchFiles(const MetricsServerOptions& options) {
  std::vector<WatchedFiles> watched;
  if (options.tls.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(watched.emplace_back(),
                            WatchTlsFiles(*options.tls, [this](const TlsContent& content) {
                              return http_->SetCertificates(content);
                            }));
  }
  if (!options.access_keys.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(
        watched.emplace_back(),
        WatchAccessKeys(options.access_keys, [this](const std::shared_ptr<const AccessKeys>& keys) {
          serving_.authorizer.SetKeys(keys);
          http_->SetKeys(keys);
        }));
  }
  if (!watched.empty())
    file_watcher_ = std::make_unique<FileWatcher>(std::move(watched), options.reload_interval, options.log);
  return absl::OkStatus();
}

MetricsServer::~MetricsServer() {
  file_watcher_.reset();
  http_.reset();
}

void MetricsServer::Attach(storage::Database& database, ServingContext& serving) {
  handler_->Attach(database, serving);
}
void MetricsServer::BeginStop() { handler_->BeginStop(); }
void MetricsServer::Detach() { handler_->Detach(); }

void MetricsServer::ReloadFiles() {
  if (file_watcher_ != nullptr) file_watcher_->PollSoon();
}

}  // namespace itemdb::daemon
