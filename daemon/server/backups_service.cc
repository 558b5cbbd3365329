// itemdb.v1.Backups.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/backups.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawRecovery = v1::Backups::WithRawCallbackMethod_DescribeContinuousBackups<
    v1::Backups::WithRawCallbackMethod_UpdateContinuousBackups<v1::Backups::Service>>;
using RawTableBackups =
    v1::Backups::WithRawCallbackMethod_CreateBackup<v1::Backups::WithRawCallbackMethod_DescribeBackup<
        v1::Backups::WithRawCallbackMethod_ListBackups<v1::Backups::WithRawCallbackMethod_DeleteBackup<
            v1::Backups::WithRawCallbackMethod_RestoreTableFromBackup<
                v1::Backups::WithRawCallbackMethod_RestoreTableToPointInTime<RawRecovery>>>>>>;

class BackupsService final : public RawTableBackups, private DatabaseCalls {
 public:
  BackupsService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* CreateBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/CreateBackup", request, reply, &Database::CreateBackup);
  }

  UnaryReactor* DescribeBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/DescribeBackup", request, reply, &Database::DescribeBackup);
  }

  // A caller with roles for some tables gets the backups of these.
  UnaryReactor* ListBackups(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::ListBackupsRequest, v1::ListBackupsReply>(
        serving_, context, "itemdb.v1.Backups/ListBackups", request, reply,
        [this](v1::ListBackupsRequest request, auto done, auto&&, const Caller& caller) {
          std::function<bool(std::string_view)> shows;
          if (caller.grants != nullptr)
            shows = [caller](std::string_view name) { return MaySeeTable(caller, name); };
          database_.ListBackups(std::move(request), std::move(done), std::move(shows));
        });
  }

  UnaryReactor* DeleteBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/DeleteBackup", request, reply, &Database::DeleteBackup);
  }

  UnaryReactor* RestoreTableFromBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/RestoreTableFromBackup", request, reply,
                 &Database::RestoreTableFromBackup);
  }

  UnaryReactor* RestoreTableToPointInTime(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/RestoreTableToPointInTime", request, reply,
                 &Database::RestoreTableToPointInTime);
  }

  UnaryReactor* DescribeContinuousBackups(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/DescribeContinuousBackups", request, reply,
                 &Database::DescribeContinuousBackups);
  }

  UnaryReactor* UpdateContinuousBackups(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Backups/UpdateContinuousBackups", request, reply,
                 &Database::UpdateContinuousBackups);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBackupsService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<BackupsService>(database, serving);
}

}  // namespace itemdb::daemon
