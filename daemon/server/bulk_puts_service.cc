// itemdb.v1.BulkPuts.
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "itemdb/v1/bulk_puts.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using RawBulkPuts = v1::BulkPuts::WithRawCallbackMethod_StartBulkPutItems<
    v1::BulkPuts::WithRawCallbackMethod_DescribeBulkOperation<
        v1::BulkPuts::WithRawCallbackMethod_ListBulkOperations<
            v1::BulkPuts::WithRawCallbackMethod_CancelBulkOperation<v1::BulkPuts::Service>>>>;

class BulkPutsService final : public RawBulkPuts, private DatabaseCalls {
 public:
  BulkPutsService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* StartBulkPutItems(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.BulkPuts/StartBulkPutItems", request, reply,
                 &Database::StartBulkPutItems);
  }

  UnaryReactor* DescribeBulkOperation(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.BulkPuts/DescribeBulkOperation", request, reply,
                 &Database::DescribeBulkOperation);
  }

  // A caller with roles for some tables gets the operations on these.
  UnaryReactor* ListBulkOperations(Context* context, const Bytes* request, Bytes* reply) override {
    return ServeUnary<v1::ListBulkOperationsRequest, v1::ListBulkOperationsReply>(
        serving_, context, "itemdb.v1.BulkPuts/ListBulkOperations", request, reply,
        [this](v1::ListBulkOperationsRequest request, auto done, auto&&, const Caller& caller) {
          std::function<bool(std::string_view)> shows;
          if (caller.grants != nullptr)
            shows = [caller](std::string_view name) { return MaySeeTable(caller, name); };
          std::move(done)(database_.ListBulkOperations(request, shows));
        });
  }

  UnaryReactor* CancelBulkOperation(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.BulkPuts/CancelBulkOperation", request, reply,
                 &Database::CancelBulkOperation);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeBulkPutsService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<BulkPutsService>(database, serving);
}

}  // namespace itemdb::daemon
