// itemdb.v1.Changes.
#include "daemon/rpc/raw_call.h"
#include "daemon/server/services.h"
#include "daemon/streams/change_stream.h"
#include "itemdb/v1/changes.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawChanges = v1::Changes::WithRawCallbackMethod_ReadChanges<
    v1::Changes::WithRawCallbackMethod_Watch<v1::Changes::Service>>;

class ChangesService final : public RawChanges {
 public:
  ChangesService(storage::Database& database, ServingContext& serving)
      : database_(database), serving_(serving) {}

  grpc::ServerUnaryReactor* ReadChanges(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override {
    return ServeUnary<v1::ReadChangesRequest, v1::ReadChangesReply>(
        serving_, context, "itemdb.v1.Changes/ReadChanges", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.ReadChanges(request, std::move(done), std::move(cancellation));
        });
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Watch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request) override {
    return StartChangeStream(database_, serving_, context, request);
  }

 private:
  storage::Database& database_;
  ServingContext& serving_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeChangesService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<ChangesService>(database, serving);
}

}  // namespace itemdb::daemon
