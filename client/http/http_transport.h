// Calls in DynamoDB's JSON protocol over HTTP, and its errors as statuses of this library.
//
// A call is an exchange (json_exchange.h) of one request or several, each signed when it is sent. One thread
// sends all requests, receives their replies and runs the callbacks.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/http/curl_loop.h"
#include "client/http/http_endpoint.h"
#include "client/http/json_exchange.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/options.h"

namespace itemdb {

class HttpTransport : public Transport {
 public:
  // `options.endpoint` is a URL. INVALID_ARGUMENT: it is malformed, or an option does not fit it.
  static absl::StatusOr<std::unique_ptr<Transport>> Make(const ClientOptions& options, Timer& timer);

  // Methods that the protocol does not have end with UNIMPLEMENTED.
  Cancel Send(OutgoingCall call, Done done) override;
  // QueryStream and ScanStream read page after page; BulkWrite sends batches. The streams of other methods
  // end with UNIMPLEMENTED.
  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead,
                                            const std::string& traceparent) override;
  const std::string& endpoint() const override { return name_; }

 private:
  struct Pending;

  HttpTransport(const ClientOptions& options, HttpEndpoint endpoint, const CurlOptions& curl, Timer& timer);

  // Posts a request of the call, after its delay.
  void Post(const std::shared_ptr<Pending>& pending, JsonRequest request);
  void PostNow(const std::shared_ptr<Pending>& pending);
  void Replied(const std::shared_ptr<Pending>& pending, CurlReply reply);
  void Continue(const std::shared_ptr<Pending>& pending, absl::StatusOr<JsonStep> step);
  // The status of a request that got no reply, or one that is damaged.
  absl::Status StatusOfLoss(const CurlReply& reply, CallKind kind) const;
  std::vector<std::string> HeadersFor(const JsonRequest& request, const std::string& traceparent) const;

  const std::string name_;
  const HttpEndpoint endpoint_;
  const common::NamesAndValues metadata_;
  Timer& timer_;
  const std::shared_ptr<CurlLoop> loop_;
};

}  // namespace itemdb
