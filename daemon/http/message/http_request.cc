#include "daemon/http/message/http_request.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/message/absl_view.h"

namespace itemdb::http {
namespace {

constexpr std::string_view kContentType = "application/x-amz-json-1.0";
// Served alike. The reply has the type of its request.
constexpr std::string_view kPlainJson = "application/json";
constexpr std::string_view kHealthy = "healthy: dynamodb.us-east-1.amazonaws.com\n";
// Messages cut a longer text of a request.
constexpr size_t kMaxQuotedHeaderBytes = 100;

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(Absl(a), Absl(b));
}

// `text` from a client in quotes, for messages. Control characters and bytes above 0x7e become '?', so that a
// terminal that shows the message cannot be controlled.
std::string QuotedHeader(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text.substr(0, kMaxQuotedHeaderBytes)) quoted += c >= 0x20 && c < 0x7f ? c : '?';
  return quoted + (text.size() > kMaxQuotedHeaderBytes ? "...\"" : "\"");
}

// `detail`: what the service does not say; empty: nothing.
HttpRoute Refuse(unsigned http_status, std::string_view exception, std::string_view message,
                 std::string_view detail = {}) {
  HttpRoute route;
  route.answer.reply = ErrorReply(http_status, exception, message, detail);
  return route;
}

HttpRoute ToPage(const HttpHead& head, HttpPage page) {
  HttpRoute route;
  route.answer = std::move(page.answer);
  route.operation = page.operation;
  route.is_page = true;
  route.caller = std::move(page.caller);
  route.for_other_origins = page.for_other_origins;
  route.audited = std::move(page.audited);
  route.reply_coding = AcceptedCoding(head.Find("Accept-Encoding").value_or(""));
  return route;
}

HttpRoute NotFound(std::string message) { return Refuse(404, "UnknownOperationException", message); }

HttpRoute Healthy() {
  HttpRoute route;
  route.answer.reply.body = kHealthy;
  route.answer.content_type = "text/plain";
  return route;
}

// The reply to a CORS preflight, the OPTIONS request that a browser sends before the request of a page.
HttpRoute Preflight(const HttpHead& head) {
  HttpRoute route;
  route.answer.content_type = "text/plain";
  std::string_view headers = head.Find("Access-Control-Request-Headers").value_or("");
  route.answer.headers =
      "Allow: GET, HEAD, OPTIONS, POST\r\nAccess-Control-Allow-Methods: GET, HEAD, OPTIONS, POST\r\n"
      "Access-Control-Max-Age: 172800\r\n";
  if (!headers.empty())
    absl::StrAppendFormat(&route.answer.headers, "Access-Control-Allow-Headers: %s\r\n", headers);
  return route;
}

// Whether `text`, the rest of a header Host behind the name, is empty or a colon and digits.
bool IsPort(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// The refusal of a request that a web page from elsewhere may have sent.
std::optional<HttpRoute> RefuseOtherPages(const HttpHead& head, const std::vector<std::string>& local_hosts) {
  const std::optional<std::string_view> host = head.Find("Host");
  const auto is_from_page = [&head] {
    return head.Find("Origin").has_value() || head.Find("Referer").has_value() ||
           head.Find("Sec-Fetch-Site").has_value();
  };
  if (host.has_value() && !IsLocalHost(*host, local_hosts) && (!IsHostOfPrograms(*host) || is_from_page())) {
    return Refuse(403, "AccessDeniedException",
                  absl::StrFormat("the Host %s is refused: without access keys a request must be sent to "
                                  "localhost, 127.0.0.1, [::1], the address of --http-listen, or a name "
                                  "without a dot",
                                  QuotedHeader(*host)));
  }
  const std::optional<std::string_view> origin = head.Find("Origin");
  if (origin.has_value() && !IsLoopbackOrigin(*origin)) {
    return Refuse(
        403, "AccessDeniedException",
        absl::StrFormat(
            "the Origin %s is not allowed: itemd has no access keys, so it accepts requests only from "
            "web pages of localhost, 127.0.0.1 and [::1]",
            QuotedHeader(*origin)));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> HttpHead::Find(std::string_view name) const {
  auto header = std::find_if(headers.begin(), headers.end(),
                             [&](const HttpHeader& candidate) { return candidate.HasName(name); });
  if (header == headers.end()) return std::nullopt;
  return header->value;
}

int64_t HttpHead::Count(std::string_view name) const {
  return std::count_if(headers.begin(), headers.end(),
                       [&](const HttpHeader& header) { return header.HasName(name); });
}

std::string_view HttpHead::query() const {
  size_t mark = target.find('?');
  return mark == std::string_view::npos ? "" : target.substr(mark + 1);
}

bool IsLoopbackOrigin(std::string_view origin) {
  size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  return IsLocalHost(origin.substr(scheme + 3), {});
}

bool IsLocalHost(std::string_view host, const std::vector<std::string>& more_hosts) {
  const auto names = [host](std::string_view name) {
    if (!EqualsIgnoringCase(host.substr(0, name.size()), name)) return false;
    return IsPort(host.substr(name.size()));
  };
  return names("localhost") || names("127.0.0.1") || names("[::1]") ||
         std::any_of(more_hosts.begin(), more_hosts.end(), names);
}

bool IsHostOfPrograms(std::string_view host) {
  const std::string_view name = host.substr(0, host.find(':'));
  const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
  if (!is_plain || !IsPort(host.substr(name.size()))) return false;
  if (name.find('.') == std::string_view::npos) return true;
  const bool is_service = absl::StartsWithIgnoreCase(Absl(name), "dynamodb.") ||
                          absl::StartsWithIgnoreCase(Absl(name), "streams.dynamodb.");
  return is_service && absl::EndsWithIgnoreCase(Absl(name), ".amazonaws.com");
}

std::string OriginHeaders(const HttpHead& head) {
  std::optional<std::string_view> origin = head.Find("Origin");
  if (!origin.has_value()) return "";
  return absl::StrFormat(
      "Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: x-amzn-RequestId, x-amz-crc32\r\n"
      "Vary: Origin\r\n",
      *origin);
}

HttpRoute Route(const HttpHead& head, const HttpHandler& handler,
                const std::vector<std::string>* local_hosts_or_null) {
  if (local_hosts_or_null != nullptr) {
    if (std::optional<HttpRoute> refusal = RefuseOtherPages(head, *local_hosts_or_null))
      return *std::move(refusal);
  }
  if (std::optional<HttpPage> page = handler.Page(head)) return ToPage(head, *std::move(page));
  if (head.method == "OPTIONS") return Preflight(head);
  if (head.path() != "/") {
    return NotFound(absl::StrFormat("there is nothing at the path %s: send operations to POST /",
                                    QuotedHeader(head.path())));
  }
  if (head.method == "GET" || head.method == "HEAD") return Healthy();
  if (head.method != "POST") {
    return NotFound(absl::StrFormat("the method %s is not supported: send operations to POST /",
                                    QuotedHeader(head.method)));
  }
  std::string_view type = head.Find("Content-Type").value_or("");
  absl::string_view bare = absl::StripAsciiWhitespace(Absl(type.substr(0, type.find(';'))));
  const bool plain_json = absl::EqualsIgnoreCase(bare, Absl(kPlainJson));
  if (!plain_json && !absl::EqualsIgnoreCase(bare, Absl(kContentType))) {
    return NotFound(absl::StrFormat("the Content-Type %s is not supported: it must be %s", QuotedHeader(type),
                                    kContentType));
  }
  std::string_view target = head.Find("X-Amz-Target").value_or("");
  HttpRoute route;
  route.operation = handler.Find(target);
  if (!route.operation.has_value()) {
    constexpr std::string_view kUnknown = "UnknownOperationException";
    if (target.empty()) {
      return Refuse(400, kUnknown,
                    "the header X-Amz-Target is missing: it names the operation, as in "
                    "DynamoDB_20120810.GetItem");
    }
    return Refuse(400, kUnknown, "Unknown operation exception",
                  absl::StrFormat("the operation %s is not supported", QuotedHeader(target)));
  }
  const std::string_view encoding = head.Find("Content-Encoding").value_or("identity");
  const std::optional<Coding> coding = CodingOf(encoding);
  if (!coding.has_value() || head.Count("Content-Encoding") > 1) {
    return Refuse(
        400, "SerializationException",
        absl::StrFormat("the Content-Encoding %s is not supported: it must be one of gzip, deflate and "
                        "identity",
                        QuotedHeader(encoding)));
  }
  route.request_coding = *coding;
  route.reply_coding = AcceptedCoding(head.Find("Accept-Encoding").value_or(""));
  if (plain_json) route.answer.content_type = kPlainJson;
  return route;
}

}  // namespace itemdb::http
