#include "daemon/metrics/metrics_server.h"

#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/watched_secrets.h"
#include "daemon/console/console.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/message/absl_view.h"
#include "daemon/http/message/http_request.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {
namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheusText = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kPages =
    "/             the console\n/metrics     for Prometheus\n/-/healthy   200: the process runs\n"
    "/-/ready     200: reads and writes are served\n";
// A page of a database with thousands of tables, and the connections beside it.
constexpr size_t kPageBytes = 64 << 20;
constexpr size_t kMaxConnections = 64;

http::HttpPage TextPage(unsigned http_status, std::string body, std::string_view type = kText) {
  http::HttpPage page;
  page.answer.reply.http_status = http_status;
  page.answer.reply.body = std::move(body);
  page.answer.content_type = type;
  // Without keys Route() has refused pages from elsewhere; with keys /metrics needs one.
  page.for_other_origins = true;
  return page;
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
  MetricsHandler(ServingContext& own, const MetricsServerOptions& options)
      : authorizer_(own.authorizer),
        own_(own),
        facts_(options.facts),
        console_(own, {.tls = options.tls.has_value(),
                       .version = options.facts.version,
                       .data_is_open = options.data_is_open}) {}

  std::optional<http::HttpOperation> Find(std::string_view) const override { return std::nullopt; }
  void Answer(const http::HttpOperation& operation, std::string body, Caller caller,
              storage::CancellationPtr cancellation,
              absl::AnyInvocable<void(http::JsonReply) &&> done) override {
    console_.Answer(operation, std::move(body), std::move(caller), std::move(cancellation), std::move(done));
  }

  std::optional<http::HttpPage> Page(const http::HttpHead& head) const override {
    if (std::optional<http::HttpPage> page = console_.Page(head)) return page;
    if (head.Find("X-Amz-Target").has_value()) return NotHere();
    if (head.method != "GET" && head.method != "HEAD") return std::nullopt;
    const std::string_view path = head.path();
    if (path == "/-/healthy") return TextPage(200, "healthy\n");
    if (path == "/-/ready") {
      storage::MutexLock lock(mutex_);
      const std::string_view why_not = WhyNotReady();
      return why_not.empty() ? TextPage(200, "ready\n")
                             : TextPage(503, absl::StrCat(http::Absl(why_not), "\n"));
    }
    if (path != "/metrics")
      return TextPage(404, absl::StrCat("there is no such page here\n\n", http::Absl(kPages)));
    absl::StatusOr<Caller> caller =
        authorizer_.Check("metrics", {Role::kMetrics, Scope::kDatabase}, Authorization(head));
    if (!caller.ok()) return Refuse(caller.status());
    return TextPage(200, MetricsText(), kPrometheusText);
  }

  void Attach(storage::Database& database, ServingContext& serving,
              const std::vector<std::string>& grpc_addresses,
              const std::vector<std::string>& http_addresses) {
    const auto first = [](const std::vector<std::string>& addresses) {
      return addresses.empty() ? "" : addresses.front();
    };
    console_.Attach({.database = database,
                     .own = own_,
                     .serving = serving,
                     .info = {.start_time_us = static_cast<int64_t>(facts_.start_time_s * 1e6),
                              .memory_bytes = static_cast<int64_t>(facts_.memory_bytes)},
                     .grpc_address = first(grpc_addresses),
                     .http_address = first(http_addresses),
                     .metrics = [this] { return MetricsText(); }});
    storage::MutexLock lock(mutex_);
    database_ = &database;
    serving_ = &serving;
  }
  void BeginStop() {
    storage::MutexLock lock(mutex_);
    stopping_ = true;
  }
  // No call of the console is in flight.
  void Detach() {
    console_.Detach();
    storage::MutexLock lock(mutex_);
    database_ = nullptr;
    serving_ = nullptr;
  }

  void SetKeys(const std::shared_ptr<const AccessKeys>& keys) { console_.SetKeys(keys); }

 private:
  std::string MetricsText() const {
    storage::MutexLock lock(mutex_);
    return MetricsPage(facts_, WhyNotReady().empty(), database_, serving_);
  }

  // Empty: it is ready.
  std::string_view WhyNotReady() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (stopping_) return "not ready: itemd is stopping";
    if (database_ == nullptr) return "not ready: the database is opening";
    if (!database_->IsWritable()) return "not ready: a write failed, and the database is being opened again";
    return "";
  }

  // The answer to DynamoDB's protocol.
  static http::HttpPage NotHere() {
    http::HttpPage page;
    page.answer.reply = http::ErrorReply(400, "UnknownOperationException",
                                         "this is an itemd's address for metrics and the console "
                                         "(--metrics-listen); DynamoDB's protocol is at --http-listen");
    return page;
  }
  static http::HttpPage Refuse(const absl::Status& refusal) {
    const bool unauthenticated = absl::IsUnauthenticated(refusal);
    http::HttpPage page = TextPage(unauthenticated ? 401 : 403, storage::MessageOf(refusal) + "\n");
    page.audited = AuditedCall{.operation = "metrics",
                               .outcome = absl::StatusCodeToString(refusal.code()),
                               .reason = storage::MessageOf(refusal)};
    if (unauthenticated) page.answer.headers = "WWW-Authenticate: Basic realm=\"itemd\"\r\n";
    return page;
  }

  const Authorizer& authorizer_;
  ServingContext& own_;
  const ProcessFacts facts_;
  Console console_;
  mutable storage::Mutex mutex_;
  storage::Database* database_ ABSL_GUARDED_BY(mutex_) = nullptr;
  ServingContext* serving_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

MetricsServer::MetricsServer(const MetricsServerOptions& options)
    : serving_(kPageBytes, absl::ZeroDuration(), options.log),
      handler_(std::make_unique<MetricsHandler>(serving_, options)) {
  if (options.audit_log != nullptr) serving_.audit.SetFile(options.audit_log, options.audit_all_calls);
}

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
          handler_->SetKeys(keys);
        }));
  }
  // The server of the two protocols watches the same files.
  for (WatchedFiles& files : watched) files.what += " of the metrics address";
  if (!watched.empty())
    file_watcher_ = std::make_unique<FileWatcher>(std::move(watched), options.reload_interval, options.log);
  return absl::OkStatus();
}

MetricsServer::~MetricsServer() {
  file_watcher_.reset();
  http_.reset();
}

void MetricsServer::Attach(storage::Database& database, ServingContext& serving,
                           const std::vector<std::string>& grpc_addresses,
                           const std::vector<std::string>& http_addresses) {
  handler_->Attach(database, serving, grpc_addresses, http_addresses);
}
void MetricsServer::BeginStop() { handler_->BeginStop(); }
void MetricsServer::Detach() {
  serving_.gate.Close();
  http_->Abort();
  serving_.gate.WaitUntilEmpty();
  handler_->Detach();
}

void MetricsServer::ReloadFiles() {
  if (file_watcher_ != nullptr) file_watcher_->PollSoon();
}

}  // namespace itemdb::daemon
