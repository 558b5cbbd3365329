// itemdb.v1.Tables.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/tables.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawTables = v1::Tables::WithRawCallbackMethod_CreateTable<v1::Tables::WithRawCallbackMethod_DeleteTable<
    v1::Tables::WithRawCallbackMethod_UpdateTable<v1::Tables::WithRawCallbackMethod_TagTable<
        v1::Tables::WithRawCallbackMethod_UntagTable<v1::Tables::WithRawCallbackMethod_DescribeLimits<
            v1::Tables::WithRawCallbackMethod_DescribeTable<v1::Tables::WithRawCallbackMethod_ListTables<
                v1::Tables::WithRawCallbackMethod_UpdateTimeToLive<
                    v1::Tables::WithRawCallbackMethod_DescribeTimeToLive<
                        v1::Tables::WithRawCallbackMethod_UpdateContributorInsights<
                            v1::Tables::WithRawCallbackMethod_DescribeContributorInsights<
                                v1::Tables::WithRawCallbackMethod_ListContributorInsights<
                                    v1::Tables::Service>>>>>>>>>>>>>;

class TablesService final : public RawTables, private DatabaseCalls {
 public:
  TablesService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* CreateTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/CreateTable", request, reply, &Database::CreateTable);
  }

  UnaryReactor* DeleteTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/DeleteTable", request, reply, &Database::DeleteTable);
  }

  UnaryReactor* UpdateTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/UpdateTable", request, reply, &Database::UpdateTable);
  }

  UnaryReactor* TagTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/TagTable", request, reply, &Database::TagTable);
  }

  UnaryReactor* UntagTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/UntagTable", request, reply, &Database::UntagTable);
  }

  UnaryReactor* UpdateTimeToLive(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/UpdateTimeToLive", request, reply, &Database::UpdateTimeToLive);
  }

  UnaryReactor* DescribeTimeToLive(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/DescribeTimeToLive", request, reply,
                 &Database::DescribeTimeToLive);
  }

  UnaryReactor* UpdateContributorInsights(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/UpdateContributorInsights", request, reply,
                 &Database::UpdateContributorInsights);
  }

  UnaryReactor* DescribeContributorInsights(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/DescribeContributorInsights", request, reply,
                 &Database::DescribeContributorInsights);
  }

  UnaryReactor* ListContributorInsights(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/ListContributorInsights", request, reply,
                 &Database::ListContributorInsights);
  }

  UnaryReactor* DescribeLimits(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::DescribeLimitsRequest, v1::DescribeLimitsReply>(
        serving_, context, "itemdb.v1.Tables/DescribeLimits", request, reply,
        [this](const auto&, auto done, auto) { std::move(done)(database_.DescribeLimits()); });
  }

  UnaryReactor* DescribeTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Tables/DescribeTable", request, reply, &Database::DescribeTable);
  }

  UnaryReactor* ListTables(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::ListTablesRequest, v1::ListTablesReply>(
        serving_, context, "itemdb.v1.Tables/ListTables", request, reply,
        [this](const v1::ListTablesRequest& request, auto done, auto&&, const Caller& caller) {
          if (caller.grants == nullptr) return std::move(done)(database_.ListTables(request));
          std::move(done)(database_.ListTables(
              request, [&caller](std::string_view name) { return MaySeeTable(caller, name); }));
        });
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeTablesService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<TablesService>(database, serving);
}

}  // namespace itemdb::daemon
