#include "client/testing/local_database.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "client/error_payloads.h"
#include "client/testing/local_streams.h"
#include "storage/database.h"

namespace itemdb::testing {

absl::Status ForClient(const absl::Status& status) {
  ErrorFields fields{.reason = storage::ReasonOf(status),
                     .rule = storage::RuleOf(status),
                     .retry_after_ms = storage::RetryAfterMsOf(status)};
  if (fields.reason.empty()) fields.reason = absl::StatusCodeToString(status.code());
  absl::Status for_client(status.code(), status.message());
  AttachErrorFields(fields, for_client);
  return for_client;
}

namespace {

std::string Encode(const google::protobuf::MessageLite& reply) { return reply.SerializeAsString(); }
std::string Encode(const storage::Page& page) { return page.reply.SerializeAsString() + page.encoded_items; }
std::string Encode(const storage::StatementPage& page) {
  return page.reply.SerializeAsString() + page.encoded_items;
}

// Decodes the request, calls `operation(request, done)` and encodes the reply.
template <typename Request, typename Reply, typename Operation>
void Answer(const std::string& bytes, LocalDatabase::Done done, Operation operation) {
  Request request;
  if (!request.ParseFromString(bytes)) {
    return done(ForClient(storage::ValidationError("the request does not decode")));
  }
  operation(std::move(request), [done = std::move(done)](absl::StatusOr<Reply> reply) {
    if (!reply.ok()) return done(ForClient(reply.status()));
    done(Encode(*reply));
  });
}

class TemporaryDatabase : public LocalDatabase {
 public:
  ~TemporaryDatabase() override {
    database_.reset();
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }

  absl::Status Start() {
    const char* base = std::getenv("TMPDIR");
    std::string name = std::string(base != nullptr ? base : "/tmp") + "/itemdb-fake-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      return ForClient(storage::MakeError(
          absl::StatusCode::kInternal, storage::kReasonInternal,
          "no temporary directory " + name + " can be made: " + std::generic_category().message(errno)));
    }
    directory_ = name;
    storage::DatabaseOptions options;
    options.data_directory = directory_;
    // Small sizes, because a test may open many databases. The disk need not have the free space that a real
    // database requires.
    options.block_cache_bytes = 8 << 20;
    options.memtable_bytes = 8 << 20;
    options.free_space_floor_bytes = 0;
    options.io_threads = 1;
    options.log = std::make_shared<spdlog::logger>("itemdb", std::make_shared<spdlog::sinks::null_sink_mt>());
    absl::StatusOr<std::unique_ptr<storage::Database>> database = storage::Database::Open(std::move(options));
    if (!database.ok()) return ForClient(database.status());
    database_ = *std::move(database);
    return absl::OkStatus();
  }

  void Call(std::string_view method, const std::string& request, Done done) override {
    static const auto* methods = new std::map<std::string_view, Method>(Methods());
    const auto it = methods->find(method);
    if (it == methods->end()) {
      return done(ForClient(NoSuchMethod(method)));
    }
    it->second(this, request, std::move(done));
  }

  absl::StatusOr<std::unique_ptr<Stream>> OpenStream(std::string_view method) override {
    if (method == "/itemdb.v1.Data/QueryStream") {
      return std::make_unique<LocalPageStream>(*database_, &storage::Database::Query,
                                               &storage::Database::QuerySnapshot);
    }
    if (method == "/itemdb.v1.Data/ScanStream") {
      return std::make_unique<LocalPageStream>(*database_, &storage::Database::Scan,
                                               &storage::Database::ScanSnapshot);
    }
    if (method == "/itemdb.v1.Data/BulkWrite") return std::make_unique<LocalBulkStream>(*database_);
    if (method == "/itemdb.v1.Changes/Watch") return std::make_unique<LocalChangeStream>(*database_);
    return ForClient(NoSuchMethod(method));
  }

 private:
  static absl::Status NoSuchMethod(std::string_view method) {
    return storage::MakeError(absl::StatusCode::kUnimplemented, "UNIMPLEMENTED",
                              "the fake database has no method " + std::string(method));
  }

  using Method = void (*)(TemporaryDatabase*, const std::string&, Done);

  // All asynchronous operations of Database have one of the two signatures below.
  template <typename Request, typename Reply, auto kOperation>
  static void Asynchronous(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<Request, Reply>(request, std::move(done), [self](Request decoded, auto answer) {
      if constexpr (requires { (*self->database_.*kOperation)(std::move(decoded), std::move(answer)); }) {
        (*self->database_.*kOperation)(std::move(decoded), std::move(answer));
      } else {
        (*self->database_.*kOperation)(decoded, std::move(answer), /*cancellation=*/nullptr);
      }
    });
  }

  template <typename Request, typename Reply, auto kOperation>
  static void Synchronous(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<Request, Reply>(request, std::move(done), [self](const Request& decoded, auto answer) {
      answer((*self->database_.*kOperation)(decoded));
    });
  }

  static void GetStatus(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::GetStatusRequest, v1::GetStatusReply>(
        request, std::move(done), [self](const auto& decoded, auto answer) {
          v1::GetStatusReply status = self->database_->GetStatus(decoded);
          status.set_version("fake");
          status.set_start_time_us(absl::ToUnixMicros(self->start_time_));
          answer(std::move(status));
        });
  }

  static void DescribeLimits(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::DescribeLimitsRequest, v1::DescribeLimitsReply>(
        request, std::move(done),
        [self](const auto&, auto answer) { answer(self->database_->DescribeLimits()); });
  }

  static std::map<std::string_view, Method> Methods() {
    using D = storage::Database;
    using Write = wire::WriteItemRequest;
    using Written = wire::WriteItemReply;
    return {
        {"/itemdb.v1.Data/PutItem", &Asynchronous<Write, Written, &D::PutItem>},
        {"/itemdb.v1.Data/UpdateItem", &Asynchronous<Write, Written, &D::UpdateItem>},
        {"/itemdb.v1.Data/DeleteItem", &Asynchronous<Write, Written, &D::DeleteItem>},
        {"/itemdb.v1.Data/BatchWriteItem",
         &Asynchronous<wire::BatchWriteItemRequest, wire::BatchWriteItemReply, &D::BatchWriteItem>},
        {"/itemdb.v1.Data/TransactWriteItems",
         &Asynchronous<wire::TransactWriteItemsRequest, wire::TransactWriteItemsReply,
                       &D::TransactWriteItems>},
        {"/itemdb.v1.Data/GetItem", &Asynchronous<wire::GetItemRequest, wire::GetItemReply, &D::GetItem>},
        {"/itemdb.v1.Data/BatchGetItem",
         &Asynchronous<wire::BatchGetItemRequest, wire::BatchGetItemReply, &D::BatchGetItem>},
        {"/itemdb.v1.Data/TransactGetItems",
         &Asynchronous<wire::TransactGetItemsRequest, wire::TransactGetItemsReply, &D::TransactGetItems>},
        {"/itemdb.v1.Data/Query", &Asynchronous<wire::PageRequest, storage::Page, &D::Query>},
        {"/itemdb.v1.Data/Scan", &Asynchronous<wire::PageRequest, storage::Page, &D::Scan>},
        {"/itemdb.v1.Data/ExecuteStatement",
         &Asynchronous<wire::ExecuteStatementRequest, storage::StatementPage, &D::ExecuteStatement>},
        {"/itemdb.v1.Data/BatchExecuteStatement",
         &Asynchronous<wire::BatchExecuteStatementRequest, wire::BatchExecuteStatementReply,
                       &D::BatchExecuteStatement>},
        {"/itemdb.v1.Data/ExecuteTransaction",
         &Asynchronous<wire::ExecuteTransactionRequest, wire::ExecuteTransactionReply,
                       &D::ExecuteTransaction>},
        {"/itemdb.v1.Tables/CreateTable",
         &Asynchronous<v1::CreateTableRequest, v1::CreateTableReply, &D::CreateTable>},
        {"/itemdb.v1.Tables/DeleteTable",
         &Asynchronous<v1::DeleteTableRequest, v1::DeleteTableReply, &D::DeleteTable>},
        {"/itemdb.v1.Tables/UpdateTable",
         &Asynchronous<v1::UpdateTableRequest, v1::UpdateTableReply, &D::UpdateTable>},
        {"/itemdb.v1.Tables/TagTable", &Asynchronous<v1::TagTableRequest, v1::TagTableReply, &D::TagTable>},
        {"/itemdb.v1.Tables/UntagTable",
         &Asynchronous<v1::UntagTableRequest, v1::UntagTableReply, &D::UntagTable>},
        {"/itemdb.v1.Tables/UpdateTimeToLive",
         &Asynchronous<v1::UpdateTimeToLiveRequest, v1::UpdateTimeToLiveReply, &D::UpdateTimeToLive>},
        {"/itemdb.v1.Tables/DescribeTimeToLive",
         &Synchronous<v1::DescribeTimeToLiveRequest, v1::DescribeTimeToLiveReply, &D::DescribeTimeToLive>},
        {"/itemdb.v1.Tables/DescribeLimits", &TemporaryDatabase::DescribeLimits},
        {"/itemdb.v1.Tables/DescribeTable",
         &Synchronous<v1::DescribeTableRequest, v1::DescribeTableReply, &D::DescribeTable>},
        {"/itemdb.v1.Tables/ListTables",
         &Synchronous<v1::ListTablesRequest, v1::ListTablesReply, &D::ListTables>},
        {"/itemdb.v1.Changes/ReadChanges",
         &Asynchronous<v1::ReadChangesRequest, v1::ReadChangesReply, &D::ReadChanges>},
        {"/itemdb.v1.Admin/CheckDatabase",
         &Asynchronous<v1::CheckDatabaseRequest, v1::CheckDatabaseReply, &D::CheckDatabase>},
        {"/itemdb.v1.Admin/GetStatus", &TemporaryDatabase::GetStatus},
        {"/itemdb.v1.Admin/GetAccessPatterns",
         &Synchronous<v1::GetAccessPatternsRequest, v1::GetAccessPatternsReply, &D::GetAccessPatterns>},
    };
  }

  const absl::Time start_time_ = absl::Now();
  std::string directory_;
  std::unique_ptr<storage::Database> database_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LocalDatabase>> LocalDatabase::Open() {
  auto database = std::make_unique<TemporaryDatabase>();
  absl::Status started = database->Start();
  if (!started.ok()) return started;
  return std::unique_ptr<LocalDatabase>(std::move(database));
}

}  // namespace itemdb::testing
