// Calls over one gRPC channel to one daemon, and their gRPC statuses as statuses of this library.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/timer.h"
#include "client/transport.h"
#include "itemdb/options.h"

namespace itemdb {

// Longest request or reply, in bytes: the daemon's own bound.
inline constexpr int kMaxMessageBytes = 17 << 20;

// The time limit of one attempt to connect; a refused connection fails at once. On a busy machine accepting
// and the first HTTP/2 frames take more than 100 ms, and an attempt cut short looks like an unreachable
// daemon.
inline constexpr absl::Duration kConnectTimeout = absl::Seconds(10);
// Where another daemon can be tried instead.
inline constexpr absl::Duration kFailoverConnectTimeout = absl::Seconds(2);

// Sends a call only on a connected channel. So UNAVAILABLE means "certainly not applied", and the loss of a
// call that was given to a connected channel counts as a loss after sending.
class GrpcTransport : public Transport {
 public:
  // Does not connect. `timer` outlives the transport. INVALID_ARGUMENT: `options.endpoint` is neither
  // "HOST:PORT" nor "unix:/PATH"; a keepalive option is out of its bounds; a TLS file cannot be used (tls.h);
  // a metadata key or value is not allowed; an access key cannot be sent (access_key.h).
  // `connect_timeout` is the time limit of one attempt to connect.
  static absl::StatusOr<std::unique_ptr<Transport>> Make(const ClientOptions& options, Timer& timer,
                                                         absl::Duration connect_timeout = kConnectTimeout);

  // INVALID_ARGUMENT: the request is longer than kMaxMessageBytes.
  Cancel Send(OutgoingCall call, Done done) override;
  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead,
                                            const std::string& traceparent) override;
  const std::string& endpoint() const override { return endpoint_; }

 private:
  struct Pending;
  class Stream;

  // `metadata` is sent with every call, the access key included.
  GrpcTransport(const ClientOptions& options, std::multimap<std::string, std::string> metadata,
                std::shared_ptr<grpc::Channel> channel, Timer& timer);

  // Sends the call if the channel is connected, or if it has failed to connect and gRPC will report why.
  // While the channel is connecting, polls again after `pause`.
  void SendWhenConnected(std::shared_ptr<Pending> pending, absl::Duration pause);
  void SendNow(std::shared_ptr<Pending> pending);
  // The status of a call that was sent.
  absl::Status ToStatus(const grpc::Status& status, CallKind kind, bool cancelled,
                        size_t request_bytes) const;

  const std::string endpoint_;
  const std::optional<TlsOptions> tls_;
  const std::multimap<std::string, std::string> metadata_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  Timer& timer_;
};

}  // namespace itemdb
