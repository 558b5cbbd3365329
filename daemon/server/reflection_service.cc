// Reflection, under its present and its former name.
#include "daemon/server/services.h"
#include "daemon/streams/reflection_stream.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;

template <typename Base>
class ReflectionService final : public Base {
 public:
  ReflectionService(ServingContext& serving, std::string_view method,
                    const std::vector<std::string>& services)
      : serving_(serving), method_(method), services_(services) {}

  grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* ServerReflectionInfo(
      CallbackServerContext* context) override {
    return StartReflectionStream(services_, serving_, context, method_);
  }

 private:
  ServingContext& serving_;
  const std::string_view method_;
  const std::vector<std::string> services_;
};

// No code uses the descriptors of the former name, so the linker would drop them, and nobody could ask for
// them.
[[gnu::used]] constexpr const void* kFormerDescriptors =
    &::descriptor_table_grpc_2freflection_2fv1alpha_2freflection_2eproto;

namespace present = grpc::reflection::v1;
namespace former = grpc::reflection::v1alpha;
using PresentService =
    ReflectionService<present::ServerReflection::WithRawCallbackMethod_ServerReflectionInfo<
        present::ServerReflection::Service>>;
using FormerService = ReflectionService<
    former::ServerReflection::WithRawCallbackMethod_ServerReflectionInfo<former::ServerReflection::Service>>;

}  // namespace

std::vector<std::unique_ptr<grpc::Service>> MakeReflectionServices(ServingContext& serving,
                                                                   std::vector<std::string> services) {
  services.emplace_back(present::ServerReflection::service_full_name());
  services.emplace_back(former::ServerReflection::service_full_name());
  std::vector<std::unique_ptr<grpc::Service>> made;
  made.push_back(std::make_unique<PresentService>(
      serving, "grpc.reflection.v1.ServerReflection/ServerReflectionInfo", services));
  made.push_back(std::make_unique<FormerService>(
      serving, "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", services));
  return made;
}

}  // namespace itemdb::daemon
