// itemdb.v1.Exports.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/exports.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawExports = v1::Exports::WithRawCallbackMethod_ExportTableToPointInTime<
    v1::Exports::WithRawCallbackMethod_DescribeExport<
        v1::Exports::WithRawCallbackMethod_ListExports<v1::Exports::Service>>>;

class ExportsService final : public RawExports, private DatabaseCalls {
 public:
  ExportsService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* ExportTableToPointInTime(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Exports/ExportTableToPointInTime", request, reply,
                 &Database::ExportTableToPointInTime);
  }

  UnaryReactor* DescribeExport(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Exports/DescribeExport", request, reply, &Database::DescribeExport);
  }

  // A caller with roles for some tables gets the exports of these.
  UnaryReactor* ListExports(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::ListExportsRequest, v1::ListExportsReply>(
        serving_, context, "itemdb.v1.Exports/ListExports", request, reply,
        [this](v1::ListExportsRequest request, auto done, auto&&, const Caller& caller) {
          std::function<bool(std::string_view)> shows;
          if (caller.grants != nullptr)
            shows = [caller](std::string_view name) { return MaySeeTable(caller, name); };
          database_.ListExports(std::move(request), std::move(done), std::move(shows));
        });
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeExportsService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<ExportsService>(database, serving);
}

}  // namespace itemdb::daemon
