// itemdb.v1.Data: reads and writes of items. Requests are parsed as itemdb.wire messages, which have the same
// wire format but leave items as bytes (tests/daemon/wire_twins_test.cc compares the two).
#include "daemon/server/database_calls.h"
#include "daemon/server/services.h"
#include "daemon/streams/bulk_stream.h"
#include "daemon/streams/page_stream.h"
#include "itemdb/v1/data.grpc.pb.h"

namespace itemdb::daemon {
namespace {

template <typename Base>
using RawWrites = v1::Data::WithRawCallbackMethod_PutItem<v1::Data::WithRawCallbackMethod_UpdateItem<
    v1::Data::WithRawCallbackMethod_DeleteItem<v1::Data::WithRawCallbackMethod_BatchWriteItem<
        v1::Data::WithRawCallbackMethod_TransactWriteItems<Base>>>>>;
template <typename Base>
using RawReads = v1::Data::WithRawCallbackMethod_GetItem<v1::Data::WithRawCallbackMethod_BatchGetItem<
    v1::Data::WithRawCallbackMethod_TransactGetItems<v1::Data::WithRawCallbackMethod_Query<
        v1::Data::WithRawCallbackMethod_Scan<v1::Data::WithRawCallbackMethod_SearchVectors<Base>>>>>>;

template <typename Base>
using RawStatements =
    v1::Data::WithRawCallbackMethod_ExecuteStatement<v1::Data::WithRawCallbackMethod_BatchExecuteStatement<
        v1::Data::WithRawCallbackMethod_ExecuteTransaction<Base>>>;

template <typename Base>
using RawStreams = v1::Data::WithRawCallbackMethod_QueryStream<
    v1::Data::WithRawCallbackMethod_ScanStream<v1::Data::WithRawCallbackMethod_BulkWrite<Base>>>;

class DataService final : public RawWrites<RawReads<RawStatements<RawStreams<v1::Data::Service>>>>,
                          private DatabaseCalls {
 public:
  DataService(storage::Database& database, ServingContext& serving) : DatabaseCalls(database, serving) {}

  UnaryReactor* PutItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/PutItem", request, reply, &Database::PutItem);
  }

  UnaryReactor* UpdateItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/UpdateItem", request, reply, &Database::UpdateItem);
  }

  UnaryReactor* DeleteItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/DeleteItem", request, reply, &Database::DeleteItem);
  }

  UnaryReactor* BatchWriteItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/BatchWriteItem", request, reply, &Database::BatchWriteItem);
  }

  UnaryReactor* TransactWriteItems(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/TransactWriteItems", request, reply, &Database::TransactWriteItems);
  }

  UnaryReactor* GetItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/GetItem", request, reply, &Database::GetItem);
  }

  UnaryReactor* BatchGetItem(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/BatchGetItem", request, reply, &Database::BatchGetItem);
  }

  UnaryReactor* TransactGetItems(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/TransactGetItems", request, reply, &Database::TransactGetItems);
  }

  UnaryReactor* Query(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/Query", request, reply, &Database::Query);
  }

  UnaryReactor* Scan(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/Scan", request, reply, &Database::Scan);
  }

  UnaryReactor* SearchVectors(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/SearchVectors", request, reply, &Database::SearchVectors);
  }

  UnaryReactor* ExecuteStatement(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/ExecuteStatement", request, reply, &Database::ExecuteStatement);
  }

  UnaryReactor* BatchExecuteStatement(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/BatchExecuteStatement", request, reply,
                 &Database::BatchExecuteStatement);
  }

  UnaryReactor* ExecuteTransaction(Context* context, const Bytes* request, Bytes* reply) override {
    return Serve(context, "itemdb.v1.Data/ExecuteTransaction", request, reply, &Database::ExecuteTransaction);
  }

  grpc::ServerWriteReactor<Bytes>* QueryStream(Context* context, const Bytes* request) override {
    return StartPageStream(serving_, context, "itemdb.v1.Data/QueryStream", request, [this](bool one_state) {
      return PagesOf(one_state, &Database::Query, &Database::QuerySnapshot);
    });
  }

  grpc::ServerWriteReactor<Bytes>* ScanStream(Context* context, const Bytes* request) override {
    return StartPageStream(serving_, context, "itemdb.v1.Data/ScanStream", request, [this](bool one_state) {
      return PagesOf(one_state, &Database::Scan, &Database::ScanSnapshot);
    });
  }

  grpc::ServerBidiReactor<Bytes, Bytes>* BulkWrite(Context* context) override {
    return StartBulkStream(database_, serving_, context, "itemdb.v1.Data/BulkWrite");
  }

 private:
  using ReadNow = void (Database::*)(const wire::PageRequest&, storage::Done<storage::Page>,
                                     storage::CancellationPtr);
  using ReadPinned = void (Database::*)(const storage::PinnedSnapshot&, const wire::PageRequest&,
                                        storage::Done<storage::Page>, storage::CancellationPtr);

  // With `one_state` all pages read one snapshot, pinned now; otherwise each page reads the current state.
  absl::StatusOr<ReadPageOf> PagesOf(bool one_state, ReadNow now, ReadPinned pinned) {
    Database* database = &database_;
    if (!one_state) {
      return [database, now](const auto& request, auto done, auto cancellation) {
        (database->*now)(request, std::move(done), std::move(cancellation));
      };
    }
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const storage::PinnedSnapshot> state, database->PinSnapshot());
    return [database, pinned, state](const auto& request, auto done, auto cancellation) {
      (database->*pinned)(*state, request, std::move(done), std::move(cancellation));
    };
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeDataService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<DataService>(database, serving);
}

}  // namespace itemdb::daemon
