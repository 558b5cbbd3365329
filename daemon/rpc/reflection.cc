#include "daemon/rpc/reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpcpp/support/status_code_enum.h>

#include <set>
#include <string_view>

namespace itemdb::daemon {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

void SetError(grpc::StatusCode code, const std::string& message, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(code);
  response.mutable_error_response()->set_error_message(message);
}

// Adds `file` and all that it imports, each once.
void AddFile(const FileDescriptor& file, std::set<std::string_view>& added,
             grpc::reflection::v1::FileDescriptorResponse& files) {
  if (!added.insert(file.name()).second) return;
  google::protobuf::FileDescriptorProto descriptor;
  file.CopyTo(&descriptor);
  files.add_file_descriptor_proto(descriptor.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), added, files);
}

void SetFile(const FileDescriptor* file_or_null, const std::string& asked_for,
             ServerReflectionResponse& response) {
  if (file_or_null == nullptr) {
    return SetError(grpc::StatusCode::NOT_FOUND, "no file has or is " + asked_for, response);
  }
  std::set<std::string_view> added;
  AddFile(*file_or_null, added, *response.mutable_file_descriptor_response());
}

const FileDescriptor* FileOfExtension(const DescriptorPool& pool,
                                      const grpc::reflection::v1::ExtensionRequest& asked_for) {
  const auto* type = pool.FindMessageTypeByName(asked_for.containing_type());
  if (type == nullptr) return nullptr;
  const auto* extension = pool.FindExtensionByNumber(type, asked_for.extension_number());
  return extension == nullptr ? nullptr : extension->file();
}

void SetExtensionNumbers(const DescriptorPool& pool, const std::string& type_name,
                         ServerReflectionResponse& response) {
  const auto* type = pool.FindMessageTypeByName(type_name);
  if (type == nullptr) {
    return SetError(grpc::StatusCode::NOT_FOUND, "no message has the name " + type_name, response);
  }
  std::vector<const google::protobuf::FieldDescriptor*> extensions;
  pool.FindAllExtensions(type, &extensions);
  auto* numbers = response.mutable_all_extension_numbers_response();
  numbers->set_base_type_name(type_name);
  for (const auto* extension : extensions) numbers->add_extension_number(extension->number());
}

}  // namespace

ServerReflectionResponse AnswerReflection(const ServerReflectionRequest& request,
                                          const std::vector<std::string>& services) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      SetFile(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(), response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      SetFile(pool.FindFileContainingSymbol(request.file_containing_symbol()),
              request.file_containing_symbol(), response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:
      SetFile(FileOfExtension(pool, request.file_containing_extension()),
              "the extension of " + request.file_containing_extension().containing_type(), response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      SetExtensionNumbers(pool, request.all_extension_numbers_of_type(), response);
      break;
    case ServerReflectionRequest::kListServices:
      for (const std::string& name : services)
        response.mutable_list_services_response()->add_service()->set_name(name);
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      SetError(grpc::StatusCode::INVALID_ARGUMENT, "the request asks for nothing", response);
      break;
  }
  return response;
}

}  // namespace itemdb::daemon
