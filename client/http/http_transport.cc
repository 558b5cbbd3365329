#include "client/http/http_transport.h"

#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "absl/time/clock.h"
#include "client/call_metadata.h"
#include "client/errors_internal.h"
#include "client/http/http_streams.h"
#include "client/http_transport_factory.h"
#include "common/signature/sigv4.h"
#include "common/status_macros.h"

namespace itemdb {
namespace {

constexpr std::string_view kTargetPrefix = "DynamoDB_20120810.";
constexpr char kContentType[] = "application/x-amz-json-1.0";
constexpr char kService[] = "dynamodb";
// The service's own bound for a request.
constexpr size_t kMaxRequestBytes = 16 << 20;

// The exception in the body of a reply that is no success. A body that is no such JSON leaves the name empty.
JsonError ErrorIn(unsigned http_status, const std::string& body, bool is_json,
                  const simdjson::dom::object& object) {
  JsonError error{.name = {}, .message = {}, .http_status = http_status, .body = object};
  std::string_view text;
  if (!is_json || object.at_key("__type").get(text) != simdjson::SUCCESS) {
    error.message = body.substr(0, 200);
    return error;
  }
  error.name = std::string(text.substr(text.find('#') == std::string_view::npos ? 0 : text.find('#') + 1));
  for (const char* member : {"message", "Message"}) {
    if (object.at_key(member).get(text) != simdjson::SUCCESS) continue;
    error.message = std::string(text);
    break;
  }
  // itemd says more than the service does.
  if (object.at_key("Detail").get(text) == simdjson::SUCCESS && !text.empty())
    error.message = std::string(text);
  if (error.message.empty()) error.message = error.name;
  return error;
}

// An engine that lacks an operation does not say which, and some say nothing else.
constexpr std::string_view kUnknownOperation = "UnknownOperationException";
std::string NotOfferedBy(const std::string& endpoint, std::string_view operation, const JsonError& error) {
  // Without the prefix of another service.
  const std::string name(operation.substr(operation.find('.') + 1));
  const bool has_words = error.message != kUnknownOperation;
  return endpoint + " does not offer the operation " + name + (has_words ? " (" + error.message + ")" : "");
}

std::string TargetOf(std::string_view operation) {
  const bool has_prefix = operation.find('.') != std::string_view::npos;
  return (has_prefix ? std::string() : std::string(kTargetPrefix)) + std::string(operation);
}

absl::Status CheckHttpOptions(const ClientOptions& options) {
  if (options.http.max_connections < 1)
    return InvalidRequest("max_connections is " + std::to_string(options.http.max_connections) +
                          "; it must be at least 1");
  for (const auto& [key, value] : options.metadata) ITEMDB_RETURN_IF_ERROR(CheckMetadata(key, value));
  if (options.tls.has_value() && !options.endpoint.starts_with("https://"))
    return InvalidRequest("there are TLS options, but the endpoint \"" + options.endpoint +
                          "\" is no https:// URL");
  return absl::OkStatus();
}

}  // namespace

// One call, from Send to its end.
struct HttpTransport::Pending {
  std::unique_ptr<JsonExchange> exchange;
  absl::Time deadline;
  std::string traceparent;
  Done done;
  // The request under way.
  JsonRequest request;

  std::mutex mutex;
  // Guarded by mutex.
  bool is_cancelled = false;
  uint64_t post_number = 0;

  void End(absl::Status status, std::string_view reply = {}) {
    Done last = std::move(done);
    std::move(last)(std::move(status), reply);
  }
};

HttpTransport::HttpTransport(const ClientOptions& options, HttpEndpoint endpoint, const CurlOptions& curl,
                             Timer& timer)
    : name_(options.endpoint),
      endpoint_(std::move(endpoint)),
      metadata_(options.metadata.begin(), options.metadata.end()),
      timer_(timer),
      loop_(std::make_shared<CurlLoop>(curl)) {}

absl::StatusOr<std::unique_ptr<Transport>> HttpTransport::Make(const ClientOptions& options, Timer& timer) {
  ITEMDB_RETURN_IF_ERROR(CheckHttpOptions(options));
  ITEMDB_ASSIGN_OR_RETURN(HttpEndpoint endpoint, MakeHttpEndpoint(options, &ProcessEnvironment));
  CurlOptions curl{.url = endpoint.url, .max_connections = options.http.max_connections};
  if (options.tls.has_value()) {
    curl.ca_file = options.tls->ca_file;
    curl.cert_file = options.tls->cert_file;
    curl.key_file = options.tls->key_file;
    if (!options.tls->server_name.empty()) {
      // The name is that of the URL; the connections go to the endpoint all the same.
      const size_t colon = endpoint.host.rfind(':');
      const bool has_port = colon != std::string::npos && endpoint.host.find(']', colon) == std::string::npos;
      const std::string host = endpoint.host.substr(0, has_port ? colon : std::string::npos);
      const std::string port = has_port ? endpoint.host.substr(colon + 1) : "443";
      curl.connect_to = options.tls->server_name + ":" + port + ":" + host + ":" + port;
      endpoint.host = options.tls->server_name + (has_port ? ":" + port : "");
      curl.url = "https://" + endpoint.host + "/";
    }
  }
  return std::unique_ptr<Transport>(new HttpTransport(options, std::move(endpoint), curl, timer));
}

Transport::Cancel HttpTransport::Send(OutgoingCall call, Done done) {
  auto pending = std::make_shared<Pending>();
  pending->deadline = call.deadline;
  pending->traceparent = std::move(call.traceparent);
  pending->done = std::move(done);
  pending->exchange = MakeJsonExchange(call.method, call.kind);
  if (pending->exchange != nullptr) pending->exchange->set_endpoint(name_);
  absl::StatusOr<JsonRequest> first = pending->exchange == nullptr
                                          ? absl::StatusOr<JsonRequest>(NotOverHttp(call.method))
                                          : pending->exchange->Begin(*call.request);
  if (!first.ok()) {
    timer_.RunSoon([pending, status = first.status()]() mutable { pending->End(std::move(status)); });
    return [] {};
  }
  Post(pending, *std::move(first));
  return [loop = std::weak_ptr<CurlLoop>(loop_), weak = std::weak_ptr<Pending>(pending)] {
    const std::shared_ptr<Pending> pending = weak.lock();
    if (pending == nullptr) return;
    uint64_t number = 0;
    {
      std::lock_guard<std::mutex> lock(pending->mutex);
      pending->is_cancelled = true;
      number = pending->post_number;
    }
    // The end of the call may have ended the transport.
    const std::shared_ptr<CurlLoop> open = loop.lock();
    if (number != 0 && open != nullptr) open->Cancel(number);
  };
}

void HttpTransport::Post(const std::shared_ptr<Pending>& pending, JsonRequest request) {
  pending->request = std::move(request);
  const absl::Duration delay = pending->request.delay;
  if (delay == absl::ZeroDuration()) return PostNow(pending);
  {
    std::lock_guard<std::mutex> lock(pending->mutex);
    pending->post_number = 0;
  }
  timer_.RunAt(absl::Now() + delay, [this, pending] { PostNow(pending); });
}

void HttpTransport::PostNow(const std::shared_ptr<Pending>& pending) {
  const JsonRequest& request = pending->request;
  std::lock_guard<std::mutex> lock(pending->mutex);
  if (pending->is_cancelled || request.body.size() > kMaxRequestBytes) {
    absl::Status status =
        pending->is_cancelled
            ? MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the call was cancelled")
            : InvalidRequest("the request has " + std::to_string(request.body.size()) +
                             " bytes of JSON; at most " + std::to_string(kMaxRequestBytes) + " are allowed");
    timer_.RunSoon([this, pending, status = std::move(status)]() mutable {
      Continue(pending, pending->exchange->Fail(std::move(status), nullptr));
    });
    return;
  }
  pending->post_number =
      loop_->Post({.body = request.body,
                   .headers = HeadersFor(request, pending->traceparent),
                   .deadline = pending->deadline},
                  [this, pending](CurlReply reply) { Replied(pending, std::move(reply)); });
}

std::vector<std::string> HttpTransport::HeadersFor(const JsonRequest& request,
                                                   const std::string& traceparent) const {
  const std::string body_hash = common::Hex(common::HashOf(request.body));
  common::NamesAndValues headers =
      common::SignedHeaders({.method = "POST",
                             .path = "/",
                             .query = "",
                             .headers = {{"content-type", kContentType},
                                         {"host", endpoint_.host},
                                         {"x-amz-target", TargetOf(request.operation)}},
                             .body_hash = body_hash,
                             .region = endpoint_.region,
                             .service = kService},
                            endpoint_.credentials, absl::Now());
  headers.insert(headers.end(), metadata_.begin(), metadata_.end());
  if (!traceparent.empty()) headers.emplace_back(kTraceparent, traceparent);
  std::vector<std::string> lines;
  for (const auto& [name, value] : headers) lines.push_back(name + ": " + value);
  return lines;
}

absl::Status HttpTransport::StatusOfLoss(const CurlReply& reply, CallKind kind) const {
  const bool may_be_applied = kind == CallKind::kWrite && reply.may_be_sent;
  switch (reply.end) {
    case CurlReply::End::kCancelled:
      if (!may_be_applied)
        return MakeError(absl::StatusCode::kCancelled, kReasonCancelled, "the call was cancelled");
      return MakeError(
          absl::StatusCode::kCancelled, kReasonWriteOutcomeUnknown,
          "the call was cancelled after the write was sent; it may or may not have been applied");
    case CurlReply::End::kDeadline:
      if (may_be_applied)
        return MakeError(
            absl::StatusCode::kDeadlineExceeded, kReasonWriteOutcomeUnknown,
            "no reply from " + name_ + " before the deadline: the write may or may not have been applied");
      if (reply.may_be_sent)
        return MakeError(absl::StatusCode::kDeadlineExceeded, kReasonDeadlineExceeded,
                         "no reply from " + name_ + " before the deadline");
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       name_ + " cannot be reached: the connection was not established before the deadline");
    case CurlReply::End::kNeverSent:
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       name_ + " cannot be reached: " + reply.error);
    case CurlReply::End::kLost:
    case CurlReply::End::kReplied:
      break;
  }
  if (kind == CallKind::kRead)
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the reply from " + name_ + " was lost: " + reply.error);
  return MakeError(
      absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
      "the reply from " + name_ +
          " was lost after the write was sent; it may or may not have been applied: " + reply.error);
}

void HttpTransport::Replied(const std::shared_ptr<Pending>& pending, CurlReply reply) {
  const CallKind kind = pending->request.kind;
  JsonExchange& exchange = *pending->exchange;
  if (reply.end == CurlReply::End::kReplied && !reply.checksum.empty()) {
    const uLong checksum = crc32_z(0, reinterpret_cast<const Bytef*>(reply.body.data()), reply.body.size());
    if (reply.checksum != std::to_string(checksum)) {
      reply.end = CurlReply::End::kLost;
      reply.error = "its checksum is " + std::to_string(checksum) + " and not " + reply.checksum +
                    ", as x-amz-crc32 says";
    }
  }
  if (reply.end != CurlReply::End::kReplied)
    return Continue(pending, exchange.Fail(StatusOfLoss(reply, kind), nullptr));
  // Some operations answer with nothing; of dynalite it is an empty string in JSON.
  if (reply.http_status == 200 && (reply.body.empty() || reply.body == "\"\"")) reply.body = "{}";
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  const bool is_json = parser.parse(reply.body).get(object) == simdjson::SUCCESS;
  if (reply.http_status != 200) {
    JsonError error = ErrorIn(reply.http_status, reply.body, is_json, object);
    if (error.name == kUnknownOperation)
      error.message = NotOfferedBy(name_, pending->request.operation, error);
    return Continue(pending, exchange.Fail(StatusOfJsonError(error, kind), &error));
  }
  if (!is_json) {
    reply.end = CurlReply::End::kLost;
    reply.error = "it is no JSON object";
    return Continue(pending, exchange.Fail(StatusOfLoss(reply, kind), nullptr));
  }
  Continue(pending, exchange.Take(object));
}

void HttpTransport::Continue(const std::shared_ptr<Pending>& pending, absl::StatusOr<JsonStep> step) {
  if (!step.ok()) return pending->End(step.status());
  if (auto* next = std::get_if<JsonRequest>(&*step)) return Post(pending, std::move(*next));
  pending->End(absl::OkStatus(), std::get<std::string>(*step));
}

std::unique_ptr<MessageStream> HttpTransport::OpenStream(const char* method, size_t,
                                                         const std::string& traceparent) {
  return OpenHttpStream(*this, method, traceparent);
}

}  // namespace itemdb

// Named by the linker option of this target, so that programs have this object.
extern "C" {
ITEMDB_EXPORT extern const bool itemdb_http_transport_registered;
const bool itemdb_http_transport_registered = [] {
  itemdb::RegisterHttpTransport(&itemdb::HttpTransport::Make);
  return true;
}();
}
