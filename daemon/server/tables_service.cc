// itemdb.v1.Tables.
#include "daemon/rpc/raw_call.h"
#include "daemon/server/services.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

using RawTables = v1::Tables::WithRawCallbackMethod_CreateTable<v1::Tables::WithRawCallbackMethod_DeleteTable<
    v1::Tables::WithRawCallbackMethod_UpdateTable<v1::Tables::WithRawCallbackMethod_TagTable<
        v1::Tables::WithRawCallbackMethod_UntagTable<v1::Tables::WithRawCallbackMethod_DescribeLimits<
            v1::Tables::WithRawCallbackMethod_DescribeTable<v1::Tables::WithRawCallbackMethod_ListTables<
                v1::Tables::WithRawCallbackMethod_UpdateTimeToLive<
                    v1::Tables::WithRawCallbackMethod_DescribeTimeToLive<v1::Tables::Service>>>>>>>>>>;

class TablesService final : public RawTables {
 public:
  TablesService(storage::Database& database, ServingContext& serving)
      : database_(database), serving_(serving) {}

  ServerUnaryReactor* CreateTable(CallbackServerContext* context, const ByteBuffer* request,
                                  ByteBuffer* reply) override {
    return ServeUnary<v1::CreateTableRequest, v1::CreateTableReply>(
        serving_, context, "itemdb.v1.Tables/CreateTable", request, reply,
        [this](v1::CreateTableRequest&& request, auto done, auto) {
          database_.CreateTable(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* DeleteTable(CallbackServerContext* context, const ByteBuffer* request,
                                  ByteBuffer* reply) override {
    return ServeUnary<v1::DeleteTableRequest, v1::DeleteTableReply>(
        serving_, context, "itemdb.v1.Tables/DeleteTable", request, reply,
        [this](v1::DeleteTableRequest&& request, auto done, auto) {
          database_.DeleteTable(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* UpdateTable(CallbackServerContext* context, const ByteBuffer* request,
                                  ByteBuffer* reply) override {
    return ServeUnary<v1::UpdateTableRequest, v1::UpdateTableReply>(
        serving_, context, "itemdb.v1.Tables/UpdateTable", request, reply,
        [this](v1::UpdateTableRequest&& request, auto done, auto) {
          database_.UpdateTable(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* TagTable(CallbackServerContext* context, const ByteBuffer* request,
                               ByteBuffer* reply) override {
    return ServeUnary<v1::TagTableRequest, v1::TagTableReply>(
        serving_, context, "itemdb.v1.Tables/TagTable", request, reply,
        [this](v1::TagTableRequest&& request, auto done, auto) {
          database_.TagTable(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* UntagTable(CallbackServerContext* context, const ByteBuffer* request,
                                 ByteBuffer* reply) override {
    return ServeUnary<v1::UntagTableRequest, v1::UntagTableReply>(
        serving_, context, "itemdb.v1.Tables/UntagTable", request, reply,
        [this](v1::UntagTableRequest&& request, auto done, auto) {
          database_.UntagTable(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* UpdateTimeToLive(CallbackServerContext* context, const ByteBuffer* request,
                                       ByteBuffer* reply) override {
    return ServeUnary<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveReply>(
        serving_, context, "itemdb.v1.Tables/UpdateTimeToLive", request, reply,
        [this](v1::UpdateTimeToLiveRequest&& request, auto done, auto) {
          database_.UpdateTimeToLive(std::move(request), std::move(done));
        });
  }

  ServerUnaryReactor* DescribeTimeToLive(CallbackServerContext* context, const ByteBuffer* request,
                                         ByteBuffer* reply) override {
    return ServeUnary<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveReply>(
        serving_, context, "itemdb.v1.Tables/DescribeTimeToLive", request, reply,
        [this](const auto& request, auto done, auto) {
          std::move(done)(database_.DescribeTimeToLive(request));
        });
  }

  ServerUnaryReactor* DescribeLimits(CallbackServerContext* context, const ByteBuffer* request,
                                     ByteBuffer* reply) override {
    return ServeUnary<v1::DescribeLimitsRequest, v1::DescribeLimitsReply>(
        serving_, context, "itemdb.v1.Tables/DescribeLimits", request, reply,
        [this](const auto&, auto done, auto) { std::move(done)(database_.DescribeLimits()); });
  }

  ServerUnaryReactor* DescribeTable(CallbackServerContext* context, const ByteBuffer* request,
                                    ByteBuffer* reply) override {
    return ServeUnary<v1::DescribeTableRequest, v1::DescribeTableReply>(
        serving_, context, "itemdb.v1.Tables/DescribeTable", request, reply,
        [this](const auto& request, auto done, auto) { std::move(done)(database_.DescribeTable(request)); });
  }

  ServerUnaryReactor* ListTables(CallbackServerContext* context, const ByteBuffer* request,
                                 ByteBuffer* reply) override {
    return ServeUnary<v1::ListTablesRequest, v1::ListTablesReply>(
        serving_, context, "itemdb.v1.Tables/ListTables", request, reply,
        [this](const auto& request, auto done, auto) { std::move(done)(database_.ListTables(request)); });
  }

 private:
  storage::Database& database_;
  ServingContext& serving_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTablesService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<TablesService>(database, serving);
}

}  // namespace itemdb::daemon
