// itemdb.v1.Imports.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/imports.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawImports =
    v1::Imports::WithRawCallbackMethod_ImportTable<v1::Imports::WithRawCallbackMethod_DescribeImport<
        v1::Imports::WithRawCallbackMethod_ListImports<v1::Imports::Service>>>;

class ImportsService final : public RawImports, private DatabaseCalls {
 public:
  ImportsService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* ImportTable(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Imports/ImportTable", request, reply, &Database::ImportTable);
  }

  UnaryReactor* DescribeImport(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Imports/DescribeImport", request, reply, &Database::DescribeImport);
  }

  // A caller with roles for some tables gets the imports of these.
  UnaryReactor* ListImports(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::ListImportsRequest, v1::ListImportsReply>(
        serving_, context, "itemdb.v1.Imports/ListImports", request, reply,
        [this](v1::ListImportsRequest request, auto done, auto&&, const Caller& caller) {
          std::function<bool(std::string_view)> shows;
          if (caller.grants != nullptr)
            shows = [caller](std::string_view name) { return MaySeeTable(caller, name); };
          std::move(done)(database_.ListImports(request, shows));
        });
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeImportsService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<ImportsService>(database, serving);
}

}  // namespace itemdb::daemon
