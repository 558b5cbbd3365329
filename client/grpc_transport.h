// Calls over one gRPC channel to one daemon, and what a gRPC status means to our callers.
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
inline namespace client {

// Longest request or reply, in bytes: the daemon's own bound.
inline constexpr int kMaxMessageBytes = 17 << 20;

// A call goes out on a connected channel only, so that UNAVAILABLE comes to mean "provably not applied": once
// a call was handed to a connected channel, its loss counts as a loss after sending.
class GrpcTransport : public Transport {
 public:
  // Does not connect yet. `timer` outlives the transport. INVALID_ARGUMENT: `options.endpoint` is neither
  // "HOST:PORT" nor "unix:/PATH"; a TLS file is of no use (tls.h); a metadata key or value is not allowed; of
  // an access key as told in access_key.h.
  static absl::StatusOr<std::unique_ptr<Transport>> Make(const ClientOptions& options, Timer& timer);

  // INVALID_ARGUMENT: the request is longer than kMaxMessageBytes.
  Cancel Start(OutgoingCall call, Done done) override;
  std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead) override;
  const std::string& endpoint() const override { return endpoint_; }

 private:
  struct Pending;
  class Stream;

  // `metadata` is sent with every call, the access key included.
  GrpcTransport(const ClientOptions& options, std::multimap<std::string, std::string> metadata,
                std::shared_ptr<grpc::Channel> channel, Timer& timer);

  // Sends the call when the channel is connected, or has failed to connect and will say why; looks again
  // after `pause` while it is connecting.
  void SendWhenConnected(std::shared_ptr<Pending> pending, absl::Duration pause);
  void Send(std::shared_ptr<Pending> pending);
  // The outcome of a call that was sent.
  absl::Status ToStatus(const grpc::Status& status, CallKind kind, bool cancelled,
                        size_t request_bytes) const;

  const std::string endpoint_;
  const std::optional<TlsOptions> tls_;
  const std::multimap<std::string, std::string> metadata_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
  Timer& timer_;
};

}  // namespace client
}  // namespace itemdb
