#include "bench/backups.h"

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "bench/import_files.h"
#include "bench/items.h"
#include "bench/order_store.h"
#include "bench/percentiles.h"
#include "bench/seconds.h"
#include "bench/writers.h"
#include "storage/restore.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;
constexpr char kBackedUpTable[] = "items";
constexpr char kRestoredTable[] = "restored";
constexpr char kImportedTable[] = "imported";
constexpr char kBucket[] = "bucket";
constexpr double kBytesInMB = 1e6;
constexpr uint64_t kRewrittenPart = 100;
constexpr double kExportAndImportGoalSeconds = 20;
// Nothing takes longer.
constexpr double kLongestSeconds = 3'600;

// A row of the report.
struct MeasuredStep {
  std::string name;
  double seconds = 0;
  // 0: not measured.
  int64_t bytes = 0;
};

class BackupsRun {
 public:
  BackupsRun(Session& session, const BackupsOptions& options)
      : session_(session), options_(options), directory_(session.scratch.NewPath()) {}
  ~BackupsRun() {
    database_.reset();
    RemoveAll(directory_);
  }

  absl::Status Run() {
    ITEMDB_RETURN_IF_ERROR(Open());
    ITEMDB_RETURN_IF_ERROR(
        options_.imports ? Import()
                         : LoadItems(session_, "backups", *database_, kBackedUpTable, options_.items, 1));
    // With an archive, the database would make one itself after an import.
    ITEMDB_RETURN_IF_ERROR(Measure("full backup", [this] { return Backup(); }));
    ITEMDB_RETURN_IF_ERROR(EnableRecovery());
    ITEMDB_RETURN_IF_ERROR(AwaitArchive());
    ITEMDB_RETURN_IF_ERROR(MeasureBackups());
    ITEMDB_RETURN_IF_ERROR(MeasureLag());
    if (options_.imports) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(MeasureRestores());
    return MeasureExportAndImport();
  }

  void Report() const {
    TextTable table;
    table.title = "A table of " + std::to_string(options_.items) + " items of 300 bytes with " +
                  (options_.imports ? "two key-only global indexes" : "a global and a local index") +
                  ", in a database with an archive";
    table.columns = {"", "seconds", "MB"};
    std::vector<ordered_json> lines;
    for (const MeasuredStep& step : steps_) {
      table.rows.push_back({step.name, Figure(step.seconds), step.bytes == 0 ? "" : Megabytes(step.bytes)});
      lines.push_back(
          {{"figure", "backups"}, {"step", step.name}, {"seconds", step.seconds}, {"bytes", step.bytes}});
    }
    table.notes = {"Lag of the archive beside " + std::to_string(options_.writers) + " writers with " +
                       Figure(puts_per_second_) + " puts/s, ms: p50 " + Figure(lag_ms_.p50) + ", p99 " +
                       Figure(lag_ms_.p99) + ", longest " + Figure(lag_ms_.max) + ".",
                   "Goal for export and import of 1,000,000 items together: " +
                       Figure(kExportAndImportGoalSeconds) + " s.",
                   "MB of the incremental backup: its files that no earlier backup has."};
    lines.push_back({{"figure", "archive lag"},
                     {"puts_per_second", puts_per_second_},
                     {"p50_ms", lag_ms_.p50},
                     {"p99_ms", lag_ms_.p99},
                     {"max_ms", lag_ms_.max}});
    session_.report.Add(table, lines);
  }

 private:
  absl::Status Open() {
    std::filesystem::create_directories(directory_ + "/buckets/" + kBucket);
    storage::DatabaseOptions options = OptionsFor(directory_ + "/data", /*durable=*/true);
    options.backup_directory = directory_ + "/backups";
    // That of an imported table begins after its first backup, in the data directory.
    if (!options_.imports) options.archive_directory = directory_ + "/archive";
    options.export_directory = directory_ + "/buckets";
    ITEMDB_ASSIGN_OR_RETURN(database_, storage::Database::Open(std::move(options)));
    return options_.imports ? absl::OkStatus() : AwaitArchive();
  }

  // The files are deleted at once: they are as large as the table.
  absl::Status Import() {
    const std::string folder = directory_ + "/buckets/" + kBucket;
    session_.Progress("backups: writing the files of the import");
    ITEMDB_RETURN_IF_ERROR(WriteImportFiles(session_, folder, options_.items).status());
    ITEMDB_RETURN_IF_ERROR(Measure("import", [&]() -> absl::StatusOr<int64_t> {
      ITEMDB_RETURN_IF_ERROR(
          RunImport(session_, *database_, ImportOf(kBucket, kBackedUpTable, 2), options_.items));
      return 0;
    }));
    RemoveAll(folder);
    return absl::OkStatus();
  }

  // Runs `step` and adds a row with the time that it took.
  absl::Status Measure(const std::string& name, absl::FunctionRef<absl::StatusOr<int64_t>()> step) {
    ITEMDB_RETURN_IF_ERROR(session_.CheckInterrupted());
    session_.Progress("backups: " + name);
    const Clock::time_point begin = Clock::now();
    ITEMDB_ASSIGN_OR_RETURN(const int64_t bytes, step());
    steps_.push_back({name, SecondsSince(begin), bytes});
    return absl::OkStatus();
  }

  absl::Status Await(const std::string& what, absl::FunctionRef<absl::StatusOr<bool>()> is_done) {
    const Clock::time_point begin = Clock::now();
    while (SecondsSince(begin) < kLongestSeconds) {
      ITEMDB_RETURN_IF_ERROR(session_.CheckInterrupted());
      ITEMDB_ASSIGN_OR_RETURN(const bool done, is_done());
      if (done) return absl::OkStatus();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return absl::DeadlineExceededError(what + " did not end");
  }

  // Until any commit of now can be restored.
  absl::Status AwaitArchive() {
    return Await("the first backup", [this]() -> absl::StatusOr<bool> {
      const v1::GetStatusReply status = database_->GetStatus();
      return status.archive().change_sequence() >= status.change_sequence() &&
             status.archive().oldest_time_us() != 0 && !status.archive().needs_backup();
    });
  }

  absl::Status EnableRecovery() {
    v1::UpdateContinuousBackupsRequest request;
    request.set_table_name(kBackedUpTable);
    request.set_point_in_time_recovery_enabled(true);
    return bench::Await<v1::UpdateContinuousBackupsReply>(
               [&](auto done) { database_->UpdateContinuousBackups(request, std::move(done)); })
        .status();
  }

  int64_t BackupFolderBytes() const {
    int64_t bytes = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_ + "/backups", ignored))
      if (entry.is_regular_file(ignored)) bytes += static_cast<int64_t>(entry.file_size(ignored));
    return bytes;
  }

  // The bytes by which the folder of the backups grew.
  absl::StatusOr<int64_t> Backup() {
    const int64_t before = BackupFolderBytes();
    ITEMDB_RETURN_IF_ERROR(bench::Await<v1::DatabaseBackup>([this](auto done) {
                             database_->CreateDatabaseBackup({}, std::move(done), nullptr);
                           }).status());
    return BackupFolderBytes() - before;
  }

  absl::StatusOr<int64_t> Verify(bool proves) {
    v1::VerifyDatabaseBackupRequest request;
    request.set_by_restoring(proves);
    ITEMDB_ASSIGN_OR_RETURN(const auto backup, bench::Await<v1::DatabaseBackup>([&](auto done) {
                              database_->VerifyDatabaseBackup(request, std::move(done), nullptr);
                            }));
    return backup.size_bytes();
  }

  absl::Status MeasureBackups() {
    const uint64_t rewritten = std::max<uint64_t>(options_.items / kRewrittenPart, 1);
    for (uint64_t i = 0; i < rewritten; ++i) {
      wire::WriteItemRequest put;
      put.set_table_name(kBackedUpTable);
      put.set_key_or_item(EncodedItem(i * kRewrittenPart % options_.items, 1));
      // Puts of a single caller wait for the disk each.
      ITEMDB_RETURN_IF_ERROR(PutLater(std::move(put), i + 1 == rewritten));
    }
    ITEMDB_RETURN_IF_ERROR(Measure("backup after 1 % was written", [this] { return Backup(); }));
    ITEMDB_RETURN_IF_ERROR(Measure("backup with nothing new", [this] { return Backup(); }));
    ITEMDB_RETURN_IF_ERROR(
        Measure("its files compared with their checksums", [this] { return Verify(false); }));
    return Measure("it is restored and checked", [this] { return Verify(true); });
  }

  // At most kPutsInFlight puts are not answered.
  absl::Status PutLater(wire::WriteItemRequest put, bool is_last) {
    constexpr size_t kPutsInFlight = 256;
    auto promise = std::make_shared<std::promise<absl::Status>>();
    puts_.push_back(promise->get_future());
    database_->PutItem(
        put, [promise](absl::StatusOr<wire::WriteItemReply> reply) { promise->set_value(reply.status()); });
    if (puts_.size() < kPutsInFlight && !is_last) return absl::OkStatus();
    for (std::future<absl::Status>& answer : puts_) ITEMDB_RETURN_IF_ERROR(answer.get());
    puts_.clear();
    return absl::OkStatus();
  }

  absl::Status MeasureLag() {
    session_.Progress("backups: lag of the archive");
    Writers writers(*database_, kBackedUpTable, options_.writers, options_.items,
                    [](uint64_t item) { return EncodedItem(item, 1); });
    std::vector<double> lags_ms;
    const Clock::time_point begin = Clock::now();
    while (SecondsSince(begin) < options_.seconds) {
      ITEMDB_RETURN_IF_ERROR(session_.CheckInterrupted());
      lags_ms.push_back(static_cast<double>(database_->GetStatus().archive().lag_ms()));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const double seconds = SecondsSince(begin);
    writers.Stop();
    if (writers.failed()) return absl::InternalError("a put failed");
    puts_per_second_ = static_cast<double>(writers.latencies_ms().count) / seconds;
    lag_ms_ = PercentilesOf(std::move(lags_ms));
    return AwaitArchive();
  }

  absl::Status MeasureRestores() {
    ITEMDB_RETURN_IF_ERROR(
        Measure("database restored to its last commit", [this]() -> absl::StatusOr<int64_t> {
          const std::string restored = directory_ + "/restored";
          storage::RestoreOptions restore;
          restore.backup_directory = directory_ + "/backups";
          restore.archive_directory = directory_ + "/archive";
          restore.data_directory = restored;
          restore.log = OptionsFor(restored, true).log;
          ITEMDB_ASSIGN_OR_RETURN(const auto done, storage::RestoreDatabase(restore));
          {
            ITEMDB_ASSIGN_OR_RETURN(const auto opened, storage::Database::Open(OptionsFor(restored, true)));
            if (opened->GetStatus().change_sequence() != done.change_sequence)
              return absl::InternalError("the restored database is not what it should be");
          }
          RemoveAll(restored);
          return done.backup.size_bytes();
        }));
    return Measure("table restored to a point in time", [this]() -> absl::StatusOr<int64_t> {
      v1::RestoreTableToPointInTimeRequest request;
      request.set_source_table_name(kBackedUpTable);
      request.set_target_table_name(kRestoredTable);
      request.set_use_latest_restorable_time(true);
      ITEMDB_RETURN_IF_ERROR(bench::Await<v1::RestoreTableToPointInTimeReply>([&](auto done) {
                               database_->RestoreTableToPointInTime(request, std::move(done));
                             }).status());
      ITEMDB_RETURN_IF_ERROR(AwaitActive(kRestoredTable));
      return 0;
    });
  }

  absl::Status AwaitActive(const std::string& table) {
    ITEMDB_RETURN_IF_ERROR(Await("the table " + table, [&]() -> absl::StatusOr<bool> {
      v1::DescribeTableRequest request;
      request.set_table_name(table);
      ITEMDB_ASSIGN_OR_RETURN(const auto described, database_->DescribeTable(request));
      return described.table().table_status() == v1::TABLE_STATUS_ACTIVE;
    }));
    v1::DescribeTableRequest request;
    request.set_table_name(table);
    ITEMDB_ASSIGN_OR_RETURN(const auto described, database_->DescribeTable(request));
    if (described.table().item_count() != static_cast<int64_t>(options_.items))
      return absl::InternalError(table + " has " + std::to_string(described.table().item_count()) + " items");
    return absl::OkStatus();
  }

  absl::Status MeasureExportAndImport() {
    std::string data_prefix;
    ITEMDB_RETURN_IF_ERROR(Measure("export as DynamoDB JSON", [&]() -> absl::StatusOr<int64_t> {
      v1::ExportTableToPointInTimeRequest request;
      request.set_table_arn(std::string("arn:aws:dynamodb:local:000000000000:table/") + kBackedUpTable);
      request.set_s3_bucket(kBucket);
      ITEMDB_ASSIGN_OR_RETURN(const auto begun,
                              bench::Await<v1::ExportTableToPointInTimeReply>([&](auto done) {
                                database_->ExportTableToPointInTime(request, std::move(done));
                              }));
      v1::DescribeExportRequest describe;
      describe.set_export_arn(begun.description().export_arn());
      v1::ExportDescription description;
      ITEMDB_RETURN_IF_ERROR(Await("the export", [&]() -> absl::StatusOr<bool> {
        ITEMDB_ASSIGN_OR_RETURN(const auto reply, bench::Await<v1::DescribeExportReply>([&](auto done) {
                                  database_->DescribeExport(describe, std::move(done));
                                }));
        description = reply.description();
        return description.export_status() != v1::EXPORT_STATUS_IN_PROGRESS;
      }));
      if (description.export_status() != v1::EXPORT_STATUS_COMPLETED)
        return absl::InternalError(description.failure_message());
      const std::string manifest = description.export_manifest();
      data_prefix = manifest.substr(0, manifest.rfind('/')) + "/data/";
      int64_t bytes = 0;
      for (const auto& file :
           std::filesystem::directory_iterator(directory_ + "/buckets/" + kBucket + "/" + data_prefix))
        bytes += static_cast<int64_t>(file.file_size());
      return bytes;
    }));
    return Measure("import of it, with two global indexes", [&]() -> absl::StatusOr<int64_t> {
      v1::ImportTableRequest request;
      request.mutable_s3_bucket_source()->set_s3_bucket(kBucket);
      request.mutable_s3_bucket_source()->set_s3_key_prefix(data_prefix);
      request.set_input_format(v1::INPUT_FORMAT_DYNAMODB_JSON);
      request.set_input_compression_type(v1::INPUT_COMPRESSION_TYPE_GZIP);
      *request.mutable_table_creation_parameters() = ImportedTable();
      ITEMDB_ASSIGN_OR_RETURN(const auto begun, bench::Await<v1::ImportTableReply>([&](auto done) {
                                database_->ImportTable(request, std::move(done));
                              }));
      v1::DescribeImportRequest describe;
      describe.set_import_arn(begun.import().import_arn());
      v1::ImportDescription description;
      ITEMDB_RETURN_IF_ERROR(Await("the import", [&]() -> absl::StatusOr<bool> {
        ITEMDB_ASSIGN_OR_RETURN(const auto reply, database_->DescribeImport(describe));
        description = reply.import();
        return description.import_status() != v1::IMPORT_STATUS_IN_PROGRESS;
      }));
      if (description.import_status() != v1::IMPORT_STATUS_COMPLETED)
        return absl::InternalError(description.failure_message());
      ITEMDB_RETURN_IF_ERROR(AwaitActive(kImportedTable));
      return 0;
    });
  }

  // With a second global index instead of the local one, which imports do not have.
  static v1::CreateTableRequest ImportedTable() {
    v1::CreateTableRequest table = TableNamed(kImportedTable);
    v1::GlobalSecondaryIndex* index = table.add_global_secondary_indexes();
    index->set_index_name("by_rank");
    *index->mutable_key_schema() = table.local_secondary_indexes(0).key_schema();
    *index->mutable_projection() = table.local_secondary_indexes(0).projection();
    table.clear_local_secondary_indexes();
    return table;
  }

  static std::string Megabytes(int64_t bytes) { return Figure(static_cast<double>(bytes) / kBytesInMB); }

  Session& session_;
  const BackupsOptions options_;
  const std::string directory_;
  std::unique_ptr<storage::Database> database_;
  std::vector<std::future<absl::Status>> puts_;
  std::vector<MeasuredStep> steps_;
  double puts_per_second_ = 0;
  Percentiles lag_ms_;
};

}  // namespace

absl::Status RunBackups(Session& session, const BackupsOptions& options) {
  BackupsRun run(session, options);
  ITEMDB_RETURN_IF_ERROR(run.Run());
  session.Progress("");
  run.Report();
  return absl::OkStatus();
}

}  // namespace itemdb::bench
