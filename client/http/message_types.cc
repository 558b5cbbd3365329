#include "client/http/message_types.h"

#ifdef ITEMDB_LITE_MESSAGES
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#endif

namespace itemdb {

#ifdef ITEMDB_LITE_MESSAGES

// Made by the build from proto/: an encoded FileDescriptorSet.
extern const unsigned char kFileDescriptors[];
extern const unsigned kFileDescriptorsBytes;

namespace {

// Lives as long as the process, as the descriptors of generated messages do.
struct OwnTypes {
  google::protobuf::DescriptorPool pool;
  google::protobuf::DynamicMessageFactory factory{&pool};

  OwnTypes() {
    google::protobuf::FileDescriptorSet files;
    files.ParseFromArray(kFileDescriptors, static_cast<int>(kFileDescriptorsBytes));
    for (const google::protobuf::FileDescriptorProto& file : files.file()) pool.BuildFile(file);
  }
};

}  // namespace

std::unique_ptr<google::protobuf::Message> NewMessage(const std::string& type_name) {
  static auto* const types = new OwnTypes;
  const google::protobuf::Descriptor* const type = types->pool.FindMessageTypeByName(type_name);
  if (type == nullptr) return nullptr;
  return std::unique_ptr<google::protobuf::Message>(types->factory.GetPrototype(type)->New());
}

#else

std::unique_ptr<google::protobuf::Message> NewMessage(const std::string& type_name) {
  const google::protobuf::Descriptor* const type =
      google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type_name);
  if (type == nullptr) return nullptr;
  return std::unique_ptr<google::protobuf::Message>(
      google::protobuf::MessageFactory::generated_factory()->GetPrototype(type)->New());
}

#endif

}  // namespace itemdb
