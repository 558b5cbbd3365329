#include "tests/processes/recording_proxy.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include <utility>

#include "storage/base/check.h"

namespace itemdb::e2e {
namespace {

// One unary call: reads the request, calls itemd, sends the same reply. Deletes itself at the end.
class Forward : public grpc::ServerGenericBidiReactor {
 public:
  Forward(const std::shared_ptr<grpc::Channel>& channel, std::string method)
      : stub_(channel), method_(std::move(method)) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status(grpc::StatusCode::CANCELLED, "the request did not arrive"));
    stub_.UnaryCall(&context_, method_, grpc::StubOptions(), &request_, &reply_, [this](grpc::Status status) {
      if (status.ok()) {
        StartWriteAndFinish(&reply_, grpc::WriteOptions(), status);
      } else {
        Finish(status);
      }
    });
  }

  void OnDone() override { delete this; }

 private:
  grpc::GenericStub stub_;
  const std::string method_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
};

}  // namespace

class RecordingProxy::Service : public grpc::CallbackGenericService {
 public:
  explicit Service(RecordingProxy* proxy) : proxy_(*proxy) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    proxy_.Record(context->method());
    return new Forward(proxy_.daemon_.channel(), context->method());
  }

 private:
  RecordingProxy& proxy_;
};

RecordingProxy::RecordingProxy(const std::string& daemon_endpoint)
    : daemon_(daemon_endpoint), service_(std::make_unique<Service>(this)) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(service_.get());
  server_ = builder.BuildAndStart();
  ITEMDB_CHECK(server_ != nullptr);
  endpoint_ = "127.0.0.1:" + std::to_string(port);
}

RecordingProxy::~RecordingProxy() { server_->Shutdown(); }

void RecordingProxy::Record(const std::string& method) {
  std::lock_guard<std::mutex> lock(mutex_);
  // `method` is "/itemdb.v1.Data/GetItem", for example.
  calls_.push_back(method.substr(method.rfind('.') + 1));
}

std::vector<std::string> RecordingProxy::TakeCalls() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(calls_, {});
}

}  // namespace itemdb::e2e
