// ServerTest: a server in this process, on a port that the kernel chooses, with a database in a temporary
// directory. Tests call it through the generated stubs, as clients in any language do.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "daemon/server/server.h"
#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/backups.grpc.pb.h"
#include "itemdb/v1/bulk_puts.grpc.pb.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/exports.grpc.pb.h"
#include "itemdb/v1/imports.grpc.pb.h"
#include "itemdb/v1/replication.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"
#include "storage/base/limits.h"
#include "tests/support/error_details.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {

inline void AddString(v1::Item* item, const std::string& name, const std::string& value) {
  v1::Attribute* attribute = item->add_attributes();
  attribute->set_name(name);
  attribute->mutable_value()->set_s(value);
}

inline v1::Item Key(const std::string& pk, const std::string& sk) {
  v1::Item item;
  AddString(&item, "pk", pk);
  AddString(&item, "sk", sk);
  return item;
}

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    storage::DatabaseOptions options;
    options.data_directory = directory_.path() + "/data";
    options.free_space_floor_bytes = 0;
    options.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    auto database = storage::Database::Open(std::move(options));
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
    Start("127.0.0.1:0");
  }

  void TearDown() override {
    server_.reset();
    database_.reset();
  }

  static ServerOptions OptionsFor(const std::string& address) {
    ServerOptions options;
    options.addresses = {*ParseListenAddress(address)};
    options.log = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::null_sink_mt>());
    return options;
  }

  void Start(const std::string& address) {
    auto server = Server::Start(*database_, OptionsFor(address));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = Connect(server_->addresses()[0]);
    data_ = v1::Data::NewStub(channel_);
    tables_ = v1::Tables::NewStub(channel_);
    changes_ = v1::Changes::NewStub(channel_);
    admin_ = v1::Admin::NewStub(channel_);
  }

  static std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(storage::kMaxMessageBytes);
    // Otherwise all channels of a process to one address share a connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    // Otherwise the flow-control window grows, and a client that does not read still receives megabytes of a
    // stream.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  }

  // The bytes that the server holds for calls of stalled clients: waits until the number is above `more_than`
  // and no longer changes.
  int64_t SettledCallBytes(int64_t more_than) {
    int64_t before = -1;
    for (int i = 0; i < 300; ++i) {
      int64_t now = server_->call_bytes();
      if (now == before && now > more_than) return now;
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return before;
  }
  // Expects that all bytes held for calls and streams are released. This happens shortly after they end.
  void ExpectNoCallBytesInTheEnd() {
    for (int i = 0; i < 6'000 && server_->call_bytes() != 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(server_->call_bytes(), 0);
  }

  // A table with the key pk and sk.
  static v1::CreateTableRequest TableDefinition(const std::string& name) {
    v1::CreateTableRequest request;
    request.set_table_name(name);
    request.set_billing_mode(v1::BILLING_MODE_PAY_PER_REQUEST);
    for (const char* attribute : {"pk", "sk"}) {
      v1::AttributeDefinition* definition = request.add_attribute_definitions();
      definition->set_attribute_name(attribute);
      definition->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
    }
    v1::KeySchemaElement* partition = request.add_key_schema();
    partition->set_attribute_name("pk");
    partition->set_key_type(v1::KEY_TYPE_HASH);
    v1::KeySchemaElement* sort = request.add_key_schema();
    sort->set_attribute_name("sk");
    sort->set_key_type(v1::KEY_TYPE_RANGE);
    return request;
  }

  grpc::Status CreateTable(const std::string& name) {
    const v1::CreateTableRequest request = TableDefinition(name);
    v1::CreateTableReply reply;
    grpc::ClientContext context;
    return tables_->CreateTable(&context, request, &reply);
  }

  grpc::Status Put(const std::string& table, const v1::Item& item) {
    v1::PutItemRequest request;
    request.set_table_name(table);
    *request.mutable_item() = item;
    v1::PutItemReply reply;
    grpc::ClientContext context;
    return data_->PutItem(&context, request, &reply);
  }

  // A unary call whose request is `bytes`.
  grpc::Status CallRaw(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::Slice slice(bytes);
    grpc::ByteBuffer request(&slice, 1);
    grpc::ByteBuffer reply;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, method, {}, &request, &reply,
                   [&](grpc::Status status) { done.set_value(status); });
    return done.get_future().get();
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<storage::Database> database_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Data::Stub> data_;
  std::unique_ptr<v1::Tables::Stub> tables_;
  std::unique_ptr<v1::Changes::Stub> changes_;
  std::unique_ptr<v1::Admin::Stub> admin_;
};

}  // namespace itemdb::daemon
