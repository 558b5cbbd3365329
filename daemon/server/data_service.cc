// itemdb.v1.Data: reads and writes of items. Requests are parsed as itemdb.wire messages, which have the same
// wire format but leave items as bytes (tests/daemon/wire_twins_test.cc compares the two).
#include "daemon/rpc/raw_call.h"
#include "daemon/server/services.h"
#include "daemon/streams/bulk_stream.h"
#include "daemon/streams/page_stream.h"
#include "itemdb/v1/data.grpc.pb.h"

namespace itemdb::daemon {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

template <typename Base>
using RawWrites = v1::Data::WithRawCallbackMethod_PutItem<v1::Data::WithRawCallbackMethod_UpdateItem<
    v1::Data::WithRawCallbackMethod_DeleteItem<v1::Data::WithRawCallbackMethod_BatchWriteItem<
        v1::Data::WithRawCallbackMethod_TransactWriteItems<Base>>>>>;
template <typename Base>
using RawReads = v1::Data::WithRawCallbackMethod_GetItem<
    v1::Data::WithRawCallbackMethod_BatchGetItem<v1::Data::WithRawCallbackMethod_TransactGetItems<
        v1::Data::WithRawCallbackMethod_Query<v1::Data::WithRawCallbackMethod_Scan<Base>>>>>;

template <typename Base>
using RawStatements =
    v1::Data::WithRawCallbackMethod_ExecuteStatement<v1::Data::WithRawCallbackMethod_BatchExecuteStatement<
        v1::Data::WithRawCallbackMethod_ExecuteTransaction<Base>>>;

template <typename Base>
using RawStreams = v1::Data::WithRawCallbackMethod_QueryStream<
    v1::Data::WithRawCallbackMethod_ScanStream<v1::Data::WithRawCallbackMethod_BulkWrite<Base>>>;

class DataService final : public RawWrites<RawReads<RawStatements<RawStreams<v1::Data::Service>>>> {
 public:
  DataService(storage::Database& database, ServingContext& serving)
      : database_(database), serving_(serving) {}

  ServerUnaryReactor* PutItem(CallbackServerContext* context, const ByteBuffer* request,
                              ByteBuffer* reply) override {
    return ServeUnary<wire::WriteItemRequest, wire::WriteItemReply>(
        serving_, context, "itemdb.v1.Data/PutItem", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.PutItem(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* UpdateItem(CallbackServerContext* context, const ByteBuffer* request,
                                 ByteBuffer* reply) override {
    return ServeUnary<wire::WriteItemRequest, wire::WriteItemReply>(
        serving_, context, "itemdb.v1.Data/UpdateItem", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.UpdateItem(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* DeleteItem(CallbackServerContext* context, const ByteBuffer* request,
                                 ByteBuffer* reply) override {
    return ServeUnary<wire::WriteItemRequest, wire::WriteItemReply>(
        serving_, context, "itemdb.v1.Data/DeleteItem", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.DeleteItem(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* BatchWriteItem(CallbackServerContext* context, const ByteBuffer* request,
                                     ByteBuffer* reply) override {
    return ServeUnary<wire::BatchWriteItemRequest, wire::BatchWriteItemReply>(
        serving_, context, "itemdb.v1.Data/BatchWriteItem", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.BatchWriteItem(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* TransactWriteItems(CallbackServerContext* context, const ByteBuffer* request,
                                         ByteBuffer* reply) override {
    return ServeUnary<wire::TransactWriteItemsRequest, wire::TransactWriteItemsReply>(
        serving_, context, "itemdb.v1.Data/TransactWriteItems", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.TransactWriteItems(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* GetItem(CallbackServerContext* context, const ByteBuffer* request,
                              ByteBuffer* reply) override {
    return ServeUnary<wire::GetItemRequest, wire::GetItemReply>(
        serving_, context, "itemdb.v1.Data/GetItem", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.GetItem(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* BatchGetItem(CallbackServerContext* context, const ByteBuffer* request,
                                   ByteBuffer* reply) override {
    return ServeUnary<wire::BatchGetItemRequest, wire::BatchGetItemReply>(
        serving_, context, "itemdb.v1.Data/BatchGetItem", request, reply,
        [this](wire::BatchGetItemRequest&& request, auto done, auto cancellation) {
          database_.BatchGetItem(std::move(request), std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* TransactGetItems(CallbackServerContext* context, const ByteBuffer* request,
                                       ByteBuffer* reply) override {
    return ServeUnary<wire::TransactGetItemsRequest, wire::TransactGetItemsReply>(
        serving_, context, "itemdb.v1.Data/TransactGetItems", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.TransactGetItems(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* Query(CallbackServerContext* context, const ByteBuffer* request,
                            ByteBuffer* reply) override {
    return ServeUnary<wire::PageRequest, storage::Page>(
        serving_, context, "itemdb.v1.Data/Query", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.Query(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* Scan(CallbackServerContext* context, const ByteBuffer* request,
                           ByteBuffer* reply) override {
    return ServeUnary<wire::PageRequest, storage::Page>(
        serving_, context, "itemdb.v1.Data/Scan", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.Scan(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* ExecuteStatement(CallbackServerContext* context, const ByteBuffer* request,
                                       ByteBuffer* reply) override {
    return ServeUnary<wire::ExecuteStatementRequest, storage::StatementPage>(
        serving_, context, "itemdb.v1.Data/ExecuteStatement", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.ExecuteStatement(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* BatchExecuteStatement(CallbackServerContext* context, const ByteBuffer* request,
                                            ByteBuffer* reply) override {
    return ServeUnary<wire::BatchExecuteStatementRequest, wire::BatchExecuteStatementReply>(
        serving_, context, "itemdb.v1.Data/BatchExecuteStatement", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.BatchExecuteStatement(request, std::move(done), std::move(cancellation));
        });
  }

  ServerUnaryReactor* ExecuteTransaction(CallbackServerContext* context, const ByteBuffer* request,
                                         ByteBuffer* reply) override {
    return ServeUnary<wire::ExecuteTransactionRequest, wire::ExecuteTransactionReply>(
        serving_, context, "itemdb.v1.Data/ExecuteTransaction", request, reply,
        [this](const auto& request, auto done, auto cancellation) {
          database_.ExecuteTransaction(request, std::move(done), std::move(cancellation));
        });
  }

  grpc::ServerWriteReactor<ByteBuffer>* QueryStream(CallbackServerContext* context,
                                                    const ByteBuffer* request) override {
    return StartPageStream(serving_, context, "itemdb.v1.Data/QueryStream", request,
                           [this](bool one_state) { return QueryPages(one_state); });
  }

  grpc::ServerWriteReactor<ByteBuffer>* ScanStream(CallbackServerContext* context,
                                                   const ByteBuffer* request) override {
    return StartPageStream(serving_, context, "itemdb.v1.Data/ScanStream", request,
                           [this](bool one_state) { return ScanPages(one_state); });
  }

  grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>* BulkWrite(CallbackServerContext* context) override {
    return StartBulkStream(database_, serving_, context, "itemdb.v1.Data/BulkWrite");
  }

 private:
  // With `one_state` all pages read one snapshot, pinned now; otherwise each page reads the current state.
  absl::StatusOr<ReadPageOf> QueryPages(bool one_state) {
    storage::Database* database = &database_;
    if (!one_state) {
      return [database](const wire::PageRequest& request, storage::Done<storage::Page> done,
                        storage::CancellationPtr cancellation) {
        database->Query(request, std::move(done), std::move(cancellation));
      };
    }
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const storage::PinnedSnapshot> state, database->PinSnapshot());
    return [database, state](const wire::PageRequest& request, storage::Done<storage::Page> done,
                             storage::CancellationPtr cancellation) {
      database->QuerySnapshot(*state, request, std::move(done), std::move(cancellation));
    };
  }

  absl::StatusOr<ReadPageOf> ScanPages(bool one_state) {
    storage::Database* database = &database_;
    if (!one_state) {
      return [database](const wire::PageRequest& request, storage::Done<storage::Page> done,
                        storage::CancellationPtr cancellation) {
        database->Scan(request, std::move(done), std::move(cancellation));
      };
    }
    ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const storage::PinnedSnapshot> state, database->PinSnapshot());
    return [database, state](const wire::PageRequest& request, storage::Done<storage::Page> done,
                             storage::CancellationPtr cancellation) {
      database->ScanSnapshot(*state, request, std::move(done), std::move(cancellation));
    };
  }

  storage::Database& database_;
  ServingContext& serving_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeDataService(storage::Database& database, ServingContext& serving) {
  return std::make_unique<DataService>(database, serving);
}

}  // namespace itemdb::daemon
