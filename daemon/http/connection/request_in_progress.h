// One request of a connection, from its first byte until its reply is written. It parses the bytes, decides
// whether the request is admitted, and keeps the reply. It holds the request's memory in CallMemory and its
// place in the gate until it is destroyed. The connection owns it and does all reading and writing.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/connection/http_connection.h"

namespace itemdb::http {

// A body is read, and its memory reserved, in pieces of this size.
inline constexpr size_t kBodyPieceBytes = 64 << 10;

class RequestInProgress {
 public:
  // What the connection does next.
  enum class Next {
    kRead,          // reads more bytes, then calls Parse()
    kSendContinue,  // sends 100 Continue, then as kRead
    kAdmit,         // the request has arrived and is large: calls Admit() on another thread
    kCall,          // the request has arrived and is inside the gate: calls Call()
    kSendReply      // sends the reply: the request is refused, or needs no operation
  };

  // `peer` is the connection's.
  RequestInProgress(HttpContext& context, HttpPeer& peer);
  // Releases the memory and leaves the gate. Not called between Call() and its `done`.
  ~RequestInProgress();

  RequestInProgress(const RequestInProgress&) = delete;
  RequestInProgress& operator=(const RequestInProgress&) = delete;

  // Consumes the bytes of this request in `buffer`; bytes of later requests stay there.
  Next Parse(boost::beast::flat_buffer& buffer);
  // After Next::kAdmit: the checks that Parse() makes of smaller requests. Takes long, and may run on any
  // thread; meanwhile the connection calls no other function.
  Next Admit();
  // Whether reading the body takes so long that it is done on another thread than the network's.
  bool is_large() const { return is_large_; }
  // Makes an error the reply; the connection closes after it.
  Next RefuseAndClose(unsigned http_status, std::string_view exception, std::string_view message);

  // After Next::kCall: calls the operation. `done` is called exactly once, on any thread, perhaps before this
  // function returns. The connection passes its reply to SetReply().
  void Call(absl::AnyInvocable<void(JsonReply) &&> done);
  // After Call(): cancels the operation. The connection closes after the reply.
  void Cancel();
  // Counts the request, and logs it if it was slow.
  void SetReply(JsonReply reply);

  // The bytes of the reply, which this object owns.
  std::array<boost::asio::const_buffer, 2> EncodeReply();
  void CloseAfterReply() { keep_alive_ = false; }
  bool keep_alive() const { return keep_alive_; }

  // Whether a body arrives that is kept.
  bool reads_body() const { return has_head() && bytes_to_discard_ == 0; }
  bool has_head() const { return parser_.is_header_done(); }
  const HttpHead& head() const { return head_; }

 private:
  bool AcceptHead();
  bool AwaitsContinue() const;
  Next DiscardBody(boost::beast::flat_buffer& buffer);
  bool Reserve(size_t body_bytes);
  // Counts what is reserved for the caller, who is known now. False: the caller's share is used up.
  bool CountForCaller();
  // Counts the answer of a known operation. Returns how long it took.
  HttpClock::duration CountAnswer(const JsonReply& reply);
  Next Refuse(JsonReply reply);
  Next RefuseMalformed(boost::system::error_code error);
  // Refuses a request whose key or signature is missing or wrong, or whose key may not do this.
  Next RefuseUnauthorized(const AuthError& refusal);
  void AuditPage();
  std::string LoggedOperation() const;
  void AuditRefusal(std::string_view exception, std::string_view operation);
  daemon::AuditedCall NewAuditedCall() const;
  // The trace that the caller says its request is a part of; nullopt: none.
  std::optional<daemon::TraceContext> TraceContext() const;
  void FinishTrace(const JsonReply& reply);

  HttpContext& context_;
  HttpPeer& peer_;
  // That of the peer; of the caller once the caller is known.
  std::shared_ptr<daemon::CallMemory> memory_;
  // Whether the request is counted among the calls of `memory_`.
  bool counted_ = false;
  boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
  // Its views point into the parser.
  HttpHead head_;
  // Without an operation, its answer is sent when the body has arrived.
  HttpRoute route_;
  std::string origin_headers_;
  bool keep_alive_ = false;
  // One set of keys is used for the whole request. Null without keys.
  const std::shared_ptr<const SignatureCheck> signatures_;
  Signature signature_;
  daemon::Caller caller_;
  // When the last byte arrived.
  // When the whole request was there; until then, when it was begun.
  HttpClock::time_point arrived_ = HttpClock::now();
  // Bytes of the body of a refused request that have not arrived. They are not kept.
  size_t bytes_to_discard_ = 0;
  // The bytes of the body as sent.
  size_t request_bytes_ = 0;
  bool is_large_ = false;
  // Bytes that this request has reserved by CallMemory::TryReserveSmall().
  size_t reserved_small_bytes_ = 0;
  // Bytes that this request has reserved in CallMemory otherwise.
  size_t reserved_bytes_ = 0;
  // Not null: the request is inside the gate.
  std::shared_ptr<storage::Cancellation> cancellation_;
  // Null: the request is not traced.
  std::shared_ptr<daemon::TracedCall> traced_;
  std::string reply_head_;
};

}  // namespace itemdb::http
