// Calls with bytes of the test's choice, as any gRPC library in any language could send them.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

namespace itemdb::e2e {

struct RawReply {
  grpc::Status status;
  std::string bytes;
  // ErrorDetail.reason; empty when the status carries none.
  std::string reason;
};

// Thread-safe.
class RawClient {
 public:
  // "HOST:PORT" or "unix:/PATH". Takes replies of any length.
  explicit RawClient(const std::string& endpoint);

  // `method` is a full name, for example "itemdb.v1.Data/PutItem".
  RawReply Call(const std::string& method, const std::string& request_bytes) const;

  // A bidirectional stream that sends one message, waits for the answer to it and hangs up.
  RawReply Exchange(const std::string& method, const std::string& request_bytes) const;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace itemdb::e2e
