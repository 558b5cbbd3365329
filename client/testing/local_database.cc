#include "client/testing/local_database.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "absl/time/clock.h"
#include "client/error_payloads.h"
#include "client/testing/local_streams.h"
#include "common/status_macros.h"
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

  using Method = std::function<void(TemporaryDatabase*, const std::string&, Done)>;
  using D = storage::Database;

  // The methods that are one operation of Database: one function for each signature that operations have.
  template <typename Request, typename Reply>
  static Method Of(void (D::*operation)(Request, storage::Done<Reply>, storage::CancellationPtr)) {
    return [operation](TemporaryDatabase* self, const std::string& request, Done done) {
      Answer<std::remove_cvref_t<Request>, Reply>(request, std::move(done), [&](auto decoded, auto answer) {
        (*self->database_.*operation)(std::move(decoded), std::move(answer), /*cancellation=*/nullptr);
      });
    };
  }
  template <typename Request, typename Reply>
  static Method Of(void (D::*operation)(Request, storage::Done<Reply>)) {
    return [operation](TemporaryDatabase* self, const std::string& request, Done done) {
      Answer<Request, Reply>(request, std::move(done), [&](Request decoded, auto answer) {
        (*self->database_.*operation)(std::move(decoded), std::move(answer));
      });
    };
  }
  template <typename Request, typename Reply>
  static Method Of(absl::StatusOr<Reply> (D::*operation)(const Request&)) {
    return [operation](TemporaryDatabase* self, const std::string& request, Done done) {
      Answer<Request, Reply>(request, std::move(done), [&](const Request& decoded, auto answer) {
        answer((*self->database_.*operation)(decoded));
      });
    };
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

  static void ListTables(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::ListTablesRequest, v1::ListTablesReply>(
        request, std::move(done),
        [self](const auto& wanted, auto answer) { answer(self->database_->ListTables(wanted)); });
  }

  static void ListBackups(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::ListBackupsRequest, v1::ListBackupsReply>(
        request, std::move(done),
        [self](const auto& wanted, auto answer) { self->database_->ListBackups(wanted, std::move(answer)); });
  }

  static void ListExports(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::ListExportsRequest, v1::ListExportsReply>(
        request, std::move(done),
        [self](const auto& wanted, auto answer) { self->database_->ListExports(wanted, std::move(answer)); });
  }

  static void ListBulkOperations(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::ListBulkOperationsRequest, v1::ListBulkOperationsReply>(
        request, std::move(done),
        [self](const auto& wanted, auto answer) { answer(self->database_->ListBulkOperations(wanted)); });
  }

  static void ListImports(TemporaryDatabase* self, const std::string& request, Done done) {
    Answer<v1::ListImportsRequest, v1::ListImportsReply>(
        request, std::move(done),
        [self](const auto& wanted, auto answer) { answer(self->database_->ListImports(wanted)); });
  }

  static std::map<std::string_view, Method> Methods() {
    return {
        {"/itemdb.v1.Data/PutItem", Of(&D::PutItem)},
        {"/itemdb.v1.Data/UpdateItem", Of(&D::UpdateItem)},
        {"/itemdb.v1.Data/DeleteItem", Of(&D::DeleteItem)},
        {"/itemdb.v1.Data/BatchWriteItem", Of(&D::BatchWriteItem)},
        {"/itemdb.v1.Data/TransactWriteItems", Of(&D::TransactWriteItems)},
        {"/itemdb.v1.Data/GetItem", Of(&D::GetItem)},
        {"/itemdb.v1.Data/BatchGetItem", Of(&D::BatchGetItem)},
        {"/itemdb.v1.Data/TransactGetItems", Of(&D::TransactGetItems)},
        {"/itemdb.v1.Data/Query", Of(&D::Query)},
        {"/itemdb.v1.Data/Scan", Of(&D::Scan)},
        {"/itemdb.v1.Data/SearchVectors", Of(&D::SearchVectors)},
        {"/itemdb.v1.Data/ExecuteStatement", Of(&D::ExecuteStatement)},
        {"/itemdb.v1.Data/BatchExecuteStatement", Of(&D::BatchExecuteStatement)},
        {"/itemdb.v1.Data/ExecuteTransaction", Of(&D::ExecuteTransaction)},
        {"/itemdb.v1.Tables/CreateTable", Of(&D::CreateTable)},
        {"/itemdb.v1.Tables/DeleteTable", Of(&D::DeleteTable)},
        {"/itemdb.v1.Tables/UpdateTable", Of(&D::UpdateTable)},
        {"/itemdb.v1.Tables/TagTable", Of(&D::TagTable)},
        {"/itemdb.v1.Tables/UntagTable", Of(&D::UntagTable)},
        {"/itemdb.v1.Tables/UpdateTimeToLive", Of(&D::UpdateTimeToLive)},
        {"/itemdb.v1.Tables/DescribeTimeToLive", Of(&D::DescribeTimeToLive)},
        {"/itemdb.v1.Tables/UpdateContributorInsights", Of(&D::UpdateContributorInsights)},
        {"/itemdb.v1.Tables/DescribeContributorInsights", Of(&D::DescribeContributorInsights)},
        {"/itemdb.v1.Tables/ListContributorInsights", Of(&D::ListContributorInsights)},
        {"/itemdb.v1.Tables/DescribeLimits", &TemporaryDatabase::DescribeLimits},
        {"/itemdb.v1.Tables/DescribeTable", Of(&D::DescribeTable)},
        {"/itemdb.v1.Tables/ListTables", &TemporaryDatabase::ListTables},
        {"/itemdb.v1.Backups/CreateBackup", Of(&D::CreateBackup)},
        {"/itemdb.v1.Backups/DescribeBackup", Of(&D::DescribeBackup)},
        {"/itemdb.v1.Backups/ListBackups", &TemporaryDatabase::ListBackups},
        {"/itemdb.v1.Backups/DeleteBackup", Of(&D::DeleteBackup)},
        {"/itemdb.v1.Backups/RestoreTableFromBackup", Of(&D::RestoreTableFromBackup)},
        {"/itemdb.v1.Backups/RestoreTableToPointInTime", Of(&D::RestoreTableToPointInTime)},
        {"/itemdb.v1.Backups/DescribeContinuousBackups", Of(&D::DescribeContinuousBackups)},
        {"/itemdb.v1.Backups/UpdateContinuousBackups", Of(&D::UpdateContinuousBackups)},
        {"/itemdb.v1.Imports/ImportTable", Of(&D::ImportTable)},
        {"/itemdb.v1.Imports/DescribeImport", Of(&D::DescribeImport)},
        {"/itemdb.v1.Imports/ListImports", &TemporaryDatabase::ListImports},
        {"/itemdb.v1.BulkPuts/StartBulkPutItems", Of(&D::StartBulkPutItems)},
        {"/itemdb.v1.BulkPuts/DescribeBulkOperation", Of(&D::DescribeBulkOperation)},
        {"/itemdb.v1.BulkPuts/ListBulkOperations", &TemporaryDatabase::ListBulkOperations},
        {"/itemdb.v1.BulkPuts/CancelBulkOperation", Of(&D::CancelBulkOperation)},
        {"/itemdb.v1.Changes/ReadChanges", Of(&D::ReadChanges)},
        {"/itemdb.v1.Changes/HoldChanges", Of(&D::HoldChanges)},
        {"/itemdb.v1.Changes/ReleaseChanges", Of(&D::ReleaseChanges)},
        {"/itemdb.v1.Changes/UndoChanges", Of(&D::UndoChanges)},
        {"/itemdb.v1.Admin/CheckDatabase", Of(&D::CheckDatabase)},
        {"/itemdb.v1.Exports/ExportTableToPointInTime", Of(&D::ExportTableToPointInTime)},
        {"/itemdb.v1.Exports/DescribeExport", Of(&D::DescribeExport)},
        {"/itemdb.v1.Exports/ListExports", &TemporaryDatabase::ListExports},
        {"/itemdb.v1.Admin/CreateDatabaseBackup", Of(&D::CreateDatabaseBackup)},
        {"/itemdb.v1.Admin/ListDatabaseBackups", Of(&D::ListDatabaseBackups)},
        {"/itemdb.v1.Admin/VerifyDatabaseBackup", Of(&D::VerifyDatabaseBackup)},
        {"/itemdb.v1.Admin/DeleteDatabaseBackups", Of(&D::DeleteDatabaseBackups)},
        {"/itemdb.v1.Admin/ListDamage", Of(&D::ListDamage)},
        {"/itemdb.v1.Admin/DiscardDamagedItem", Of(&D::DiscardDamagedItem)},
        {"/itemdb.v1.Admin/Promote", Of(&D::Promote)},
        {"/itemdb.v1.Replication/ListReplicationFiles", Of(&D::ListReplicationFiles)},
        {"/itemdb.v1.Replication/ReadReplicationFile", Of(&D::ReadReplicationFile)},
        {"/itemdb.v1.Replication/FencePrimary", Of(&D::FencePrimary)},
        {"/itemdb.v1.Admin/GetStatus", &TemporaryDatabase::GetStatus},
        {"/itemdb.v1.Admin/GetAccessPatterns", Of(&D::GetAccessPatterns)},
        {"/itemdb.v1.Admin/GetTopKeys", Of(&D::GetTopKeys)},
    };
  }

  const absl::Time start_time_ = absl::Now();
  std::string directory_;
  std::unique_ptr<storage::Database> database_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LocalDatabase>> LocalDatabase::Open() {
  auto database = std::make_unique<TemporaryDatabase>();
  ITEMDB_RETURN_IF_ERROR(database->Start());
  return std::unique_ptr<LocalDatabase>(std::move(database));
}

}  // namespace itemdb::testing
