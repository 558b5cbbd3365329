#include "daemon/console/console.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/console/console_files.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/message/absl_view.h"
#include "daemon/http/message/compression.h"
#include "storage/json/json_writer.h"

namespace itemdb::daemon {
namespace {

using http::Absl;
using http::HttpAnswer;
using http::HttpHead;
using http::HttpPage;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kTokenHeader = "X-Itemdb-Session";
// Requests that the page sends by itself have it: they do not make the session last longer.
constexpr std::string_view kBackgroundHeader = "X-Itemdb-Background";
constexpr std::string_view kAccessDenied = "AccessDeniedException";

// No scripts and styles but the page's own files, no requests but to this server, no frames, no forms.
constexpr std::string_view kPolicyHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";
constexpr std::string_view kNotStored = "Cache-Control: no-store\r\n";
constexpr std::string_view kAskAgain = "Cache-Control: no-cache\r\n";
// The name of a file changes with its content.
constexpr std::string_view kKept = "Cache-Control: max-age=31536000, immutable\r\n";

constexpr size_t kMaxFileBytes = 8 << 20;

HttpAnswer NewAnswer(http::JsonReply reply, std::string_view content_type) {
  HttpAnswer answer;
  answer.reply = std::move(reply);
  answer.content_type = content_type;
  answer.headers = absl::StrCat(Absl(kPolicyHeaders), Absl(kNotStored));
  return answer;
}

HttpPage Refuse(unsigned http_status, std::string_view exception, std::string_view message) {
  return {.answer = NewAnswer(http::ErrorReply(http_status, exception, message), kJson)};
}

HttpPage FilePage(const ConsoleFile& file, const HttpHead& head) {
  http::JsonReply reply;
  if (http::AcceptedCoding(head.Find("Accept-Encoding").value_or("")) == http::Coding::kGzip) {
    reply.body = file.gzip;
    reply.content_encoding = http::CodingName(http::Coding::kGzip);
  } else {
    auto text = http::Inflate(http::Coding::kGzip, file.gzip, kMaxFileBytes, 0);
    if (!text.ok()) return Refuse(500, "InternalServerError", storage::MessageOf(text.status()));
    reply.body = *std::move(text);
  }
  HttpAnswer answer = NewAnswer(std::move(reply), file.content_type);
  answer.headers = absl::StrCat(Absl(kPolicyHeaders), Absl(file.path == "/" ? kAskAgain : kKept));
  return {.answer = std::move(answer)};
}

HttpPage WithoutConsole() {
  http::JsonReply reply;
  reply.body = absl::StrCat("itemd\n\nThis itemd was built without the console: ", Absl(WhyNoConsole()),
                            "\n\n/metrics     for Prometheus\n/-/healthy   200: the process runs\n"
                            "/-/ready     200: reads and writes are served\n");
  return {.answer = NewAnswer(std::move(reply), "text/plain; charset=utf-8")};
}

// Cookies do not tell ports apart, so the name does.
std::string CookieName(const HttpHead& head) {
  const std::string_view host = head.Find("Host").value_or("");
  const size_t colon = host.rfind(':');
  std::string name = "itemdb_session";
  if (colon == std::string_view::npos) return name;
  const std::string_view port = host.substr(colon + 1);
  if (!port.empty() && port.size() <= 5 && port.find_first_not_of("0123456789") == std::string_view::npos)
    absl::StrAppend(&name, "_", Absl(port));
  return name;
}

std::string_view CookieOf(const HttpHead& head) {
  const std::string name = CookieName(head) + "=";
  absl::string_view cookies = Absl(head.Find("Cookie").value_or(""));
  while (!cookies.empty()) {
    const size_t end = cookies.find(';');
    absl::string_view one = absl::StripAsciiWhitespace(cookies.substr(0, end));
    if (absl::ConsumePrefix(&one, name)) return {one.data(), one.size()};
    cookies = end == absl::string_view::npos ? "" : cookies.substr(end + 1);
  }
  return "";
}

SessionTokens TokensOf(const HttpHead& head) {
  return {.cookie = CookieOf(head), .page = head.Find(kTokenHeader).value_or("")};
}

// Whether a page of this server has sent the request, as far as the browser says.
bool IsFromOwnPage(const HttpHead& head) {
  const std::string_view origin = head.Find("Origin").value_or("");
  const std::string_view host = head.Find("Host").value_or("");
  const size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos || host.empty()) return false;
  return absl::EqualsIgnoreCase(Absl(origin.substr(scheme + 3)), Absl(host));
}

// Everybody is the same reader when there are no keys.
const FoundSession& SessionWithoutKeys() {
  static const auto* const session = new FoundSession{
      .caller = Caller(), .reader = Caller{.key_id = "", .role = Role::kRead}, .end = absl::InfiniteFuture()};
  return *session;
}

AuditedCall SignInRecord(std::string key_id, const absl::Status& status) {
  return {.key_id = std::move(key_id),
          .operation = "console/sign-in",
          .outcome = absl::StatusCodeToString(status.code()),
          .reason = status.ok() ? "" : storage::MessageOf(status)};
}

}  // namespace

struct Console::Attached {
  Attached(ConsoleTarget named, CallMemory& memory)
      : target(std::move(named)), api(target.database, memory, "") {}
  const ConsoleTarget target;
  http::JsonApi api;
};

Console::Console(ServingContext& serving, ConsoleOptions options)
    : serving_(serving), options_(std::move(options)), sessions_(options_.sessions) {}

Console::~Console() = default;

void Console::Attach(ConsoleTarget target) {
  auto attached = std::make_shared<Attached>(std::move(target), *serving_.memory);
  storage::MutexLock lock(mutex_);
  attached_ = std::move(attached);
}

void Console::Detach() {
  storage::MutexLock lock(mutex_);
  attached_ = nullptr;
}

std::shared_ptr<Console::Attached> Console::attached() const {
  storage::MutexLock lock(mutex_);
  return attached_;
}

std::optional<HttpPage> Console::Page(const HttpHead& head) const {
  const std::string_view path = head.path();
  if (path == "/api" || path.starts_with("/api/")) return Api(head);
  if (head.method != "GET" && head.method != "HEAD") return std::nullopt;
  for (const ConsoleFile& file : ConsoleFiles()) {
    if (file.path == path) return FilePage(file, head);
  }
  if (path == "/") return WithoutConsole();
  return std::nullopt;
}

HttpPage Console::Api(const HttpHead& head) const {
  if (head.method != "POST") {
    HttpPage page = Refuse(405, "UnknownOperationException", "the console is called with POST");
    page.answer.headers += "Allow: POST\r\n";
    return page;
  }
  if (!IsFromOwnPage(head))
    return Refuse(403, kAccessDenied, "only the console's own page may call: Origin must be that of Host");
  if (head.Count(kTokenHeader) != 1)
    return Refuse(403, kAccessDenied, absl::StrCat("the header ", Absl(kTokenHeader), " is missing"));
  const std::string_view path = head.path();
  const bool has_keys = serving_.authorizer.asks_for_keys();
  if (path == "/api/sign-in") return SignIn(head);
  std::optional<FoundSession> found;
  if (has_keys) {
    found = sessions_.Find(TokensOf(head), head.Find(kBackgroundHeader) == std::nullopt);
  } else {
    found = SessionWithoutKeys();
  }
  if (path == "/api/session") return {.answer = SessionAnswer(found.has_value() ? &*found : nullptr, "")};
  if (path == "/api/sign-out") {
    sessions_.End(TokensOf(head));
    HttpPage page = {.answer = SessionAnswer(has_keys ? nullptr : &*found, "")};
    absl::StrAppend(&page.answer.headers, "Set-Cookie: ", CookieName(head),
                    "=; Path=/api; HttpOnly; SameSite=Strict; Max-Age=0\r\n");
    return page;
  }
  if (!found.has_value())
    return Refuse(401, "UnrecognizedClientException", "the session has ended: sign in again");
  if (path == "/api/editing/on" || path == "/api/editing/off") {
    const bool on = path.ends_with("/on");
    if (!has_keys)
      return Refuse(403, kAccessDenied, "without access keys (--access-keys) the console only reads");
    if (!sessions_.SetEditing(TokensOf(head), on))
      return Refuse(403, kAccessDenied, absl::StrCat("the key ", found->caller.key_id, " may only read"));
    found->editing = on;
    return {.answer = SessionAnswer(&*found, "")};
  }
  if (path != "/api") return Refuse(404, "UnknownOperationException", "there is no such call of the console");
  return Call(head, *found);
}

HttpPage Console::SignIn(const HttpHead& head) const {
  if (!serving_.authorizer.asks_for_keys())
    return Refuse(400, "ValidationException", "itemd has no access keys: nobody needs to sign in");
  const std::optional<std::string_view> sent = head.Find("Authorization");
  const absl::StatusOr<AccessKey> key =
      serving_.authorizer.CheckKey("console", {.role = Role::kRead, .scope = Scope::kTableNames}, sent);
  std::optional<NewSession> session;
  if (key.ok()) session = sessions_.Begin(*key);
  if (!session.has_value()) {
    const bool denied = absl::IsPermissionDenied(key.status());
    HttpPage page = Refuse(denied ? 403 : 401, denied ? kAccessDenied : "UnrecognizedClientException",
                           denied ? "this key may not read tables: a role or a grant with read is needed"
                                  : "there is no access key with this id and this secret");
    const absl::Status why = key.ok() ? absl::UnauthenticatedError("the key has changed") : key.status();
    page.audited = SignInRecord(ClaimedKeyId(sent), why);
    return page;
  }
  const std::optional<FoundSession> found =
      sessions_.Find({.cookie = session->cookie, .page = session->page}, true);
  HttpPage page = {.answer = SessionAnswer(found.has_value() ? &*found : nullptr, session->page)};
  absl::StrAppend(&page.answer.headers, "Set-Cookie: ", CookieName(head), "=", session->cookie,
                  "; Path=/api; HttpOnly; SameSite=Strict", options_.tls ? "; Secure" : "", "\r\n");
  page.audited = SignInRecord(key->id, absl::OkStatus());
  return page;
}

HttpPage Console::Call(const HttpHead& head, const FoundSession& session) const {
  const std::string_view target = head.Find("X-Amz-Target").value_or("");
  http::HttpOperation operation;
  bool needs_editing = false;
  std::string_view content_type = kJson;
  if (const http::JsonOperation* json = http::FindOperation(target); json != nullptr) {
    operation = {.name = http::NameOf(*json),
                 .role = http::AccessOf(*json).role,
                 .scope = http::AccessOf(*json).scope,
                 .large_replies = http::HasLargeReplies(*json),
                 .json = json};
    needs_editing = operation.role > Role::kRead;
  } else if (const ConsoleMethod* method = FindConsoleMethod(target); method != nullptr) {
    operation = {.name = method->name,
                 .role = method->access.role,
                 .scope = method->access.scope,
                 .large_replies = method->large_replies};
    needs_editing = method->needs_editing;
    content_type = method->content_type;
  } else {
    return Refuse(400, "UnknownOperationException", "X-Amz-Target names no operation that the console has");
  }
  if (needs_editing && !session.editing) {
    return Refuse(403, kAccessDenied,
                  serving_.authorizer.asks_for_keys()
                      ? "this session only reads: turn on editing"
                      : "without access keys (--access-keys) the console only reads");
  }
  if (!options_.data_is_open && !serving_.authorizer.asks_for_keys()) {
    return Refuse(
        403, kAccessDenied,
        "without access keys (--access-keys) the console shows data only if --listen or --http-listen "
        "has a HOST:PORT");
  }
  if (attached() == nullptr)
    return Refuse(503, "ServiceUnavailable", "the database is opening, or itemd is stopping: try again");
  // A statement of PartiQL is judged by the role of the caller, so a session that only reads is a reader.
  // What changes nothing and yet needs the role admin is allowed to a session that only reads.
  const bool is_harmless = operation.json == nullptr && !needs_editing;
  Caller caller = is_harmless ? session.caller : session.effective();
  const absl::Status allowed = CheckOperation(caller, absl::StrCat("console:", Absl(operation.name)),
                                              {.role = operation.role, .scope = operation.scope});
  if (!allowed.ok()) {
    HttpPage page = {.answer = NewAnswer(http::ErrorReply(allowed), kJson)};
    page.audited = AuditedCall{.key_id = caller.key_id,
                               .operation = absl::StrCat("console/", Absl(operation.name)),
                               .outcome = absl::StatusCodeToString(allowed.code()),
                               .reason = std::string(kAccessDenied)};
    return page;
  }
  HttpPage page = {.answer = NewAnswer({}, content_type)};
  page.operation = operation;
  page.caller = std::move(caller);
  return page;
}

HttpAnswer Console::SessionAnswer(const FoundSession* session_or_null, std::string_view page_token) const {
  http::JsonReply reply;
  storage::JsonWriter json(&reply.body);
  json.BeginObject();
  json.Name("version").String(options_.version);
  json.Name("tls").Boolean(options_.tls);
  json.Name("keys").Boolean(serving_.authorizer.asks_for_keys());
  json.Name("signed_in").Boolean(session_or_null != nullptr);
  if (session_or_null != nullptr) {
    const FoundSession& session = *session_or_null;
    json.Name("key_id").String(session.caller.key_id);
    json.Name("role").String(NameOf(session.caller.role));
    json.Name("may_edit").Boolean(session.may_edit);
    json.Name("editing").Boolean(session.editing);
    json.Name("tables").BeginArray();
    if (session.caller.grants != nullptr) {
      for (const TableGrant& grant : session.caller.grants->grants()) {
        json.BeginObject().Name("names").BeginArray();
        for (const std::string& name : grant.names) json.String(name);
        json.EndArray().Name("role").String(NameOf(grant.role));
        json.Name("streams").Boolean(grant.streams).EndObject();
      }
    }
    json.EndArray();
    if (const std::shared_ptr<Attached> now = attached(); now != nullptr) {
      json.Name("grpc_address").String(now->target.grpc_address);
      json.Name("http_address").String(now->target.http_address);
    }
    if (session.end != absl::InfiniteFuture())
      json.Name("ends_in_s").Integer(absl::ToInt64Seconds(session.end - sessions_.options().now()));
    json.Name("idle_s").Integer(absl::ToInt64Seconds(sessions_.options().idle));
  }
  if (!page_token.empty()) json.Name("token").String(page_token);
  json.EndObject();
  return NewAnswer(std::move(reply), kJson);
}

void Console::Answer(const http::HttpOperation& operation, std::string body, Caller caller,
                     storage::CancellationPtr cancellation,
                     absl::AnyInvocable<void(http::JsonReply) &&> done) {
  // Kept by this function only: what is answered later does not use it.
  const std::shared_ptr<Attached> attached = this->attached();
  if (attached == nullptr) return std::move(done)(http::ErrorReply(StoppingError()));
  if (operation.json != nullptr) {
    return attached->api.Answer(*operation.json, std::move(body), std::move(caller), std::move(cancellation),
                                std::move(done));
  }
  const ConsoleMethod& method = *FindConsoleMethod(operation.name);
  method.run(method, {.target = attached->target,
                      .body = std::move(body),
                      .caller = std::move(caller),
                      .cancellation = std::move(cancellation),
                      .done = std::move(done)});
}

}  // namespace itemdb::daemon
