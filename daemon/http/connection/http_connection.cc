#include "daemon/http/connection/http_connection.h"

#include <poll.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "daemon/http/connection/request_in_progress.h"
#include "daemon/process/listen_address.h"

namespace itemdb::http {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using Next = RequestInProgress::Next;
using PlainStream = net::ip::tcp::socket;
using TlsStream = net::ssl::stream<PlainStream>;

// For a head; bodies are read in pieces of kBodyPieceBytes.
constexpr size_t kReadBytes = 4 << 10;
// A larger buffer is freed when the connection becomes idle.
constexpr size_t kIdleBufferBytes = 16 << 10;
// Of a reply, so much is given to the socket at once.
constexpr size_t kWriteBytes = 64 << 10;
// How long data from the peer is still read and discarded after the last answer. Closing a socket with unread
// data makes TCP send a reset, which could destroy the answer on its way.
constexpr std::chrono::seconds kLingering(2);
// The time for sending the last answer when the daemon stops.
constexpr std::chrono::milliseconds kLastAnswer(500);

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

HttpClock::time_point After(HttpClock::duration patience, HttpClock::time_point now = HttpClock::now()) {
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

// The steps of a request, from top to bottom: AwaitRequest, Read, OnRead, Parse, Admit (if it is large),
// Call, OnReply, SendReply, OnWritten, and again. RequestInProgress makes the decisions about the request in
// Parse().
template <typename Stream>
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(HttpWorker& worker, Stream stream)
      : worker_(worker), context_(worker.context), stream_(std::move(stream)) {
    peer_.name = daemon::PeerOf(socket().native_handle());
    peer_.memory = context_.serving.shares.Of("", daemon::AddressOfPeer(peer_.name));
    worker_.connections.insert(this);
  }
  ~Connection() override { worker_.connections.erase(this); }

  void Start() {
    if constexpr (kTls) {
      state_ = State::kHandshaking;
      deadline_ = After(context_.handshake_timeout);
      stream_.async_handshake(TlsStream::server, [self = Self()](error_code error) {
        if (self->state_ == State::kClosed) return;
        if (SpeaksPlainHttp(error)) return self->RefusePlainHttp();
        if (error) return self->Close();
        self->AwaitRequest();
      });
    } else {
      AwaitRequest();
    }
  }

  void Tick(HttpClock::time_point now) override {
    if (state_ == State::kWriting && now - taken_ > PatienceOfReply()) return Close();
    if (now < deadline_) return;
    // A request that has begun gets 408. With TLS an idle connection sends close_notify before it closes.
    if (state_ != State::kReading && !(kTls && state_ == State::kIdle)) return Close();
    state_ = State::kTimedOut;
    deadline_ = After(kLingering);
    error_code ignored;
    socket().cancel(ignored);
  }

  void Abort() override {
    if (state_ < State::kAnswering) return Close();
    aborted_ = true;
    if (state_ == State::kAdmitting) return;  // OnAdmitted() cancels it.
    if (state_ == State::kAnswering) return request_->Cancel();
    deadline_ = std::min(deadline_, After(kLastAnswer));
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

  // Abort() closes a connection in a state before kAnswering.
  enum class State {
    kHandshaking,
    kIdle,       // no byte of the next request has arrived
    kReading,    // a part of the request has arrived
    kTimedOut,   // Tick() has cancelled the pending read of one of the two states above
    kAnswering,  // the database works on the request
    kAdmitting,  // another thread checks a large request
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

  void AwaitRequest() {
    // Bytes of the next request have arrived with those of the request before it.
    if (buffer_.size() > 0) return Parse();
    state_ = State::kIdle;
    deadline_ = After(admitted_ ? context_.idle_timeout : UnadmittedTimeout());
    if (buffer_.capacity() > kIdleBufferBytes) buffer_.shrink_to_fit();
    Read();
  }

  HttpClock::duration UnadmittedTimeout() const {
    return std::min(context_.handshake_timeout, context_.idle_timeout);
  }

  void Read() {
    if (state_ == State::kTimedOut) return RefuseTimeout();
    const bool reads_body = request_.has_value() && request_->reads_body();
    stream_.async_read_some(buffer_.prepare(reads_body ? kBodyPieceBytes : kReadBytes),
                            [self = Self()](error_code error, size_t bytes) { self->OnRead(error, bytes); });
  }

  void OnRead(error_code error, size_t bytes) {
    if (state_ == State::kClosed) return;
    if (state_ == State::kTimedOut && request_.has_value()) return RefuseTimeout();
    if (error) return state_ == State::kTimedOut ? Linger() : Close();
    buffer_.commit(bytes);
    Parse();
  }

  void Parse() {
    if (!request_.has_value()) {
      state_ = State::kReading;
      const HttpClock::time_point now = HttpClock::now();
      request_deadline_ = After(context_.request_timeout, now);
      deadline_ = std::min(request_deadline_, After(context_.handshake_timeout, now));
      request_.emplace(context_, peer_);
    }
    switch (request_->Parse(buffer_)) {
      case Next::kRead:
        if (request_->reads_body()) deadline_ = request_deadline_;
        return Read();
      case Next::kSendContinue:
        return SendContinue();
      case Next::kAdmit:
        return Admit();
      case Next::kCall:
        return Call();
      case Next::kSendReply:
        return SendReply();
    }
  }

  void Admit() {
    state_ = State::kAdmitting;
    deadline_ = HttpClock::time_point::max();
    OffThisThread([self = Self()]() mutable {
      const Next next = self->request_->Admit();
      net::io_context& io = self->worker_.io;
      net::post(io, [self = std::move(self), next] { self->OnAdmitted(next); });
    });
  }

  // Runs `task` on another thread if there is one.
  template <typename Task>
  void OffThisThread(Task task) {
    if (!context_.large_bodies.has_value()) return task();
    net::post(*context_.large_bodies, std::move(task));
  }

  void OnAdmitted(Next next) {
    if (next != Next::kCall) return SendReply();
    Call();
    if (aborted_ && state_ == State::kAnswering) request_->Cancel();
  }

  void SendContinue() {
    deadline_ = request_deadline_;
    net::async_write(stream_, net::buffer(kContinue), [self = Self()](error_code error, size_t) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->Read();
    });
  }

  void RefuseTimeout() {
    request_->RefuseAndClose(408, "RequestTimeoutException", "the request did not arrive whole in time");
    SendReply();
  }

  // ---- answering ----

  void Call() {
    state_ = State::kAnswering;
    admitted_ = true;
    deadline_ = HttpClock::time_point::max();
    if (request_->is_large()) {
      OffThisThread([self = Self()]() mutable {
        self->CallHandler();
        // The last reference must be dropped by the network thread.
        net::io_context& io = self->worker_.io;
        net::post(io, [self = std::move(self)] {});
      });
    } else {
      CallHandler();
    }
    if (state_ == State::kAnswering) WatchPeer();
  }

  // On any thread.
  void CallHandler() {
    request_->Call([self = Self()](JsonReply reply) mutable {
      net::io_context& io = self->worker_.io;
      if (io.get_executor().running_in_this_thread()) return self->OnReply(std::move(reply));
      net::post(io, [self = std::move(self), reply = std::move(reply)]() mutable {
        self->OnReply(std::move(reply));
      });
    });
  }

  // Cancels the call when the peer leaves. One wait is enough: bytes that have arrived before do not end it.
  void WatchPeer() {
    if (watching_) return;
    watching_ = true;
    socket().async_wait(net::socket_base::wait_read, [self = Self()](error_code error) {
      self->watching_ = false;
      if (error || self->state_ != State::kAnswering) return;
      if (!PeerHasEnded(self->socket().native_handle())) return;
      if (!self->CancelIfGone()) self->ProbePeer();
    });
  }

  bool CancelIfGone() {
    if (!PeerIsGone(socket().native_handle())) return false;
    request_->Cancel();
    return true;
  }

  // A peer that has ended its sending side may still wait for its answer. Sends 100 Continue to find out: a
  // peer that is gone answers with a reset, a peer that waits ignores it. HTTP/1.0 has no interim replies.
  void ProbePeer() {
    if (!request_->head().http_1_1) return;
    socket().async_wait(net::socket_base::wait_error, [self = Self()](error_code error) {
      if (!error && self->state_ == State::kAnswering) self->CancelIfGone();
    });
    probing_ = true;
    net::async_write(stream_, net::buffer(kContinue), [self = Self()](error_code, size_t) {
      self->probing_ = false;
      if (self->state_ == State::kWriting) self->SendReply();
    });
  }

  void OnReply(JsonReply reply) {
    request_->SetReply(std::move(reply));
    SendReply();
  }

  // ---- writing ----

  void SendReply() {
    state_ = State::kWriting;
    taken_ = HttpClock::now();
    deadline_ = After(aborted_ ? std::min<HttpClock::duration>(kLastAnswer, context_.request_timeout)
                               : context_.request_timeout,
                      taken_);
    if (aborted_ || context_.stopping.load(std::memory_order_relaxed)) request_->CloseAfterReply();
    // Only one write may be pending: ProbePeer() calls SendReply() again when its own write is done.
    if (probing_) return;
    const auto take = [this](error_code error, size_t bytes) -> size_t {
      if (error) return 0;
      if (bytes > 0) taken_ = HttpClock::now();
      return kWriteBytes;
    };
    net::async_write(stream_, request_->EncodeReply(), take,
                     [self = Self()](error_code error, size_t) { self->OnWritten(error); });
  }

  HttpClock::duration PatienceOfReply() const {
    return peer_.memory->ReplyPatience(context_.request_timeout);
  }

  void OnWritten(error_code error) {
    if (state_ == State::kClosed) return;
    const bool keep_alive = request_->keep_alive();
    request_.reset();
    if (error) return Close();
    if (!keep_alive) return Linger();
    AwaitRequest();
  }

  // ---- closing ----

  // The handshake has consumed the request, so it is not parsed. The answer is sent without TLS.
  void RefusePlainHttp() {
    state_ = State::kWriting;
    taken_ = HttpClock::now();
    request_.emplace(context_, peer_);
    request_->RefuseAndClose(400, "SerializationException",
                             "only HTTP over TLS is served here: begin with https://");
    net::async_write(plain(), request_->EncodeReply(), [self = Self()](error_code error, size_t) {
      if (self->state_ == State::kClosed) return;
      if (error) return self->Close();
      self->state_ = State::kLingering;
      self->deadline_ = After(kLingering);
      self->EndSending();
    });
  }

  void Linger() {
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
    plain().async_read_some(buffer_.prepare(kBodyPieceBytes), [self = Self()](error_code error, size_t) {
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
    request_.reset();
  }

  HttpWorker& worker_;
  HttpContext& context_;
  Stream stream_;
  State state_ = State::kIdle;
  HttpClock::time_point deadline_ = HttpClock::time_point::max();
  // When the request in progress must have arrived.
  HttpClock::time_point request_deadline_ = HttpClock::time_point::max();
  // When the peer last took a part of its reply.
  HttpClock::time_point taken_;
  // Whether a request was admitted. Until then anybody may have opened the connection.
  bool admitted_ = false;
  boost::beast::flat_buffer buffer_;
  // The wait of WatchPeer() is pending; it may outlast its request.
  bool watching_ = false;
  // The 100 Continue of ProbePeer() is being written.
  bool probing_ = false;
  // Abort() was called: the daemon stops and its grace period is over.
  bool aborted_ = false;
  HttpPeer peer_;
  // From the first byte of a request until its reply is written.
  std::optional<RequestInProgress> request_;
};

}  // namespace

void ServeHttp(HttpWorker& worker, net::ip::tcp::socket socket) {
  if (const std::shared_ptr<net::ssl::context> tls = worker.context.secrets.tls()) {
    return std::make_shared<Connection<TlsStream>>(worker, TlsStream(std::move(socket), *tls))->Start();
  }
  std::make_shared<Connection<PlainStream>>(worker, std::move(socket))->Start();
}

}  // namespace itemdb::http
