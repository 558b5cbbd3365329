// Reflection, as programs such as grpcurl ask for it.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <set>
#include <vector>

#include "daemon/rpc/reflection.h"
#include "grpc/reflection/v1/reflection.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "tests/daemon/server_fixture.h"

namespace itemdb::daemon {
namespace {

using google::protobuf::FileDescriptorProto;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using ::testing::UnorderedElementsAre;

std::vector<FileDescriptorProto> FilesIn(const ServerReflectionResponse& response) {
  std::vector<FileDescriptorProto> files;
  for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto())
    EXPECT_TRUE(files.emplace_back().ParseFromString(bytes));
  return files;
}

ServerReflectionRequest ForSymbol(const std::string& symbol) {
  ServerReflectionRequest request;
  request.set_host("h");
  request.set_file_containing_symbol(symbol);
  return request;
}

TEST(ReflectionAnswer, AFileComesWithAllThatItImports) {
  for (const char* symbol : {"itemdb.v1.Data", "itemdb.v1.Data.PutItem", "itemdb.v1.PutItemRequest",
                             "itemdb.v1.PutItemRequest.table_name"}) {
    SCOPED_TRACE(symbol);
    const ServerReflectionResponse response = AnswerReflection(ForSymbol(symbol), {});
    EXPECT_EQ(response.valid_host(), "h");
    EXPECT_EQ(response.original_request().file_containing_symbol(), symbol);
    const std::vector<FileDescriptorProto> files = FilesIn(response);
    ASSERT_FALSE(files.empty());
    EXPECT_EQ(files[0].name(), "itemdb/v1/data.proto");
    // Another pool can be made of the files alone; each comes once.
    google::protobuf::SimpleDescriptorDatabase database;
    for (const FileDescriptorProto& file : files) EXPECT_TRUE(database.Add(file)) << file.name();
    const google::protobuf::DescriptorPool pool(&database);
    EXPECT_NE(pool.FindServiceByName("itemdb.v1.Data"), nullptr);
  }
  ServerReflectionRequest by_name;
  by_name.set_file_by_filename("google/rpc/error_details.proto");
  EXPECT_EQ(FilesIn(AnswerReflection(by_name, {})).size(), 2u);  // It imports duration.proto.
}

TEST(ReflectionAnswer, WhatIsNotThereIsAnError) {
  ServerReflectionRequest file, extension, numbers, type;
  file.set_file_by_filename("nope.proto");
  extension.mutable_file_containing_extension()->set_containing_type("itemdb.v1.Item");
  extension.mutable_file_containing_extension()->set_extension_number(7);
  numbers.set_all_extension_numbers_of_type("itemdb.v1.Nope");
  for (const ServerReflectionRequest& request : {ForSymbol("itemdb.v1.Nope"), file, extension, numbers}) {
    const ServerReflectionResponse response = AnswerReflection(request, {});
    EXPECT_EQ(response.error_response().error_code(), grpc::StatusCode::NOT_FOUND)
        << request.ShortDebugString();
  }
  EXPECT_EQ(AnswerReflection({}, {}).error_response().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  type.set_all_extension_numbers_of_type("itemdb.v1.Item");
  EXPECT_EQ(AnswerReflection(type, {}).all_extension_numbers_response().base_type_name(), "itemdb.v1.Item");
}

// Both names, with the same messages.
template <typename Stub>
void ExpectReflection(Stub& stub) {
  grpc::ClientContext context;
  auto stream = stub.ServerReflectionInfo(&context);
  ServerReflectionRequest list;
  list.set_list_services("");
  ServerReflectionResponse response;
  ASSERT_TRUE(stream->Write(list) && stream->Read(&response));
  std::vector<std::string> names;
  for (const auto& service : response.list_services_response().service()) names.push_back(service.name());
  EXPECT_THAT(names, UnorderedElementsAre("itemdb.v1.Data", "itemdb.v1.Tables", "itemdb.v1.Backups",
                                          "itemdb.v1.Exports", "itemdb.v1.Imports", "itemdb.v1.BulkPuts",
                                          "itemdb.v1.Changes", "itemdb.v1.Admin", "itemdb.v1.Replication",
                                          "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                          "grpc.reflection.v1alpha.ServerReflection"));
  // An error does not end the stream.
  ASSERT_TRUE(stream->Write(ForSymbol("nope")) && stream->Read(&response));
  EXPECT_TRUE(response.has_error_response());
  for (const std::string& name : names) {
    if (name == "grpc.health.v1.Health") continue;  // gRPC's own, without descriptor.
    ASSERT_TRUE(stream->Write(ForSymbol(name)) && stream->Read(&response));
    EXPECT_FALSE(FilesIn(response).empty()) << name;
  }
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(ServerTest, AnswersReflectionUnderBothNames) {
  ExpectReflection(*grpc::reflection::v1::ServerReflection::NewStub(channel_));
  ExpectReflection(*grpc::reflection::v1alpha::ServerReflection::NewStub(channel_));
}

// Streams that a client leaves open take memory of calls and no threads, and do not delay the server's end.
TEST_F(ServerTest, OpenReflectionStreamsAreCountedAndEndWithTheServer) {
  constexpr int kStreams = 100;
  const auto stub = grpc::reflection::v1::ServerReflection::NewStub(channel_);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReaderWriter<ServerReflectionRequest, ServerReflectionResponse>>>
      streams;
  ServerReflectionResponse response;
  for (int i = 0; i < kStreams; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(stub->ServerReflectionInfo(contexts.back().get()));
    ASSERT_TRUE(streams.back()->Write(ForSymbol("itemdb.v1.Admin")) && streams.back()->Read(&response));
  }
  EXPECT_GE(server_->call_bytes(), kStreams * 1'024);
  const auto start = std::chrono::steady_clock::now();
  server_->Stop(std::chrono::seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  for (auto& stream : streams) {
    EXPECT_FALSE(stream->Read(&response));
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  }
}

}  // namespace
}  // namespace itemdb::daemon
