#include "daemon/http/connection/request_in_progress.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_format.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/message/compression.h"
#include "daemon/http/message/http_reply.h"
#include "daemon/process/listen_address.h"

namespace itemdb::http {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

// The head of a signed request takes about 1 KiB, with a session token several KiB.
constexpr size_t kMaxHeadBytes = 32 << 10;
// If a head is refused, a body up to this size is read and discarded, so that the connection can stay open.
constexpr size_t kDiscardedBodyBytes = 64 << 10;
// Hashing, inflating and parsing a body takes about 10 us for each KiB, and a compressed one may become a
// thousand times as long. A hand-over to another thread takes some 20 us.
constexpr size_t kLargeBodyBytes = 256 << 10;
constexpr size_t kLargeCompressedBytes = 8 << 10;
// A body is in memory twice: as sent and decoded.
constexpr size_t kCopiesOfBody = 2;

}  // namespace

RequestInProgress::RequestInProgress(HttpContext& context, HttpPeer& peer)
    : context_(context), peer_(peer), memory_(peer.memory), signatures_(context.secrets.signatures()) {
  parser_.header_limit(kMaxHeadBytes);
  parser_.body_limit(kMaxBodyBytes);
}

RequestInProgress::~RequestInProgress() {
  memory_->Release(reserved_bytes_);
  memory_->ReleaseSmall(reserved_small_bytes_);
  if (counted_) memory_->EndCall();
  if (cancellation_ != nullptr) context_.serving.gate.Leave();
}

RequestInProgress::Next RequestInProgress::Parse(boost::beast::flat_buffer& buffer) {
  if (bytes_to_discard_ > 0) return DiscardBody(buffer);
  while (true) {
    const bool had_head = has_head();
    error_code error;
    buffer.consume(parser_.put(buffer.data(), error));
    // The parser has no limit for the line before a chunk, so it is limited here.
    if (error == http::error::need_more && buffer.size() <= kMaxHeadBytes) return Next::kRead;
    if (error) return RefuseMalformed(error);
    if (!had_head) {
      if (!AcceptHead()) return DiscardBody(buffer);
      if (!parser_.is_done() && buffer.size() == 0 && AwaitsContinue()) return Next::kSendContinue;
    }
    if (parser_.is_done()) {
      const size_t bytes = parser_.get().body().size();
      is_large_ =
          bytes >= (route_.request_coding == Coding::kIdentity ? kLargeBodyBytes : kLargeCompressedBytes);
      return is_large_ ? Next::kAdmit : Admit();
    }
    if (!Reserve(parser_.get().body().size())) {
      CloseAfterReply();
      return Next::kSendReply;
    }
    if (buffer.size() == 0) return Next::kRead;
  }
}

// Whether the peer sends the body only when it is asked to.
bool RequestInProgress::AwaitsContinue() const {
  return boost::beast::iequals(parser_.get()[http::field::expect], "100-continue");
}

// Reads the rest of the body of a refused request, so that the connection can stay open, and keeps none of
// it: nothing has checked who sent it.
RequestInProgress::Next RequestInProgress::DiscardBody(boost::beast::flat_buffer& buffer) {
  const size_t bytes = std::min(bytes_to_discard_, buffer.size());
  buffer.consume(bytes);
  bytes_to_discard_ -= bytes;
  return bytes_to_discard_ == 0 ? Next::kSendReply : Next::kRead;
}

// False: the request has its reply, and its body is not kept.
bool RequestInProgress::AcceptHead() {
  parser_.eager(true);
  auto& message = parser_.get();
  keep_alive_ = message.keep_alive();
  head_.method = message.method_string();
  head_.target = message.target();
  head_.http_1_1 = message.version() >= 11;
  head_.headers.reserve(static_cast<size_t>(std::distance(message.begin(), message.end())));
  for (const auto& field : message) head_.headers.push_back({field.name_string(), field.value()});
  const int64_t hosts = head_.Count("Host");
  if (head_.http_1_1 && hosts == 0) {
    RefuseAndClose(400, "SerializationException", "the header Host is missing");
    return false;
  }
  // A proxy before this daemon could act on the other value (RFC 9112, 3.2).
  if (hosts > 1) {
    RefuseAndClose(400, "SerializationException", "the header Host must be there once");
    return false;
  }
  // With another Transfer-Encoding the end of the body cannot be known (RFC 9112, 6.3).
  if (head_.Find("Transfer-Encoding").has_value() && !parser_.chunked()) {
    RefuseAndClose(400, "SerializationException", "the header Transfer-Encoding must be chunked");
    return false;
  }
  route_ = Route(head_, context_.handler, signatures_ == nullptr ? &context_.local_hosts : nullptr);
  // A page whose origin is refused (403) gets no CORS headers: it must not be able to read even the error.
  if (route_.is_page || route_.answer.reply.http_status != 403) {
    if (route_.for_other_origins) origin_headers_ = OriginHeaders(head_);
    AuditPage();
  } else {
    AuditRefusal("AccessDeniedException: Host or Origin of another machine", "http");
  }
  if (route_.operation.has_value() && !route_.is_page) {
    std::optional<AuthError> refusal = ReadSignature(head_, signature_);
    if (!refusal.has_value() && signatures_ != nullptr) {
      refusal = signatures_->CheckHead(head_, signature_, absl::Now());
    }
    if (refusal.has_value()) RefuseUnauthorized(*refusal);
  }
  const size_t body_bytes = parser_.content_length().value_or(0);
  // Reserves memory for the first piece only, the rest as it arrives: a peer can claim any Content-Length.
  const bool accepted = route_.operation.has_value() && Reserve(std::min(body_bytes, kBodyPieceBytes));
  if (!accepted) {
    if (body_bytes > kDiscardedBodyBytes || parser_.chunked() || AwaitsContinue()) {
      CloseAfterReply();
    } else {
      bytes_to_discard_ = body_bytes;
    }
    return false;
  }
  message.body().reserve(body_bytes + kJsonPadding);
  return true;
}

// Reserves memory for a body of `body_bytes`. False: there is none left, and the request is refused.
bool RequestInProgress::Reserve(size_t body_bytes) {
  size_t wanted = kCopiesOfBody * body_bytes;
  if (wanted <= reserved_bytes_ + reserved_small_bytes_) return true;
  // Also reserves memory for the next piece.
  if (!parser_.is_done()) {
    const size_t end = parser_.content_length().value_or(body_bytes + kBodyPieceBytes);
    wanted += std::min(end - std::min(end, body_bytes), kBodyPieceBytes);
  }
  daemon::CallMemory& memory = *memory_;
  const bool large_reply = route_.operation->large_replies;
  const bool may_be_small = reserved_bytes_ == 0 && reserved_small_bytes_ == 0 && !parser_.chunked();
  if (may_be_small && !large_reply && memory.TryReserveSmall(wanted)) {
    reserved_small_bytes_ = wanted;
    return true;
  }
  const size_t all = wanted - reserved_small_bytes_;
  const size_t more = all - reserved_bytes_;
  if (large_reply ? memory.TryReserveForLargeReply(more, reserved_bytes_)
                  : memory.TryReserve(more, reserved_bytes_)) {
    reserved_bytes_ = all;
    return true;
  }
  if (may_be_small && large_reply && memory.TryReserveSmallForLargeReply(wanted)) {
    reserved_small_bytes_ = wanted;
    return true;
  }
  Refuse(ErrorReply(daemon::CallsFullError(memory)));
  return false;
}

bool RequestInProgress::CountForCaller() {
  if (caller_.key_id != peer_.key_id) {
    std::shared_ptr<daemon::CallMemory> memory =
        context_.serving.shares.Of(caller_.key_id, daemon::AddressOfPeer(peer_.name));
    if (!memory->TryTakeOver(*memory_, reserved_small_bytes_, reserved_bytes_)) return false;
    memory_ = memory;
    peer_.memory = std::move(memory);
    peer_.key_id = caller_.key_id;
  }
  counted_ = memory_->TryBeginCall();
  return counted_;
}

// The checks of a request that has arrived.
RequestInProgress::Next RequestInProgress::Admit() {
  arrived_ = HttpClock::now();
  std::string& body = parser_.get().body();
  request_bytes_ = body.size();
  if (!Reserve(body.size())) return Next::kSendReply;
  if (route_.is_page) {
    caller_ = route_.caller;
  } else if (signatures_ != nullptr) {
    std::optional<AuthError> refusal =
        signatures_->Check(head_, signature_, body, *route_.operation, &caller_);
    if (refusal.has_value()) return RefuseUnauthorized(*refusal);
  }
  if (!route_.is_page) caller_.region = signature_.region;
  if (route_.request_coding != Coding::kIdentity) {
    absl::StatusOr<std::string> inflated = Inflate(route_.request_coding, body, kMaxBodyBytes, kJsonPadding);
    if (!inflated.ok()) {
      const bool too_long = absl::IsResourceExhausted(inflated.status());
      return Refuse(ErrorReply(too_long ? 413 : 400,
                               too_long ? "RequestEntityTooLargeException" : "SerializationException",
                               storage::MessageOf(inflated.status())));
    }
    body = *std::move(inflated);
    if (!Reserve(body.size())) return Next::kSendReply;
  }
  if (!CountForCaller()) return Refuse(ErrorReply(daemon::CallsFullError(*memory_)));
  if (!context_.serving.gate.TryEnter()) {
    CloseAfterReply();
    return Refuse(ErrorReply(daemon::StoppingError()));
  }
  cancellation_ = std::make_shared<storage::Cancellation>();
  if (context_.serving.tracer != nullptr) {
    traced_ = context_.serving.tracer->Begin(TraceContext());
    if (traced_ != nullptr) cancellation_->set_trace({traced_, &traced_->steps});
  }
  return Next::kCall;
}

RequestInProgress::Next RequestInProgress::Refuse(JsonReply reply) {
  if (route_.operation.has_value()) CountAnswer(reply);
  route_.operation.reset();
  const std::string_view content_type = route_.answer.content_type;
  route_.answer = HttpAnswer();
  route_.answer.content_type = content_type;
  route_.answer.reply = std::move(reply);
  return Next::kSendReply;
}

RequestInProgress::Next RequestInProgress::RefuseUnauthorized(const AuthError& refusal) {
  // Without keys only malformed signatures are refused, which says nothing about the caller.
  if (signatures_ != nullptr)
    AuditRefusal(refusal.exception, absl::StrFormat("http/%s", route_.operation->name));
  // Counted with the audit's refusals, not with the operation's failures.
  route_.operation.reset();
  return Refuse(ErrorReply(400, refusal.exception, refusal.message));
}

// What the handler has decided about the caller of a page.
void RequestInProgress::AuditPage() {
  if (!route_.audited.has_value()) return;
  daemon::AuditedCall call = *std::move(route_.audited);
  call.peer = peer_.name;
  if (call.outcome == "OK") return context_.serving.audit.Answered(std::move(call));
  const bool unauthenticated = call.outcome == "UNAUTHENTICATED";
  context_.serving.audit.Refused(std::move(call), unauthenticated);
}

void RequestInProgress::AuditRefusal(std::string_view exception, std::string_view operation) {
  const bool denied = exception.starts_with("AccessDenied");
  daemon::AuditedCall call = NewAuditedCall();
  call.operation = operation;
  call.outcome = denied ? "PERMISSION_DENIED" : "UNAUTHENTICATED";
  call.reason = exception;
  context_.serving.audit.Refused(std::move(call), !denied);
}

// "http/PutItem", of a page "console/PutItem".
std::string RequestInProgress::LoggedOperation() const {
  return absl::StrFormat("%s/%s", route_.is_page ? "console" : "http", route_.operation->name);
}

// The peer and the key that the request claims; without keys nobody has checked that one.
daemon::AuditedCall RequestInProgress::NewAuditedCall() const {
  daemon::AuditedCall call;
  if (signatures_ != nullptr && daemon::IsKeyId(signature_.key_id)) call.key_id = signature_.key_id;
  if (route_.is_page) call.key_id = route_.caller.key_id;
  call.peer = peer_.name;
  if (const std::optional<daemon::TraceContext> trace = TraceContext())
    call.trace_id = ToText(trace->trace_id);
  return call;
}

std::optional<daemon::TraceContext> RequestInProgress::TraceContext() const {
  const auto find = [this](std::string_view name) {
    return head_.Count(name) == 1 ? head_.Find(name) : std::nullopt;
  };
  return daemon::ReadTraceContext(find("traceparent"), find("X-Amzn-Trace-Id"));
}

void RequestInProgress::FinishTrace(const JsonReply& reply) {
  context_.serving.tracer->Finish(*traced_,
                                  {.operation = route_.operation->name,
                                   .protocol = "http",
                                   .table = std::string(daemon::CountedTableName(reply.log_fields)),
                                   .code = reply.code,
                                   .reason = std::string(reply.reason),
                                   .begin = arrived_,
                                   .end = HttpClock::now(),
                                   .request_bytes = request_bytes_,
                                   .reply_bytes = reply.body.size(),
                                   .items = reply.items < 0 ? reply.log_fields.items : reply.items});
}

RequestInProgress::Next RequestInProgress::RefuseAndClose(unsigned http_status, std::string_view exception,
                                                          std::string_view message) {
  CloseAfterReply();
  return Refuse(ErrorReply(http_status, exception, message));
}

RequestInProgress::Next RequestInProgress::RefuseMalformed(error_code error) {
  if (error == http::error::body_limit) {
    return RefuseAndClose(413, "RequestEntityTooLargeException",
                          absl::StrFormat("the body is longer than %d bytes", kMaxBodyBytes));
  }
  if (error == http::error::header_limit || error == http::error::need_more) {
    return RefuseAndClose(431, "SerializationException",
                          absl::StrFormat("the headers are longer than %d bytes", kMaxHeadBytes));
  }
  return RefuseAndClose(400, "SerializationException",
                        absl::StrFormat("the bytes sent are not a request of HTTP/1.1: %s", error.message()));
}

void RequestInProgress::Call(absl::AnyInvocable<void(JsonReply) &&> done) {
  std::string body = std::move(parser_.get().body());
  body.reserve(body.size() + kJsonPadding);
  if (route_.reply_coding == Coding::kIdentity) {
    return context_.handler.Answer(*route_.operation, std::move(body), std::move(caller_), cancellation_,
                                   std::move(done));
  }
  // Compresses on the thread that has the reply, which is not the network thread if the disk was read.
  auto compress = [coding = route_.reply_coding, done = std::move(done)](JsonReply reply) mutable {
    if (reply.body.size() >= kMinCompressedBytes) {
      if (std::optional<std::string> deflated = Deflate(coding, reply.body)) {
        reply.body = *std::move(deflated);
        reply.content_encoding = CodingName(coding);
      }
    }
    std::move(done)(std::move(reply));
  };
  context_.handler.Answer(*route_.operation, std::move(body), std::move(caller_), cancellation_,
                          std::move(compress));
}

void RequestInProgress::Cancel() {
  cancellation_->Cancel();
  CloseAfterReply();
}

HttpClock::duration RequestInProgress::CountAnswer(const JsonReply& reply) {
  const auto duration = HttpClock::now() - arrived_;
  context_.serving.metrics.Count({.protocol = daemon::Protocol::kHttp,
                                  .operation = route_.operation->name,
                                  .table = daemon::CountedTableName(reply.log_fields),
                                  .reason = reply.reason,
                                  .duration = duration,
                                  .request_bytes = request_bytes_,
                                  .reply_bytes = reply.body.size(),
                                  .items = reply.items});
  return duration;
}

void RequestInProgress::SetReply(JsonReply reply) {
  const auto duration = CountAnswer(reply);
  if (traced_ != nullptr) FinishTrace(reply);
  if (context_.serving.slow_log.IsSlow(duration)) {
    std::string trace_id;
    if (traced_ != nullptr) {
      trace_id = ToText(traced_->trace_id);
    } else if (const std::optional<daemon::TraceContext> trace = TraceContext()) {
      trace_id = ToText(trace->trace_id);
    }
    context_.serving.slow_log.Log({.method = LoggedOperation(),
                                   .log_fields = reply.log_fields,
                                   .duration = duration,
                                   .request_bytes = request_bytes_,
                                   .reply_bytes = reply.body.size(),
                                   .items = reply.items,
                                   .code = reply.code,
                                   .trace_id = std::move(trace_id)});
  }
  // A statement that the role of the key does not allow is refused when the body is known.
  const bool denied = reply.code == "PERMISSION_DENIED";
  if (denied || context_.serving.audit.Wants(route_.operation->role)) {
    daemon::AuditedCall call = NewAuditedCall();
    call.operation = LoggedOperation();
    if (!reply.log_fields.table_name.empty()) call.table = daemon::LoggedTableName(reply.log_fields);
    call.outcome = reply.code;
    if (denied) {
      call.reason = "AccessDeniedException";
      context_.serving.audit.Refused(std::move(call), /*unauthenticated=*/false);
    } else {
      context_.serving.audit.Answered(std::move(call));
    }
  }
  memory_->Add(reply.body.size());
  reserved_bytes_ += reply.body.size();
  route_.answer.reply = std::move(reply);
}

std::array<net::const_buffer, 2> RequestInProgress::EncodeReply() {
  reply_head_ = EncodeReplyHead({.answer = route_.answer,
                                 .origin_headers = origin_headers_,
                                 .keep_alive = keep_alive_,
                                 .http_1_1 = head_.http_1_1});
  const bool has_body = head_.method != "HEAD";
  return {net::buffer(reply_head_), has_body ? net::buffer(route_.answer.reply.body) : net::const_buffer()};
}

}  // namespace itemdb::http
