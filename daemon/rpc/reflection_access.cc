#include "daemon/rpc/reflection_access.h"

#include <google/protobuf/message.h>

#include <iterator>
#include <optional>

#include "daemon/rpc/grpc_status.h"
#include "daemon/rpc/raw_call.h"

namespace itemdb::daemon {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;

constexpr std::string_view kService = "/grpc.reflection.";

// A reply with `status` as error_response. Built by protobuf reflection: gRPC has no header for its type.
std::unique_ptr<google::protobuf::Message> ErrorReply(const google::protobuf::Message& reply,
                                                      const grpc::Status& status) {
  std::unique_ptr<google::protobuf::Message> made(reply.New());
  const auto* in_reply = made->GetDescriptor()->FindFieldByName("error_response");
  if (in_reply == nullptr) return made;
  google::protobuf::Message* error = made->GetReflection()->MutableMessage(made.get(), in_reply);
  if (const auto* code = error->GetDescriptor()->FindFieldByName("error_code"))
    error->GetReflection()->SetInt32(error, code, status.error_code());
  if (const auto* message = error->GetDescriptor()->FindFieldByName("error_message"))
    error->GetReflection()->SetString(error, message, status.error_message());
  return made;
}

class ReflectionAccess final : public grpc::experimental::Interceptor {
 public:
  ReflectionAccess(ServingContext& serving, const grpc::ServerContextBase& context, std::string_view method)
      : serving_(serving), context_(context), method_(method) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA))
      refusal_ = Check(*methods->GetRecvInitialMetadata());
    if (!refusal_.ok()) Refuse(methods);
    methods->Proceed();
  }

 private:
  grpc::Status Check(const std::multimap<grpc::string_ref, grpc::string_ref>& metadata) {
    const auto [first, end] = metadata.equal_range("authorization");
    std::optional<std::string_view> authorization;
    if (first != end) {
      authorization = std::next(first) == end ? std::string_view(first->second.data(), first->second.size())
                                              : std::string_view();
    }
    grpc::Status status = ToGrpcStatus(serving_.authorizer.Check(method_, authorization).status());
    if (!status.ok()) {
      AuditRefusal(
          serving_.audit,
          {.key_id = ClaimedKeyId(authorization), .peer = context_.peer(), .operation = std::string(method_)},
          status);
    }
    return status;
  }

  void Refuse(InterceptorBatchMethods* methods) {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      const auto* reply = static_cast<const google::protobuf::Message*>(methods->GetSendMessage());
      reply_ = ErrorReply(*reply, refusal_);
      methods->ModifySendMessage(reply_.get());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS))
      methods->ModifySendStatus(refusal_);
  }

  ServingContext& serving_;
  const grpc::ServerContextBase& context_;
  const std::string_view method_;
  grpc::Status refusal_;
  // The reply being sent; it must live until gRPC has serialized it.
  std::unique_ptr<google::protobuf::Message> reply_;
};

class Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  explicit Factory(ServingContext& serving) : serving_(serving) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo* info) override {
    std::string_view method = info->method();
    if (!method.starts_with(kService)) return nullptr;
    method.remove_prefix(1);
    return new ReflectionAccess(serving_, *info->server_context(), method);
  }

 private:
  ServingContext& serving_;
};

}  // namespace

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeReflectionAccess(
    ServingContext& serving) {
  return std::make_unique<Factory>(serving);
}

}  // namespace itemdb::daemon
