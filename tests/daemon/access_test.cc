// Access keys over gRPC (ERR-17): which calls are allowed, the errors of the others, and key files that
// change.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <sys/socket.h>

#include <atomic>
#include <set>
#include <thread>

#include "daemon/access/authorizer.h"
#include "daemon/process/descriptor.h"
#include "tests/daemon/access_fixture.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A stream that ends only when the caller cancels it.
constexpr char kWatch[] = "itemdb.v1.Changes/Watch";
constexpr char kReflection[] = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr char kFormerReflection[] = "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
// A reflection request for the list of services.
constexpr std::string_view kListServices("\x3a\x01*", 3);

// A request that a caller with the role of `method` may send; it may be malformed.
std::string RequestOf(std::string_view method) {
  if (method == kReflection || method == kFormerReflection) return std::string(kListServices);
  if (method != "itemdb.v1.Data/ExecuteStatement") return "";
  v1::ExecuteStatementRequest request;
  request.set_statement("SELECT * FROM Things");
  return request.SerializeAsString();
}

// A method without a row needs the role admin. The test makes the author of a new method choose its role.
TEST(MethodRolesTest, EveryMethodOfEveryServiceHasOneRow) {
  std::set<std::string> expected = {kReflection, kFormerReflection};
  for (const char* name :
       {v1::Data::service_full_name(), v1::Tables::service_full_name(), v1::Backups::service_full_name(),
        v1::Exports::service_full_name(), v1::Imports::service_full_name(), v1::BulkPuts::service_full_name(),
        v1::Changes::service_full_name(), v1::Admin::service_full_name(),
        v1::Replication::service_full_name()}) {
    const auto* service = google::protobuf::DescriptorPool::generated_pool()->FindServiceByName(name);
    ASSERT_NE(service, nullptr) << name;
    for (int i = 0; i < service->method_count(); ++i)
      expected.insert(service->full_name() + "/" + service->method(i)->name());
  }
  std::set<std::string> rows;
  for (const MethodRole& row : MethodRoles()) {
    EXPECT_TRUE(rows.insert(std::string(row.method)).second) << row.method << " has two";
    EXPECT_EQ(RoleOfMethod(row.method), row.role) << row.method;
  }
  EXPECT_EQ(rows, expected);
  EXPECT_EQ(RoleOfMethod("itemdb.v1.Data/NobodyThoughtOf"), Role::kAdmin);
}

// Methods whose names say that they change something need more than the role read.
TEST(MethodRolesTest, WhatChangesSomethingTakesMoreThanReading) {
  for (const MethodRole& row : MethodRoles()) {
    const std::string method(row.method.substr(row.method.find('/') + 1));
    bool reads = false;
    for (const char* prefix : {"Get", "BatchGet", "TransactGet", "Query", "Scan", "Describe", "List", "Read",
                               "Watch", "Search", "ServerReflection"})
      reads = reads || method.starts_with(prefix);
    // What a standby reads is everything.
    if (row.method.starts_with("itemdb.v1.Replication/")) {
      EXPECT_EQ(row.role, Role::kAdmin) << row.method;
      continue;
    }
    // What readers of the change log need; the audit log has it.
    if (row.method == "itemdb.v1.Changes/HoldChanges" || row.method == "itemdb.v1.Changes/ReleaseChanges") {
      EXPECT_EQ(row.role, Role::kRead) << row.method;
      EXPECT_TRUE(row.always_audited) << row.method;
      continue;
    }
    EXPECT_FALSE(row.always_audited) << row.method;
    const bool statements = method.starts_with("Execute") || method == "BatchExecuteStatement";
    EXPECT_EQ(row.role == Role::kRead, reads || statements) << row.method;
  }
}

TEST_F(AccessTest, EveryMethodAsksForAKeyAndItsRole) {
  struct Row {
    std::string id;
    Role role;
  };
  const Row rows[] = {{"READER", Role::kRead}, {"WRITER", Role::kWrite}, {"ADMIN", Role::kAdmin}};
  for (const MethodRole& method : MethodRoles()) {
    SCOPED_TRACE(method.method);
    const std::string request = RequestOf(method.method);
    const std::vector<std::vector<std::string>> nobodies = {
        {}, {Basic("READER", "not its secret, alas")}, {Basic("NOBODY", kSecret)}};
    for (const auto& nobody : nobodies) {
      const grpc::Status status = CallMethod(method.method, nobody, request);
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << status.error_message();
      EXPECT_EQ(DetailsOf(status).reason, "UNAUTHENTICATED");
      EXPECT_EQ(DetailsOf(status).rule, "ERR-17");
    }
    for (const Row& row : rows) {
      SCOPED_TRACE(row.id);
      // A Watch that is allowed ends with DEADLINE_EXCEEDED.
      const auto timeout = method.method == kWatch ? std::chrono::seconds(1) : std::chrono::seconds(300);
      const grpc::Status status =
          CallMethod(method.method, {Basic(row.id, kSecret)}, request, nullptr, timeout);
      EXPECT_NE(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
      EXPECT_EQ(status.error_code() == grpc::StatusCode::PERMISSION_DENIED, row.role < method.role);
      if (row.role >= method.role) continue;
      EXPECT_EQ(DetailsOf(status).reason, "ACCESS_DENIED");
      EXPECT_THAT(
          status.error_message(),
          HasSubstr("User: " + row.id + " is not authorized to perform: " + std::string(method.method)));
    }
  }
  EXPECT_THAT(Logged(), Not(HasSubstr(kSecret)));
}

// gRPC has read a request before its key is checked, so a peer without a key costs memory with every call.
TEST_F(AccessTest, ConnectionsEndWhoseCallsAreRefused) {
  std::shared_ptr<grpc::Channel> with_key = Connect(server_->addresses()[0]);
  std::swap(channel_, with_key);
  EXPECT_TRUE(CallMethod("itemdb.v1.Admin/GetStatus", {Basic("READER", kSecret)}).ok());
  std::swap(channel_, with_key);
  const auto refused = [this] { return Logged().find("connection ended") != std::string::npos; };
  // Many more than are forgiven while the loop runs.
  for (int i = 0; i < 20'000 && !refused(); ++i) CallMethod("itemdb.v1.Admin/GetStatus", {});
  EXPECT_THAT(Logged(), HasSubstr("reason=\"refused calls\""));
  channel_ = with_key;
  EXPECT_TRUE(CallMethod("itemdb.v1.Admin/GetStatus", {Basic("READER", kSecret)}).ok());
}

TEST_F(AccessTest, ConnectionsEndThatShowNoKeyInTime) {
  server_.reset();
  ServerOptions options = OptionsFor("127.0.0.1:0");
  options.access_keys = key_file_;
  options.handshake_timeout = absl::Milliseconds(500);
  auto server = Server::Start(*database_, std::move(options));
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  channel_ = Connect(server_->addresses()[0]);
  ASSERT_TRUE(CallMethod("itemdb.v1.Admin/GetStatus", {Basic("READER", kSecret)}).ok());
  const SocketAddress target = ToSocketAddress(*ParseListenAddress(server_->addresses()[0]));
  const Descriptor silent(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(connect(silent.get(), target.get(), target.bytes), 0);
  // The beginning of HTTP/2, after which gRPC's own timeout no longer holds, with empty settings.
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string("\0\0\0\4\0\0\0\0\0", 9);
  ASSERT_EQ(send(silent.get(), preface.data(), preface.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(preface.size()));
  // Shorter than the pings of gRPC, which end the connection too.
  timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(silent.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  char bytes[4'096];
  ssize_t received = 0;
  while ((received = recv(silent.get(), bytes, sizeof(bytes), 0)) > 0) {
  }
  EXPECT_EQ(received, 0) << "the daemon has not closed the connection";
  EXPECT_EQ(channel_->GetState(false), GRPC_CHANNEL_READY) << "a connection with a key stays";
}

TEST_F(AccessTest, HealthChecksTakeNoKey) { EXPECT_TRUE(CallMethod("grpc.health.v1.Health/Check", {}).ok()); }

TEST_F(AccessTest, ReflectionTellsNothingWithoutAKey) {
  for (const char* method : {kReflection, kFormerReflection}) {
    SCOPED_TRACE(method);
    std::string told;
    const grpc::Status refused = CallMethod(method, {}, kListServices, &told);
    EXPECT_EQ(refused.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_THAT(refused.error_message(), HasSubstr("asks for an access key"));
    EXPECT_EQ(told, "");
    EXPECT_TRUE(CallMethod(method, {Basic("READER", kSecret)}, kListServices, &told).ok());
    EXPECT_THAT(told, HasSubstr("itemdb.v1.Data"));
  }
}

TEST_F(AccessTest, WhatIsNoKeyIsRefused) {
  const std::string good = Basic("READER", kSecret);
  const std::vector<std::vector<std::string>> values = {
      {""},
      {"Basic"},
      {"Basic "},
      {"Basic !!!"},
      {"Bearer " + good.substr(6)},
      {good.substr(6)},
      {good + "A"},
      {"Basic " + absl::Base64Escape("READER")},
      {"Basic " + absl::Base64Escape("READER:")},
      {"Basic " + absl::Base64Escape(":" + std::string(kSecret))},
      {"Basic " + absl::Base64Escape(std::string("READER:") + kSecret + "x")},
      {"Basic " + absl::Base64Escape(std::string("reader:") + kSecret)},
      {good, good}};
  for (const auto& authorization : values) {
    const grpc::Status status = CallMethod("itemdb.v1.Admin/GetStatus", authorization);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << authorization[0];
    EXPECT_THAT(status.error_message(), Not(HasSubstr(kSecret)));
  }
  EXPECT_TRUE(CallMethod("itemdb.v1.Admin/GetStatus", {good}).ok());
  // The name of the scheme is case-insensitive (RFC 7617, section 2).
  EXPECT_TRUE(CallMethod("itemdb.v1.Admin/GetStatus", {"basic " + good.substr(6)}).ok());
}

TEST_F(AccessTest, ReadExecutesStatementsThatOnlyRead) {
  const auto stub = v1::Data::NewStub(channel_);
  const auto execute = [&](const std::string& statement, const std::string& id) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", Basic(id, kSecret));
    v1::ExecuteStatementRequest request;
    request.set_statement(statement);
    v1::ExecuteStatementReply reply;
    return stub->ExecuteStatement(&context, request, &reply);
  };
  const std::string insert = "INSERT INTO Things VALUE {'pk': 'p', 'sk': '1'}";
  const uint64_t before = database_->GetStatus().change_sequence();
  EXPECT_TRUE(execute("SELECT * FROM Things WHERE pk = 'p'", "READER").ok());
  const grpc::Status denied = execute(insert, "READER");
  EXPECT_EQ(denied.error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(DetailsOf(denied).reason, "ACCESS_DENIED");
  EXPECT_THAT(denied.error_message(), HasSubstr("dynamodb:PartiQLInsert because its role is read"));

  v1::BatchExecuteStatementRequest batch;
  for (int i = 0; i < 2; ++i) batch.add_statements()->set_statement(insert);
  v1::BatchExecuteStatementReply reply;
  grpc::ClientContext of_batch;
  of_batch.AddMetadata("authorization", Basic("READER", kSecret));
  ASSERT_TRUE(stub->BatchExecuteStatement(&of_batch, batch, &reply).ok());
  ASSERT_EQ(reply.responses_size(), 2);
  for (const auto& response : reply.responses()) EXPECT_EQ(response.error().reason(), "ACCESS_DENIED");

  v1::ExecuteTransactionRequest transaction;
  transaction.add_transact_statements()->set_statement(insert);
  v1::ExecuteTransactionReply none;
  grpc::ClientContext of_transaction;
  of_transaction.AddMetadata("authorization", Basic("READER", kSecret));
  EXPECT_EQ(stub->ExecuteTransaction(&of_transaction, transaction, &none).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(database_->GetStatus().change_sequence(), before) << "nothing was written";
  EXPECT_TRUE(execute(insert, "WRITER").ok()) << "nobody had inserted it";
}

// Calls run all the time, with a key that is in the old and in the new file.
TEST_F(AccessTest, ANewKeyFileTakesEffectWithoutDroppingCalls) {
  const auto get_status = [this](const std::string& id, const std::string& secret) {
    return CallMethod("itemdb.v1.Admin/GetStatus", {Basic(id, secret)}).error_code();
  };
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  std::thread caller([&] {
    while (!stop) failed += get_status("ADMIN", kSecret) == grpc::StatusCode::OK ? 0 : 1;
  });

  WriteKeys("[[key]]\nid = \"BROKEN\"\n");
  EXPECT_TRUE(AwaitLog("access keys not reloaded, the old ones stay in effect"));
  EXPECT_EQ(get_status("READER", kSecret), grpc::StatusCode::OK);

  const std::string renewed = "another secret, as good";
  WriteKeys(KeyText("ADMIN", kSecret, "admin") + KeyText("READER", renewed, "read"));
  EXPECT_TRUE(AwaitLog("access keys reloaded path=" + key_file_));
  EXPECT_EQ(get_status("READER", renewed), grpc::StatusCode::OK);
  EXPECT_EQ(get_status("READER", kSecret), grpc::StatusCode::UNAUTHENTICATED) << "the old secret is gone";
  EXPECT_EQ(get_status("WRITER", kSecret), grpc::StatusCode::UNAUTHENTICATED) << "the key is gone";
  stop = true;
  caller.join();
  EXPECT_EQ(failed, 0);
  EXPECT_THAT(Logged(), Not(HasSubstr(kSecret)));
  EXPECT_THAT(Logged(), Not(HasSubstr(renewed)));
}

// The key of a running stream is checked again for every page and chunk.
TEST_F(AccessTest, StreamsEndWhenTheirKeyIsWithdrawn) {
  grpc::ClientContext reader;
  reader.AddMetadata("authorization", Basic("READER", kSecret));
  v1::WatchRequest from_now;
  from_now.set_progress_interval_ms(20);
  auto watch = v1::Changes::NewStub(channel_)->Watch(&reader, from_now);
  v1::WatchReply progress;
  ASSERT_TRUE(watch->Read(&progress));

  grpc::ClientContext writer;
  writer.AddMetadata("authorization", Basic("WRITER", kSecret));
  auto bulk = v1::Data::NewStub(channel_)->BulkWrite(&writer);
  v1::BulkWriteChunk chunk;
  v1::TableWriteRequests* table = chunk.add_request_items();
  table->set_table_name("Things");
  v1::WriteRequest* put = table->add_write_requests();
  const auto write = [&](int number) {
    chunk.set_chunk_number(number);
    *put->mutable_put_request()->mutable_item() = Key("p", std::to_string(number));
    v1::BulkWriteReply reply;
    return bulk->Write(chunk) && bulk->Read(&reply);
  };
  ASSERT_TRUE(write(1));

  // WRITER gets a role that may not write, and READER is removed.
  WriteKeys(KeyText("ADMIN", kSecret, "admin") + KeyText("WRITER", kSecret, "read"));
  ASSERT_TRUE(AwaitLog("access keys reloaded"));
  const uint64_t last = database_->GetStatus().change_sequence();
  EXPECT_FALSE(write(2));
  EXPECT_EQ(bulk->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
  v1::PutItemRequest request;
  request.set_table_name("Things");
  *request.mutable_item() = Key("p", "of an administrator");
  ASSERT_TRUE(
      CallMethod("itemdb.v1.Data/PutItem", {Basic("ADMIN", kSecret)}, request.SerializeAsString()).ok());
  EXPECT_EQ(database_->GetStatus().change_sequence(), last + 1) << "the second chunk was not applied";
  while (watch->Read(&progress)) EXPECT_LE(progress.change_sequence(), last);
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

// Without a key file every call is allowed, whatever authorization it sends.
TEST_F(ServerTest, KeysAreNotLookedAtWithoutAKeyFile) {
  grpc::ClientContext context;
  context.AddMetadata("authorization", "Bearer something of a proxy");
  v1::GetStatusReply reply;
  EXPECT_TRUE(admin_->GetStatus(&context, {}, &reply).ok());
}

}  // namespace
}  // namespace itemdb::daemon
