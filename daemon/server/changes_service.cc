// itemdb.v1.Changes.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "daemon/streams/change_stream.h"
#include "itemdb/v1/changes.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawChanges =
    v1::Changes::WithRawCallbackMethod_ReadChanges<v1::Changes::WithRawCallbackMethod_HoldChanges<
        v1::Changes::WithRawCallbackMethod_ReleaseChanges<v1::Changes::WithRawCallbackMethod_UndoChanges<
            v1::Changes::WithRawCallbackMethod_Watch<v1::Changes::Service>>>>>;

class ChangesService final : public RawChanges, private DatabaseCalls {
 public:
  ChangesService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* ReadChanges(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Changes/ReadChanges", request, reply, &Database::ReadChanges);
  }

  UnaryReactor* HoldChanges(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Changes/HoldChanges", request, reply, &Database::HoldChanges);
  }

  UnaryReactor* ReleaseChanges(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Changes/ReleaseChanges", request, reply, &Database::ReleaseChanges);
  }

  UnaryReactor* UndoChanges(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Changes/UndoChanges", request, reply, &Database::UndoChanges);
  }

  grpc::ServerWriteReactor<Bytes>* Watch(Context* context, const Bytes* request) override {
    return StartChangeStream(database_, serving_, context, request);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeChangesService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<ChangesService>(database, serving);
}

}  // namespace itemdb::daemon
