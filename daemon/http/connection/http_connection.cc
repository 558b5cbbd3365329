#include "daemon/http/connection/http_connection.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "absl/strings/str_format.h"
#include "daemon/http/api/errors.h"
#include "daemon/http/message/gzip.h"
#include "daemon/http/message/http_reply.h"
#include "daemon/http/message/http_request.h"
#include "daemon/http/signature/signature.h"

namespace itemdb::http {
namespace {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using Parser = http::request_parser<http::string_body>;
using PlainStream = net::ip::tcp::socket;
using TlsStream = net::ssl::stream<PlainStream>;

// The head of a signed request takes about 1 KiB, with a session token several KiB.
constexpr size_t kMaxHeadBytes = 32 << 10;
constexpr size_t kReadBytes = 4 << 10;
constexpr size_t kReadBodyBytes = 64 << 10;
// A larger buffer is freed when the connection becomes idle.
constexpr size_t kIdleBufferBytes = 16 << 10;
// If a head is refused, a body up to this size is read and discarded, so that the connection can stay open.
constexpr size_t kDiscardedBodyBytes = 64 << 10;
// A body is in memory twice: as sent and decoded.
constexpr size_t kCopiesOfBody = 2;
// How long data from the peer is still read and discarded after the last answer. Closing a socket with unread
// data makes TCP send a reset, which could destroy the answer on its way.
constexpr std::chrono::seconds kLingering(2);
// The time for sending the last answer when the daemon stops.
constexpr std::chrono::milliseconds kLastAnswer(500);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

HttpClock::time_point After(HttpClock::duration patience) {
  HttpClock::time_point now = HttpClock::now();
  return patience > HttpClock::time_point::max() - now ? HttpClock::time_point::max() : now + patience;
}

// Whether the peer has ended its sending side, even if there are unread bytes before that end. The peer may
// still wait for its answer, or it is gone.
bool PeerHasEnded(int fd) {
  pollfd event = {.fd = fd, .events = POLLRDHUP, .revents = 0};
  return poll(&event, 1, 0) > 0;
}

// Whether the connection is known to be broken (POLLERR or POLLHUP).
bool PeerIsGone(int fd) {
  pollfd event = {.fd = fd, .events = 0, .revents = 0};
  return poll(&event, 1, 0) > 0;
}

// Whether a TLS handshake failed because the peer sent a plain HTTP request.
bool SpeaksPlainHttp(error_code error) {
  return error.category() == net::error::get_ssl_category() &&
         ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
}

template <typename Stream>
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(HttpWorker& worker, Stream stream)
      : worker_(worker), context_(worker.context), stream_(std::move(stream)) {
    worker_.connections.insert(this);
  }
  ~Connection() override {
    worker_.connections.erase(this);
    FinishCall();
  }

  void Start() {
    if constexpr (kTls) {
      state_ = State::kHandshaking;
      deadline_ = After(context_.handshake_timeout);
      stream_.async_handshake(TlsStream::server, [self = Self()](error_code error) {
        if (self->state_ == State::kClosed) return;
        if (SpeaksPlainHttp(error)) return self->RefusePlainHttp();
        if (error) return self->Close();
        self->ReadOrParse();
      });
    } else {
      ReadOrParse();
    }
  }

  void Tick(HttpClock::time_point now) override {
    if (now < deadline_) return;
    // With TLS an idle connection sends close_notify before it closes.
    const bool says_goodbye = kTls && state_ == State::kIdle && !idle_for_long_;
    if (state_ != State::kReading && !says_goodbye) return Close();
    // Cancelling ends the pending read; OnRead() then refuses the request or sends close_notify.
    (says_goodbye ? idle_for_long_ : timed_out_) = true;
    deadline_ = says_goodbye ? After(kLingering) : HttpClock::time_point::max();
    error_code ignored;
    socket().cancel(ignored);
  }

  void Abort() override {
    if (state_ == State::kHandshaking || state_ == State::kIdle || state_ == State::kReading) return Close();
    cut_ = true;
    if (cancellation_ != nullptr) cancellation_->Cancel();
    if (state_ != State::kAnswering) deadline_ = std::min(deadline_, After(kLastAnswer));
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

  enum class State {
    kHandshaking,
    kIdle,       // no byte of the next request has arrived
    kReading,    // a part of the request has arrived
    kAnswering,  // the database works on the request
    kWriting,
    kLingering,  // the last answer is sent; further bytes are discarded
    kClosed
  };

  auto& socket() { return stream_.lowest_layer(); }
  // The socket below TLS.
  PlainStream& plain() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }
  auto Self() { return this->shared_from_this(); }

  // ---- reading ----

  void ReadOrParse() {
    if (buffer_.size() > 0) return Parse();
    if (!parser_.has_value()) {
      state_ = State::kIdle;
      // A connection without a request so far is unauthenticated. With TLS it takes 80 to 90 KiB, so it gets
      // the shorter one of the two timeouts.
      deadline_ = After(kTls && !has_asked_ ? std::min(context_.request_timeout, context_.idle_timeout)
                                            : context_.idle_timeout);
      if (buffer_.capacity() > kIdleBufferBytes) buffer_.shrink_to_fit();
    }
    Read();
  }

  void Read() {
    if (timed_out_) return RefuseTimeout();
    size_t wanted = head_is_here_ ? kReadBodyBytes : kReadBytes;
    stream_.async_read_some(buffer_.prepare(wanted),
                            [self = Self()](error_code error, size_t bytes) { self->OnRead(error, bytes); });
  }

  void OnRead(error_code error, size_t bytes) {
    if (state_ == State::kClosed) return;
    if (timed_out_) return RefuseTimeout();
    if (error) return idle_for_long_ ? Linger() : Close();
    idle_for_long_ = false;
    buffer_.commit(bytes);
    Parse();
  }

  void Parse() {
    if (!parser_.has_value()) BeginRequest();
    while (true) {
      error_code error;
      buffer_.consume(parser_->put(buffer_.data(), error));
      if (error == http::error::need_more) {
        // The parser has no limit for the line before a chunk, so it is limited here.
        if (buffer_.size() > kMaxHeadBytes)
          error = http::error::header_limit;
        else
          return Read();
      }
      if (error) return RefuseMalformed(error);
      if (!head_is_here_ && parser_->is_header_done()) {
        head_is_here_ = true;
        parser_->eager(true);
        if (!OnHead()) return;
      }
      if (parser_->is_done()) return OnRequest();
      if (!refused_ && !Reserve(parser_->get().body().size())) return AnswerAndClose();
      if (buffer_.size() == 0) return Read();
    }
  }

  void BeginRequest() {
    has_asked_ = true;
    state_ = State::kReading;
    deadline_ = After(context_.request_timeout);
    parser_.emplace();
    parser_->header_limit(kMaxHeadBytes);
    parser_->body_limit(kMaxBodyBytes);
    head_is_here_ = false;
    refused_ = false;
    route_ = HttpRoute();
    origin_headers_.clear();
    head_only_ = false;
    keep_alive_ = false;
    http_1_1_ = true;
    // One set of keys is used for the whole request.
    signatures_ = context_.secrets.signatures();
    caller_ = daemon::Caller();
  }

  // False: Parse() must not go on, because the request was answered, or reading continues after 100 Continue.
  bool OnHead() {
    const auto& message = parser_->get();
    http_1_1_ = message.version() >= 11;
    keep_alive_ = message.keep_alive();
    head_.method = message.method_string();
    head_.target = message.target();
    head_.headers.clear();
    for (const auto& field : message) head_.headers.push_back({field.name_string(), field.value()});
    head_only_ = head_.method == "HEAD";
    if (http_1_1_ && !head_.Find("Host").has_value()) {
      RefuseAndClose(400, "SerializationException", "the header Host is missing");
      return false;
    }
    // With another Transfer-Encoding the end of the body cannot be known (RFC 9112, 6.3).
    if (head_.Find("Transfer-Encoding").has_value() && !parser_->chunked()) {
      RefuseAndClose(400, "SerializationException", "the header Transfer-Encoding must be chunked");
      return false;
    }
    route_ = Route(head_, context_.handler, signatures_ != nullptr);
    // A page whose origin is refused (403) gets no CORS headers: it must not be able to read even the error.
    if (route_.answer.reply.http_status != 403) origin_headers_ = OriginHeaders(head_);
    if (route_.operation.has_value()) {
      std::optional<AuthError> refusal = ReadSignature(head_, signature_);
      if (!refusal.has_value() && signatures_ != nullptr) {
        refusal = signatures_->CheckHead(head_, signature_, absl::Now());
      }
      if (refusal.has_value()) Refuse(*refusal);
    }
    size_t body_bytes = parser_->content_length().value_or(0);
    // Reserves memory for the first piece only, the rest as it arrives: a peer can claim any Content-Length.
    refused_ = !route_.operation.has_value() || !Reserve(std::min(body_bytes, kReadBodyBytes));
    if (refused_ && (body_bytes > kDiscardedBodyBytes || parser_->chunked())) {
      AnswerAndClose();
      return false;
    }
    parser_->get().body().reserve(body_bytes + kJsonPadding);
    bool waits = !parser_->is_done() && buffer_.size() == 0 &&
                 boost::beast::iequals(message[http::field::expect], "100-continue");
    if (!waits) return true;
    net::async_write(stream_, net::buffer(kContinue), [self = Self()](error_code error, size_t) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->Read();
    });
    return false;
  }

  // Reserves memory for a body of `body_bytes`. False: there is none left; the answer is set to that error.
  bool Reserve(size_t body_bytes) {
    size_t wanted = kCopiesOfBody * body_bytes;
    if (wanted <= reserved_bytes_) return true;
    // Also reserves memory for the next piece.
    if (!parser_->is_done()) {
      const size_t end = parser_->content_length().value_or(body_bytes + kReadBodyBytes);
      wanted += std::min(end - std::min(end, body_bytes), kReadBodyBytes);
    }
    if (context_.serving.memory->TryReserve(wanted - reserved_bytes_)) {
      reserved_bytes_ = wanted;
      return true;
    }
    route_.answer.reply = ErrorReply(daemon::CallsFullError(*context_.serving.memory));
    return false;
  }

  // ---- answering ----

  void OnRequest() {
    if (refused_) return Send();
    arrived_ = HttpClock::now();
    if (!Reserve(parser_->get().body().size())) return Send();
    std::string body = std::move(parser_->get().body());
    request_bytes_ = body.size();
    if (signatures_ != nullptr) {
      std::optional<AuthError> refusal =
          signatures_->Check(head_, signature_, body, *route_.operation, &caller_);
      if (refusal.has_value()) {
        Refuse(*refusal);
        return Send();
      }
    }
    if (route_.gzip) {
      absl::StatusOr<std::string> inflated = Gunzip(body, kMaxBodyBytes, kJsonPadding);
      if (!inflated.ok()) return RefuseGzip(inflated.status());
      body = *std::move(inflated);
      if (!Reserve(body.size())) return Send();
    }
    if (!context_.serving.gate.TryEnter()) {
      route_.answer.reply = ErrorReply(daemon::StoppingError());
      return AnswerAndClose();
    }
    entered_ = true;
    state_ = State::kAnswering;
    deadline_ = HttpClock::time_point::max();
    body.reserve(body.size() + kJsonPadding);
    cancellation_ = std::make_shared<storage::Cancellation>();
    context_.handler.Answer(*route_.operation, std::move(body), std::move(caller_), cancellation_,
                            [self = Self()](JsonReply reply) mutable {
                              net::io_context& io = self->worker_.io;
                              if (io.get_executor().running_in_this_thread())
                                return self->OnAnswer(std::move(reply));
                              net::post(io, [self = std::move(self), reply = std::move(reply)]() mutable {
                                self->OnAnswer(std::move(reply));
                              });
                            });
    if (state_ == State::kAnswering) WatchPeer();
  }

  // Cancels the call when the peer leaves. One wait is enough: bytes that have arrived before do not end it.
  void WatchPeer() {
    if (watching_) return;
    watching_ = true;
    socket().async_wait(net::socket_base::wait_read, [self = Self()](error_code error) {
      self->watching_ = false;
      if (error || self->state_ != State::kAnswering) return;
      if (!PeerHasEnded(self->socket().native_handle())) return;
      if (!self->CancelIfGone()) self->AskPeer();
    });
  }

  bool CancelIfGone() {
    if (!PeerIsGone(socket().native_handle())) return false;
    keep_alive_ = false;
    cancellation_->Cancel();
    return true;
  }

  // A peer that has ended its sending side may still wait for its answer. Sends 100 Continue to find out: a
  // peer that is gone answers with a reset, a peer that waits ignores it. HTTP/1.0 has no interim replies.
  void AskPeer() {
    if (!http_1_1_ || asking_) return;
    socket().async_wait(net::socket_base::wait_error, [self = Self()](error_code error) {
      if (!error && self->state_ == State::kAnswering) self->CancelIfGone();
    });
    asking_ = true;
    net::async_write(stream_, net::buffer(kContinue), [self = Self()](error_code, size_t) {
      self->asking_ = false;
      if (self->state_ == State::kWriting) self->Send();
    });
  }

  void OnAnswer(JsonReply reply) {
    auto duration = HttpClock::now() - arrived_;
    if (context_.serving.slow_log.IsSlow(duration)) {
      context_.serving.slow_log.Log({.method = absl::StrFormat("http/%s", route_.operation->name),
                                     .log_fields = reply.log_fields,
                                     .duration = duration,
                                     .request_bytes = request_bytes_,
                                     .reply_bytes = reply.body.size(),
                                     .items = reply.items,
                                     .code = reply.code});
    }
    cancellation_.reset();
    route_.answer.reply = std::move(reply);
    context_.serving.memory->Add(route_.answer.reply.body.size());
    reserved_bytes_ += route_.answer.reply.body.size();
    Send();
  }

  // Sets the answer of a request that is refused.
  void Refuse(const AuthError& refusal) {
    route_.operation.reset();
    route_.answer.reply = ErrorReply(400, refusal.exception, refusal.message);
  }

  void RefuseMalformed(error_code error) {
    if (error == http::error::body_limit) {
      return RefuseAndClose(413, "RequestEntityTooLargeException",
                            absl::StrFormat("the body is longer than %d bytes", kMaxBodyBytes));
    }
    if (error == http::error::header_limit) {
      return RefuseAndClose(431, "SerializationException",
                            absl::StrFormat("the headers are longer than %d bytes", kMaxHeadBytes));
    }
    RefuseAndClose(400, "SerializationException",
                   absl::StrFormat("the bytes sent are not a request of HTTP/1.1: %s", error.message()));
  }

  // The handshake has consumed the request, so it is not parsed. The answer is sent without TLS.
  void RefusePlainHttp() {
    state_ = State::kWriting;
    route_.answer.reply =
        ErrorReply(400, "SerializationException", "only HTTP over TLS is served here: begin with https://");
    reply_head_ = EncodeReplyHead(
        {.answer = route_.answer, .origin_headers = origin_headers_, .keep_alive = false, .http_1_1 = true});
    std::array<net::const_buffer, 2> buffers = {net::buffer(reply_head_),
                                                net::buffer(route_.answer.reply.body)};
    net::async_write(plain(), buffers, [self = Self()](error_code error, size_t) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->state_ = State::kLingering;
      self->deadline_ = After(kLingering);
      self->EndSending();
    });
  }

  void RefuseTimeout() {
    RefuseAndClose(408, "RequestTimeoutException", "the request did not arrive whole in time");
  }

  void RefuseGzip(const absl::Status& status) {
    bool too_long = absl::IsResourceExhausted(status);
    route_.answer.reply = ErrorReply(too_long ? 413 : 400,
                                     too_long ? "RequestEntityTooLargeException" : "SerializationException",
                                     storage::MessageOf(status));
    Send();
  }

  void RefuseAndClose(unsigned http_status, std::string_view exception, std::string_view message) {
    route_.answer = HttpAnswer();
    route_.answer.reply = ErrorReply(http_status, exception, message);
    AnswerAndClose();
  }

  void AnswerAndClose() {
    keep_alive_ = false;
    Send();
  }

  // ---- writing ----

  void Send() {
    state_ = State::kWriting;
    deadline_ = After(cut_ ? std::min<HttpClock::duration>(kLastAnswer, context_.request_timeout)
                           : context_.request_timeout);
    if (cut_ || context_.stopping.load(std::memory_order_relaxed)) keep_alive_ = false;
    // Only one write may be pending: AskPeer() calls Send() again when its own write is done.
    if (asking_) return;
    reply_head_ = EncodeReplyHead({.answer = route_.answer,
                                   .origin_headers = origin_headers_,
                                   .keep_alive = keep_alive_,
                                   .http_1_1 = http_1_1_});
    std::array<net::const_buffer, 2> buffers = {net::buffer(reply_head_),
                                                net::buffer(route_.answer.reply.body)};
    if (head_only_) buffers[1] = net::const_buffer();
    net::async_write(stream_, buffers, [self = Self()](error_code error, size_t) { self->OnWritten(error); });
  }

  void OnWritten(error_code error) {
    if (state_ == State::kClosed) return;
    FinishCall();
    if (error) return Close();
    if (!keep_alive_) return Linger();
    parser_.reset();
    head_is_here_ = false;
    ReadOrParse();
  }

  // Releases the memory of the request and of its answer, and leaves the gate.
  void FinishCall() {
    route_.answer = HttpAnswer();
    context_.serving.memory->Release(std::exchange(reserved_bytes_, 0));
    if (std::exchange(entered_, false)) context_.serving.gate.Leave();
  }

  void Linger() {
    parser_.reset();
    state_ = State::kLingering;
    deadline_ = After(kLingering);
    if constexpr (kTls) {
      // Sends close_notify and waits for the peer's; a peer may never send it, which deadline_ bounds.
      stream_.async_shutdown([self = Self()](error_code) {
        if (self->state_ != State::kClosed) self->EndSending();
      });
    } else {
      EndSending();
    }
  }

  void EndSending() {
    error_code error;
    socket().shutdown(net::socket_base::shutdown_send, error);
    if (error) return Close();
    Discard();
  }

  void Discard() {
    buffer_.clear();
    plain().async_read_some(buffer_.prepare(kReadBodyBytes), [self = Self()](error_code error, size_t) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->Discard();
    });
  }

  // Not called in the state kAnswering: the call must stay inside the gate until the database has answered.
  void Close() {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    deadline_ = HttpClock::time_point::max();
    error_code ignored;
    socket().close(ignored);
    FinishCall();
  }

  HttpWorker& worker_;
  HttpContext& context_;
  Stream stream_;
  State state_ = State::kIdle;
  HttpClock::time_point deadline_ = HttpClock::time_point::max();
  boost::beast::flat_buffer buffer_;

  // ---- the request that is being read or answered ----
  std::optional<Parser> parser_;
  bool head_is_here_ = false;
  // Its views point into the parser.
  HttpHead head_;
  HttpRoute route_;
  Signature signature_;
  // Null without keys.
  std::shared_ptr<const SignatureCheck> signatures_;
  daemon::Caller caller_;
  std::string origin_headers_;
  // The request was refused because of its head; its body is read and discarded.
  bool refused_ = false;
  bool head_only_ = false;
  bool http_1_1_ = true;
  bool keep_alive_ = false;
  bool timed_out_ = false;
  HttpClock::time_point arrived_;
  size_t request_bytes_ = 0;
  // Bytes that this request has reserved in CallMemory.
  size_t reserved_bytes_ = 0;
  // The request is inside the gate.
  bool entered_ = false;
  std::shared_ptr<storage::Cancellation> cancellation_;
  std::string reply_head_;

  bool watching_ = false;
  // The first byte of a first request has arrived.
  bool has_asked_ = false;
  // The 100 Continue of AskPeer() is being written.
  bool asking_ = false;
  bool idle_for_long_ = false;
  // Abort() was called: the daemon stops and its grace period is over.
  bool cut_ = false;
};

}  // namespace

void ServeHttp(HttpWorker& worker, net::ip::tcp::socket socket) {
  if (const std::shared_ptr<net::ssl::context> tls = worker.context.secrets.tls()) {
    return std::make_shared<Connection<TlsStream>>(worker, TlsStream(std::move(socket), *tls))->Start();
  }
  std::make_shared<Connection<PlainStream>>(worker, std::move(socket))->Start();
}

}  // namespace itemdb::http
