#include "bench/echo_server.h"

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "bench/order_data.h"
#include "daemon/process/address_file.h"
#include "itemdb/v1/data.grpc.pb.h"

namespace itemdb::bench {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

ByteBuffer Bytes(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.SerializeAsString());
  return ByteBuffer(&slice, 1);
}

v1::PutItemReply PutReply() {
  v1::PutItemReply reply;
  reply.set_change_sequence(100'000);
  reply.mutable_result();
  return reply;
}

v1::GetItemReply GetReply() {
  v1::GetItemReply reply;
  reply.set_change_sequence(100'000);
  reply.mutable_item()->ParseFromString(OrderItem(1));
  return reply;
}

class EchoService final : public v1::Data::WithRawCallbackMethod_PutItem<
                              v1::Data::WithRawCallbackMethod_GetItem<v1::Data::Service>> {
 public:
  ServerUnaryReactor* PutItem(CallbackServerContext* context, const ByteBuffer*, ByteBuffer* reply) override {
    return Answer(context, put_reply_, reply);
  }
  ServerUnaryReactor* GetItem(CallbackServerContext* context, const ByteBuffer*, ByteBuffer* reply) override {
    return Answer(context, get_reply_, reply);
  }

 private:
  static ServerUnaryReactor* Answer(CallbackServerContext* context, const ByteBuffer& answer,
                                    ByteBuffer* reply) {
    *reply = answer;
    ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  const ByteBuffer put_reply_ = Bytes(PutReply());
  const ByteBuffer get_reply_ = Bytes(GetReply());
};

}  // namespace

absl::Status RunEchoServer(const std::string& address, const std::string& address_file) {
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return absl::UnavailableError("cannot listen on " + address);

  std::string bound = address.starts_with("unix:")
                          ? address
                          : address.substr(0, address.rfind(':') + 1) + std::to_string(port);
  daemon::AddressFile file(address_file, 0600);
  ITEMDB_RETURN_IF_ERROR(file.Write({bound}, {}));
  server->Wait();
  return absl::OkStatus();
}

}  // namespace itemdb::bench
