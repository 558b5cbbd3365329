// itemdb.v1.Replication.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/replication.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawReplication = v1::Replication::WithRawCallbackMethod_ListReplicationFiles<
    v1::Replication::WithRawCallbackMethod_ReadReplicationFile<
        v1::Replication::WithRawCallbackMethod_FencePrimary<v1::Replication::Service>>>;

class ReplicationService final : public RawReplication, private DatabaseCalls {
 public:
  ReplicationService(storage::Database& database, ServingContext& serving)
      : DatabaseCalls(database, serving) {}

  UnaryReactor* ListReplicationFiles(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Replication/ListReplicationFiles", request, reply,
                 &Database::ListReplicationFiles);
  }

  UnaryReactor* ReadReplicationFile(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Replication/ReadReplicationFile", request, reply,
                 &Database::ReadReplicationFile);
  }

  UnaryReactor* FencePrimary(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Replication/FencePrimary", request, reply, &Database::FencePrimary);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeReplicationService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<ReplicationService>(database, serving);
}

}  // namespace itemdb::daemon
