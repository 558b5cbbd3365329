// gRPC calls whose request bytes the test chooses; any gRPC library could send the same bytes.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

namespace itemdb::e2e {

struct RawReply {
  grpc::Status status;
  std::string bytes;
  // The reason among the details of the status; empty if there is none.
  std::string reason;
};

// Thread-safe.
class RawClient {
 public:
  // `endpoint` is "HOST:PORT" or "unix:/PATH". Accepts replies of any length.
  explicit RawClient(const std::string& endpoint);

  // `method` is a full name, for example "itemdb.v1.Data/PutItem".
  RawReply Call(const std::string& method, const std::string& request_bytes) const;

  // A bidirectional stream: sends one message, waits for the first reply and cancels.
  RawReply Exchange(const std::string& method, const std::string& request_bytes) const;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace itemdb::e2e
