// itemdb.v1.Admin.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/admin.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawBackups = v1::Admin::WithRawCallbackMethod_CreateDatabaseBackup<
    v1::Admin::WithRawCallbackMethod_ListDatabaseBackups<
        v1::Admin::WithRawCallbackMethod_VerifyDatabaseBackup<
            v1::Admin::WithRawCallbackMethod_DeleteDatabaseBackups<v1::Admin::Service>>>>;
using RawDamage =
    v1::Admin::WithRawCallbackMethod_ListDamage<v1::Admin::WithRawCallbackMethod_DiscardDamagedItem<
        v1::Admin::WithRawCallbackMethod_Promote<RawBackups>>>;
using RawAdmin = v1::Admin::WithRawCallbackMethod_GetStatus<
    v1::Admin::WithRawCallbackMethod_CheckDatabase<v1::Admin::WithRawCallbackMethod_GetAccessPatterns<
        v1::Admin::WithRawCallbackMethod_GetTopKeys<RawDamage>>>>;

class AdminService final : public RawAdmin, private DatabaseCalls {
 public:
  AdminService(storage::Database& database, ServingContext& serving, const DaemonInfo& info)
      : DatabaseCalls(database, serving), info_(info) {}

  UnaryReactor* GetStatus(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::GetStatusRequest, v1::GetStatusReply>(
        serving_, context, "itemdb.v1.Admin/GetStatus", request, reply,
        [this](const auto& request, auto done, auto) {
          std::move(done)(GetDaemonStatus(request, database_, serving_, info_));
        });
  }

  UnaryReactor* CheckDatabase(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/CheckDatabase", request, reply, &Database::CheckDatabase);
  }

  UnaryReactor* GetAccessPatterns(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/GetAccessPatterns", request, reply, &Database::GetAccessPatterns);
  }

  UnaryReactor* GetTopKeys(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/GetTopKeys", request, reply, &Database::GetTopKeys);
  }

  UnaryReactor* CreateDatabaseBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/CreateDatabaseBackup", request, reply,
                 &Database::CreateDatabaseBackup);
  }

  UnaryReactor* ListDatabaseBackups(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/ListDatabaseBackups", request, reply,
                 &Database::ListDatabaseBackups);
  }

  UnaryReactor* VerifyDatabaseBackup(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/VerifyDatabaseBackup", request, reply,
                 &Database::VerifyDatabaseBackup);
  }

  UnaryReactor* DeleteDatabaseBackups(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/DeleteDatabaseBackups", request, reply,
                 &Database::DeleteDatabaseBackups);
  }

  UnaryReactor* ListDamage(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/ListDamage", request, reply, &Database::ListDamage);
  }

  UnaryReactor* DiscardDamagedItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/DiscardDamagedItem", request, reply,
                 &Database::DiscardDamagedItem);
  }

  UnaryReactor* Promote(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Admin/Promote", request, reply, &Database::Promote);
  }

 private:
  const DaemonInfo info_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(storage::Database& database, ServingContext& serving,
                                                const DaemonInfo& info) {
  return std::make_unique<AdminService>(database, serving, info);
}

}  // namespace itemdb::daemon
