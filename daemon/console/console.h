// The console: one page at `/` of the metrics address, and what it calls under /api. The page is made of the
// files that the build has bundled from web/; everything it shows and does goes through /api:
//
//   POST /api/sign-in        Authorization: Basic base64(ID:SECRET); sets the cookie, answers the page's
//   token POST /api/session        what the session may do POST /api/editing/on     lets the session write,
//   as far as its key may; /api/editing/off POST /api/sign-out POST /api                X-Amz-Target names an
//   operation of DynamoDB's JSON protocol, or a method of
//                            console_calls.h; the body is its request
//
// A request must have the header X-Itemdb-Session, with the page's token once there is one. A page of another
// origin cannot send it, because these paths answer no preflight; `Origin` must also be the origin of `Host`.
// Each call is authorised as at the other addresses, with the key of the session.
//
// Without access keys nobody signs in: everybody who reaches the address, which is on loopback then, may read
// and nobody may write.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "daemon/console/console_calls.h"
#include "daemon/console/sessions.h"
#include "daemon/http/api/http_handler.h"
#include "daemon/http/message/http_request.h"
#include "daemon/serving/serving_context.h"

namespace itemdb::daemon {

struct ConsoleOptions {
  // The address speaks TLS: the cookie is sent over TLS only.
  bool tls = false;
  std::string version;
  // Without access keys: other programs of this machine reach the data over TCP too, so the page shows it. If
  // only unix sockets are open, their permissions say who may.
  bool data_is_open = true;
  SessionOptions sessions = {};
};

// Thread-safe.
class Console {
 public:
  // `serving` is of the connections of this address. Borrowed.
  Console(ServingContext& serving, ConsoleOptions options);
  ~Console();

  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Called also when the keys change.
  void SetKeys(std::shared_ptr<const AccessKeys> keys) { sessions_.SetKeys(std::move(keys)); }
  // What `target` names is borrowed until Detach(), before which all calls must have been answered.
  void Attach(ConsoleTarget target);
  void Detach();

  // nullopt: the path is not of the console.
  std::optional<http::HttpPage> Page(const http::HttpHead& head) const;
  // Runs an operation of Page().
  void Answer(const http::HttpOperation& operation, std::string body, Caller caller,
              storage::CancellationPtr cancellation, absl::AnyInvocable<void(http::JsonReply) &&> done);

  Sessions& sessions() const { return sessions_; }

 private:
  struct Attached;

  http::HttpPage Api(const http::HttpHead& head) const;
  http::HttpPage SignIn(const http::HttpHead& head) const;
  http::HttpPage Call(const http::HttpHead& head, const FoundSession& session) const;
  http::HttpAnswer SessionAnswer(const FoundSession* session_or_null, std::string_view page_token) const;
  std::shared_ptr<Attached> attached() const;

  ServingContext& serving_;
  const ConsoleOptions options_;
  mutable Sessions sessions_;
  mutable storage::Mutex mutex_;
  // Null while the database is not served.
  std::shared_ptr<Attached> attached_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::daemon
