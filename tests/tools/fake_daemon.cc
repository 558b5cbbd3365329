#include "tests/tools/fake_daemon.h"

#include "itemdb/v1/errors.pb.h"

namespace itemdb::tools {
namespace {

template <typename Request, typename Reply>
grpc::Status Answer(const FakeDaemon::Handler<Request, Reply>& handler, const Request* request,
                    Reply* reply) {
  if (!handler) return {grpc::StatusCode::UNIMPLEMENTED, "the test expects no such call"};
  return handler(*request, reply);
}

}  // namespace

grpc::Status Refusal(grpc::StatusCode code, std::string_view reason, const std::string& message) {
  v1::ErrorDetail detail;
  detail.set_reason(std::string(reason));
  return {code, message, detail.SerializeAsString()};
}

class FakeDaemon::Services {
 public:
  explicit Services(FakeDaemon& daemon) : tables(daemon), data(daemon), admin(daemon), changes(daemon) {}

  struct Tables : v1::Tables::Service {
    explicit Tables(FakeDaemon& daemon) : daemon(daemon) {}
    grpc::Status CreateTable(grpc::ServerContext*, const v1::CreateTableRequest* request,
                             v1::CreateTableReply* reply) override {
      return Answer(daemon.create_table, request, reply);
    }
    grpc::Status UpdateTable(grpc::ServerContext*, const v1::UpdateTableRequest* request,
                             v1::UpdateTableReply* reply) override {
      return Answer(daemon.update_table, request, reply);
    }
    grpc::Status DescribeTable(grpc::ServerContext*, const v1::DescribeTableRequest* request,
                               v1::DescribeTableReply* reply) override {
      return Answer(daemon.describe_table, request, reply);
    }
    grpc::Status UpdateTimeToLive(grpc::ServerContext*, const v1::UpdateTimeToLiveRequest* request,
                                  v1::UpdateTimeToLiveReply* reply) override {
      return Answer(daemon.update_time_to_live, request, reply);
    }
    grpc::Status DescribeTimeToLive(grpc::ServerContext*, const v1::DescribeTimeToLiveRequest* request,
                                    v1::DescribeTimeToLiveReply* reply) override {
      return Answer(daemon.describe_time_to_live, request, reply);
    }
    grpc::Status ListTables(grpc::ServerContext*, const v1::ListTablesRequest* request,
                            v1::ListTablesReply* reply) override {
      return Answer(daemon.list_tables, request, reply);
    }
    FakeDaemon& daemon;
  } tables;

  struct Data : v1::Data::Service {
    explicit Data(FakeDaemon& daemon) : daemon(daemon) {}
    grpc::Status PutItem(grpc::ServerContext*, const v1::PutItemRequest* request,
                         v1::PutItemReply* reply) override {
      return Answer(daemon.put_item, request, reply);
    }
    grpc::Status GetItem(grpc::ServerContext*, const v1::GetItemRequest* request,
                         v1::GetItemReply* reply) override {
      return Answer(daemon.get_item, request, reply);
    }
    grpc::Status UpdateItem(grpc::ServerContext*, const v1::UpdateItemRequest* request,
                            v1::UpdateItemReply* reply) override {
      return Answer(daemon.update_item, request, reply);
    }
    grpc::Status TransactWriteItems(grpc::ServerContext*, const v1::TransactWriteItemsRequest* request,
                                    v1::TransactWriteItemsReply* reply) override {
      return Answer(daemon.transact_write_items, request, reply);
    }
    grpc::Status Query(grpc::ServerContext*, const v1::QueryRequest* request,
                       v1::QueryReply* reply) override {
      return Answer(daemon.query, request, reply);
    }
    grpc::Status Scan(grpc::ServerContext*, const v1::ScanRequest* request, v1::ScanReply* reply) override {
      return Answer(daemon.scan, request, reply);
    }
    FakeDaemon& daemon;
  } data;

  struct Admin : v1::Admin::Service {
    explicit Admin(FakeDaemon& daemon) : daemon(daemon) {}
    grpc::Status GetStatus(grpc::ServerContext*, const v1::GetStatusRequest* request,
                           v1::GetStatusReply* reply) override {
      return Answer(daemon.get_status, request, reply);
    }
    grpc::Status CheckDatabase(grpc::ServerContext*, const v1::CheckDatabaseRequest* request,
                               v1::CheckDatabaseReply* reply) override {
      return Answer(daemon.check_database, request, reply);
    }
    grpc::Status GetAccessPatterns(grpc::ServerContext*, const v1::GetAccessPatternsRequest* request,
                                   v1::GetAccessPatternsReply* reply) override {
      return Answer(daemon.get_access_patterns, request, reply);
    }
    FakeDaemon& daemon;
  } admin;

  struct Changes : v1::Changes::Service {
    explicit Changes(FakeDaemon& daemon) : daemon(daemon) {}
    grpc::Status ReadChanges(grpc::ServerContext*, const v1::ReadChangesRequest* request,
                             v1::ReadChangesReply* reply) override {
      return Answer(daemon.read_changes, request, reply);
    }
    FakeDaemon& daemon;
  } changes;
};

FakeDaemon::FakeDaemon() : services_(std::make_unique<Services>(*this)) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&services_->tables);
  builder.RegisterService(&services_->data);
  builder.RegisterService(&services_->admin);
  builder.RegisterService(&services_->changes);
  server_ = builder.BuildAndStart();
  endpoint_ = "127.0.0.1:" + std::to_string(port);
}

FakeDaemon::~FakeDaemon() { server_->Shutdown(); }

}  // namespace itemdb::tools
