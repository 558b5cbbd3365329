#include "storage/exports/table_exports.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "spdlog/spdlog.h"
#include "storage/backup/backup_operations.h"
#include "storage/backup/read_pace.h"
#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/base/uuid.h"
#include "storage/buckets/open_bucket.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/exports/export_filter.h"
#include "storage/exports/export_items.h"
#include "storage/exports/export_records.h"
#include "storage/exports/export_requests.h"
#include "storage/exports/export_writer.h"
#include "storage/loading/view_source.h"
#include "storage/schema/continuous_backups.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxWaitingExportCalls = 1'000;
constexpr int64_t kExportedItemsBetweenChecks = 1'024;
constexpr auto kExportExpiryInterval = std::chrono::hours(1);
constexpr auto kFailurePollInterval = std::chrono::milliseconds(100);
constexpr auto kRetryExportAfter = std::chrono::seconds(5);
// How often an export may fail for reasons that may pass, such as a reopened store.
constexpr int kMaxExportAttempts = 5;
constexpr int64_t kKeepExportsMs = int64_t{90} * 24 * 60 * 60 * 1'000;
constexpr int64_t kKeepTokensMs = int64_t{8} * 60 * 60 * 1'000;

// Whether `bucket` and the database share a file system, and so its free space.
bool SharesDisk(const Engine& engine, const Bucket& bucket) {
  struct stat data = {};
  return stat(engine.options().data_directory.c_str(), &data) == 0 && bucket.device() == data.st_dev;
}

std::string TableOf(const v1::StoredExport& stored) { return stored.table().table_name(); }

absl::Status ExportNotFoundError(const std::string& arn) {
  return WithRule("XPT-13", MakeError(absl::StatusCode::kNotFound, kReasonExportNotFound,
                                      "Export not found: Export not found: " + arn));
}

// The token of a page is the ARN of its last export.
std::string EncodeToken(const std::string& arn) { return absl::WebSafeBase64Escape(arn); }

absl::StatusOr<std::string> DecodeToken(const std::string& token) {
  std::string arn;
  if (!absl::WebSafeBase64Unescape(token, &arn) || !ParseExportArn(arn).ok())
    return ValidationError("XPT-14", "Invalid Request: Provided nextToken is invalid: " + token);
  return arn;
}

}  // namespace

TableExports::TableExports(Engine& engine, OpenPointInTime open_point_in_time)
    : engine_(engine),
      open_point_in_time_(std::move(open_point_in_time)),
      calls_(/*threads=*/1, kMaxWaitingExportCalls) {}

void TableExports::Start() {
  thread_.Start([this] { Loop(); });
  watcher_.Start([this] { ReleaseViewsOnFailure(); });
}

void TableExports::Stop() {
  cancellation_.Cancel();
  calls_.Stop();
  thread_.Stop();
  watcher_.Stop();
  ReleaseViews();
}

// ---- calls

template <typename Reply, typename Operation>
void TableExports::RunCall(Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    absl::StatusOr<Reply> reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (!calls_.Submit(task, IoPriority::kLong)) std::move (*shared_done)(IoPoolFullError());
}

void TableExports::ExportTableToPointInTime(v1::ExportTableToPointInTimeRequest request,
                                            Done<v1::ExportTableToPointInTimeReply> done) {
  RunCall<v1::ExportTableToPointInTimeReply>([this, request = std::move(request)] { return Export(request); },
                                             std::move(done));
}

absl::StatusOr<v1::ExportTableToPointInTimeReply> TableExports::Export(
    const v1::ExportTableToPointInTimeRequest& request) {
  // The order of errors is that of XPT-01.
  ITEMDB_RETURN_IF_ERROR(CheckExportShape(request));
  ExportFilter filter;
  if (request.has_filter_specification()) {
    ITEMDB_ASSIGN_OR_RETURN(filter, ExportFilter::Compile(request.filter_specification()));
  }
  ITEMDB_RETURN_IF_ERROR(ParseTableArn(request.table_arn()).status());
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  v1::ExportTableToPointInTimeReply reply;
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::ExportDescription> replay, FindReplay(*view, request));
  if (replay.has_value()) {
    *reply.mutable_description() = *std::move(replay);
    return reply;
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto table, FindTableForBackups(*view, request.table_arn()));
  ITEMDB_RETURN_IF_ERROR(CheckExportCouplings(request));
  ITEMDB_RETURN_IF_ERROR(filter.BindTo(*table));
  const int64_t now_ms = BackupClockMicros(engine_) / 1'000;
  const bool is_incremental = request.export_type() == v1::EXPORT_TYPE_INCREMENTAL_EXPORT;
  const v1::IncrementalExportSpecification& changes = request.incremental_export_specification();
  if (is_incremental)
    ITEMDB_RETURN_IF_ERROR(CheckExportWindow(changes, table->definition.creation_time_ms(), now_ms));
  if (!table->definition.has_point_in_time_recovery()) return PointInTimeRecoveryUnavailableError(*table);
  std::vector<RecoveryTimes> times;
  if (is_incremental || request.has_export_time_ms()) {
    ITEMDB_ASSIGN_OR_RETURN(times, FindRecoveryTimes(engine_, *table));
  }
  v1::StoredExport stored;
  if (is_incremental) {
    // The state before the first time must be one that can be restored.
    ITEMDB_RETURN_IF_ERROR(CheckExportTime(changes.export_from_time_ms() - 1, times));
    // Not the present state: what is committed at the last time or later belongs to the next export.
    const int64_t to_ms = changes.has_export_to_time_ms() ? changes.export_to_time_ms() : now_ms;
    stored.set_to_time_us(to_ms * 1'000 - 1);
  } else if (request.has_export_time_ms()) {
    ITEMDB_RETURN_IF_ERROR(CheckExportTime(request.export_time_ms(), times));
    // The last commit of that millisecond.
    stored.set_to_time_us(std::min(request.export_time_ms() * 1'000 + 999, BackupClockMicros(engine_)));
  }
  // Everything with a commit time before now_ms is in views that are taken after this.
  ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_, [](CommitGroup&) { return absl::OkStatus(); },
                                       {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees})
                             .status());
  std::shared_ptr<const ReadView> state;
  if (stored.to_time_us() == 0) {
    ITEMDB_ASSIGN_OR_RETURN(state, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(const auto same, FindTableForBackups(*state, request.table_arn()));
    // It was deleted and created again meanwhile.
    if (same->storage_id != table->storage_id) return TableNotFoundError(request.table_arn());
    stored.set_to_change(state->change_sequence());
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::StoredExport> others, FindExports(*view));
  const auto unfinished = std::count_if(others.begin(), others.end(), [](const v1::StoredExport& other) {
    return other.description().export_status() == v1::EXPORT_STATUS_IN_PROGRESS;
  });
  if (unfinished >= kMaxUnfinishedExports) {
    return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                     "Subscriber limit exceeded: Only " + std::to_string(kMaxUnfinishedExports) +
                         " exports can be done simultaneously",
                     1000);
  }
  v1::ExportDescription* description = stored.mutable_description();
  description->set_export_arn(
      ExportArnOf(table->name, absl::StrFormat("%014d-%s", now_ms, NewUuid().substr(0, 8))));
  description->set_export_status(v1::EXPORT_STATUS_IN_PROGRESS);
  description->set_start_time_ms(now_ms);
  description->set_table_id(table->definition.table_id());
  if (!is_incremental)
    description->set_export_time_ms(request.has_export_time_ms() ? request.export_time_ms() : now_ms);
  description->set_change_sequence(stored.to_change());
  *description->mutable_request() = ShownRequest(request);
  if (is_incremental && !changes.has_export_to_time_ms())
    description->mutable_request()->mutable_incremental_export_specification()->set_export_to_time_ms(now_ms);
  if (request.client_token().empty()) description->mutable_request()->set_client_token(NewUuid());
  *stored.mutable_table() = table->definition;
  *stored.mutable_request() = ComparedRequest(request);
  stored.mutable_request()->set_client_token(description->request().client_token());
  stored.set_database_id(engine_.database_id());
  // An export that begins again needs its state in the archive. A failing archive does not prevent an export
  // from the view.
  ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
  if (engine_.archive() != nullptr) (void)engine_.archive()->WriteNow();
  const std::string id = ExportIdOf(*description);
  if (state != nullptr) {
    MutexLock lock(mutex_);
    views_.emplace(id, std::move(state));
  }
  watcher_.Wake();
  absl::Status recorded = Record(stored, WriteSpace::kTakes);
  // With relaxed durability the record must not be lost by a power cut.
  if (recorded.ok()) recorded = engine_.SyncNow();
  if (!recorded.ok()) {
    ReleaseView(id);
    return recorded;
  }
  thread_.Wake();
  *reply.mutable_description() = *description;
  return reply;
}

absl::StatusOr<std::optional<v1::ExportDescription>> TableExports::FindReplay(
    const ReadView& view, const v1::ExportTableToPointInTimeRequest& request) {
  if (request.client_token().empty()) return std::nullopt;
  const int64_t since_ms = BackupClockMicros(engine_) / 1'000 - kKeepTokensMs;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<v1::StoredExport> exports, FindExports(view));
  for (const v1::StoredExport& stored : exports) {
    if (stored.request().client_token() != request.client_token() ||
        stored.description().start_time_ms() < since_ms)
      continue;
    if (google::protobuf::util::MessageDifferencer::Equals(stored.request(), ComparedRequest(request)))
      return stored.description();
    return WithRule("XPT-11",
                    MakeError(absl::StatusCode::kAlreadyExists, kReasonExportConflict,
                              "Export conflict: Duplicate request detected with conflicting parameters"));
  }
  return std::nullopt;
}

void TableExports::DescribeExport(v1::DescribeExportRequest request, Done<v1::DescribeExportReply> done) {
  RunCall<v1::DescribeExportReply>([this, request = std::move(request)] { return Describe(request); },
                                   std::move(done));
}

absl::StatusOr<v1::DescribeExportReply> TableExports::Describe(const v1::DescribeExportRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const ExportArn arn, ParseExportArn(request.export_arn()));
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::StoredExport> stored, FindExport(*view, arn.export_id));
  if (!stored.has_value() || TableOf(*stored) != arn.table_name)
    return ExportNotFoundError(request.export_arn());
  v1::DescribeExportReply reply;
  *reply.mutable_description() = std::move(*stored->mutable_description());
  return reply;
}

void TableExports::ListExports(v1::ListExportsRequest request, Shows shows, Done<v1::ListExportsReply> done) {
  RunCall<v1::ListExportsReply>(
      [this, request = std::move(request), shows = std::move(shows)] { return List(request, shows); },
      std::move(done));
}

absl::StatusOr<v1::ListExportsReply> TableExports::List(const v1::ListExportsRequest& request,
                                                        const Shows& shows) {
  const int64_t limit = request.has_max_results() ? request.max_results() : kDefaultListExports;
  if (limit < 1 || limit > kMaxListExports) {
    return ValidationError("XPT-14", "MaxResults must be 1 to " + std::to_string(kMaxListExports) +
                                         "; it is " + std::to_string(limit));
  }
  std::string start;
  if (!request.next_token().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(start, DecodeToken(request.next_token()));
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  const bool of_one_table = !request.table_arn().empty();
  std::string table_name;
  // The exports of an earlier table of the same name are left out, while there is a table of this name.
  std::string table_id;
  if (of_one_table) {
    ITEMDB_ASSIGN_OR_RETURN(table_name, ParseTableArn(request.table_arn()));
    const auto table = view->catalog().Find(table_name);
    if (table.ok()) table_id = (*table)->definition.table_id();
  }
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredExport> exports, FindExports(*view));
  std::erase_if(exports, [&](const v1::StoredExport& stored) {
    const std::string& arn = stored.description().export_arn();
    return (of_one_table && TableOf(stored) != table_name) ||
           (!table_id.empty() && stored.description().table_id() != table_id) ||
           (!start.empty() && (of_one_table ? arn >= start : arn <= start)) ||
           (shows != nullptr && !shows(TableOf(stored)));
  });
  std::sort(exports.begin(), exports.end(), [&](const v1::StoredExport& a, const v1::StoredExport& b) {
    const std::string& first = a.description().export_arn();
    const std::string& second = b.description().export_arn();
    return of_one_table ? second < first : first < second;
  });
  v1::ListExportsReply reply;
  const size_t count = std::min(exports.size(), static_cast<size_t>(limit));
  for (size_t i = 0; i < count; ++i) *reply.add_exports() = std::move(*exports[i].mutable_description());
  if (exports.size() > count) reply.set_next_token(EncodeToken(reply.exports().rbegin()->export_arn()));
  return reply;
}

// ---- the thread

void TableExports::Loop() {
  Time expire_at;  // At once.
  Time poll_at;
  while (thread_.WaitUntil(std::min(poll_at, expire_at))) {
    if (BackgroundThread::Clock::now() >= expire_at) {
      DeleteExpiredExports();
      expire_at = BackgroundThread::Clock::now() + kExportExpiryInterval;
    }
    poll_at = MakeExports();
  }
}

void TableExports::ReleaseViews() {
  // Destroyed after the lock is released: the last user of a store takes locks of the engine.
  Views released;
  MutexLock lock(mutex_);
  released.swap(views_);
}

void TableExports::ReleaseView(const std::string& id) {
  Views::node_type released;
  MutexLock lock(mutex_);
  released = views_.extract(id);
}

void TableExports::ReleaseViewsOnFailure() {
  Time poll_at = Time::max();
  while (watcher_.WaitUntil(poll_at)) {
    if (engine_.IsFailed()) ReleaseViews();
    MutexLock lock(mutex_);
    poll_at = views_.empty() ? Time::max() : BackgroundThread::Clock::now() + kFailurePollInterval;
  }
}

absl::StatusOr<std::optional<v1::StoredExport>> TableExports::FindNextExport() {
  // The view ends here: an export takes long, and the store cannot be reopened while there are views of it.
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredExport> exports, FindExports(*view));
  const auto next = std::find_if(exports.begin(), exports.end(), [](const v1::StoredExport& stored) {
    return stored.description().export_status() == v1::EXPORT_STATUS_IN_PROGRESS;
  });
  if (next == exports.end()) return std::nullopt;
  return std::move(*next);
}

TableExports::Time TableExports::MakeExports() {
  const auto retry_at = [] { return BackgroundThread::Clock::now() + kRetryExportAfter; };
  while (true) {
    absl::StatusOr<std::optional<v1::StoredExport>> next = FindNextExport();
    if (!next.ok()) {
      // UNAVAILABLE: the store is being reopened.
      if (!absl::IsUnavailable(next.status()))
        engine_.options().log->error("exports cannot be read error={}", MessageOf(next.status()));
      return retry_at();
    }
    if (!next->has_value()) return Time::max();
    // Nothing is written to a bucket for an export whose end cannot be recorded.
    if (!engine_.CheckWrites().ok()) return retry_at();
    v1::StoredExport stored = **std::move(next);
    const std::string id = ExportIdOf(stored.description());
    const std::string arn = stored.description().export_arn();
    const absl::StatusOr<v1::ExportDescription> made = MakeExport(stored);
    if (!cancellation_.Check().ok()) return Time::max();
    if (absl::IsUnavailable(made.status()) && ++attempts_[id] < kMaxExportAttempts) {
      engine_.options().log->warn("an export failed and will be retried export={} error={}", arn,
                                  MessageOf(made.status()));
      return retry_at();
    }
    if (made.ok()) {
      *stored.mutable_description() = *made;
    } else {
      v1::ExportDescription* description = stored.mutable_description();
      description->set_export_status(v1::EXPORT_STATUS_FAILED);
      description->set_end_time_ms(BackupClockMicros(engine_) / 1'000);
      description->set_failure_code(BucketFailureCode(made.status(), "UNKNOWN"));
      description->set_failure_message(EscapedUtf8(MessageOf(made.status())));
    }
    // The record replaces another one, so it takes no more space. On a full disk too the end must be told.
    if (const absl::Status recorded = Record(stored, WriteSpace::kFrees); !recorded.ok()) {
      // It may be recorded all the same, and then nobody asks for its view again.
      if (absl::IsUnknown(recorded)) ReleaseView(id);
      return retry_at();
    }
    attempts_.erase(id);
    ReleaseView(id);
    if (made.ok()) {
      engine_.options().log->info("export made export={} change_sequence={} items={}", arn,
                                  made->change_sequence(), made->item_count());
    } else {
      engine_.options().log->warn("export failed export={} error={}", arn, MessageOf(made.status()));
    }
  }
}

absl::Status TableExports::CheckExportGoesOn(bool shares_disk) const {
  ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
  if (engine_.IsFailed()) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the database is reopening after a failed write", 1000);
  }
  return shares_disk ? engine_.disk_space().CheckNow() : absl::OkStatus();
}

absl::StatusOr<PointInTime> TableExports::OpenSource(const v1::StoredExport& stored) {
  {
    MutexLock lock(mutex_);
    const auto view = views_.find(ExportIdOf(stored.description()));
    if (view != views_.end()) {
      return PointInTime{.source = std::make_unique<ViewSource>(view->second, MakeTable(stored.table())),
                         .change_sequence = stored.to_change()};
    }
  }
  v1::RestoringTable table;
  *table.mutable_definition() = stored.table();
  table.set_source_storage_id(stored.table().storage_id());
  table.set_to_change(stored.to_change());
  table.set_to_time_us(stored.to_time_us());
  return open_point_in_time_(table, State::kExported, cancellation_);
}

absl::StatusOr<PointInTime> TableExports::OpenFromSource(const v1::StoredExport& stored) {
  v1::RestoringTable table;
  *table.mutable_definition() = stored.table();
  table.set_source_storage_id(stored.table().storage_id());
  // The first time is included (XPT-04), so the state is the one before it.
  table.set_to_time_us(
      stored.description().request().incremental_export_specification().export_from_time_ms() * 1'000 - 1);
  return open_point_in_time_(table, State::kFrom, cancellation_);
}

absl::StatusOr<v1::ExportDescription> TableExports::MakeExport(const v1::StoredExport& stored) {
  if (stored.database_id() != engine_.database_id()) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, kReasonUnavailable,
        "the database was restored from a backup that was made while the export was in progress");
  }
  const v1::ExportTableToPointInTimeRequest& request = stored.description().request();
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Bucket> bucket,
                          OpenBucket(engine_.options(), request.s3_bucket(), cancellation_));
  const bool shares_disk = SharesDisk(engine_, *bucket);
  ITEMDB_RETURN_IF_ERROR(CheckExportGoesOn(shares_disk));
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<ExportWriter> writer, ExportWriter::Begin(*bucket, stored));
  ITEMDB_ASSIGN_OR_RETURN(const PointInTime state, OpenSource(stored));
  const Table table = MakeTable(stored.table());
  ExportFilter filter;
  if (request.has_filter_specification()) {
    ITEMDB_ASSIGN_OR_RETURN(filter, ExportFilter::Compile(request.filter_specification()));
    ITEMDB_RETURN_IF_ERROR(filter.BindTo(table));
  }
  const auto check = [&] { return CheckExportGoesOn(shares_disk); };
  ReadPace pace(engine_.options().backup_bytes_per_second);
  int64_t items = 0;
  const ExportJob job{.table = table,
                      .request = request,
                      .filter = filter,
                      .writer = *writer,
                      .before_item = [&](size_t bytes) -> absl::Status {
                        if (++items % kExportedItemsBetweenChecks == 0) ITEMDB_RETURN_IF_ERROR(check());
                        return pace.Wait(bytes, check);
                      }};
  ExportTotals totals;
  if (request.export_type() == v1::EXPORT_TYPE_INCREMENTAL_EXPORT) {
    ITEMDB_ASSIGN_OR_RETURN(const PointInTime from, OpenFromSource(stored));
    const ChangeStretch stretch{.after_change = from.change_sequence,
                                .through_change = state.change_sequence};
    ITEMDB_ASSIGN_OR_RETURN(totals,
                            ExportChanges(*from.source, *state.source, job, [&](const VisitLastWrite& visit) {
                              return VisitLastWrites(engine_, table, stretch, from.folder + "/last-writes-",
                                                     cancellation_, visit);
                            }));
  } else {
    ITEMDB_ASSIGN_OR_RETURN(totals, ExportItems(*state.source, job));
  }
  v1::ExportDescription description = stored.description();
  description.set_export_status(v1::EXPORT_STATUS_COMPLETED);
  description.set_end_time_ms(BackupClockMicros(engine_) / 1'000);
  description.set_change_sequence(state.change_sequence);
  description.set_item_count(totals.items);
  description.set_billed_size_bytes(totals.bytes);
  description.set_export_manifest(ExportFolderOf(description) + "manifest-summary.json");
  ITEMDB_RETURN_IF_ERROR(check());
  ITEMDB_RETURN_IF_ERROR(writer->Finish(description));
  return description;
}

absl::Status TableExports::Record(const v1::StoredExport& stored, WriteSpace space) {
  return CommitAndWait(engine_,
                       [&](CommitGroup& group) {
                         PutExport(stored, group);
                         return absl::OkStatus();
                       },
                       {.when_full = WhenFull::kWait, .space = space})
      .status();
}

void TableExports::DeleteExpiredExports() {
  const auto view = engine_.View();
  if (!view.ok()) return;
  const auto exports = FindExports(**view);
  if (!exports.ok()) return;
  const int64_t before_ms = BackupClockMicros(engine_) / 1'000 - kKeepExportsMs;
  std::vector<v1::StoredExport> expired;
  for (const v1::StoredExport& stored : *exports) {
    if (stored.description().start_time_ms() < before_ms &&
        stored.description().export_status() != v1::EXPORT_STATUS_IN_PROGRESS)
      expired.push_back(stored);
  }
  if (expired.empty()) return;
  // What cannot be deleted now is deleted an hour later.
  (void)CommitAndWait(engine_,
                      [&](CommitGroup& group) {
                        for (const v1::StoredExport& stored : expired) DeleteExport(stored, group);
                        return absl::OkStatus();
                      },
                      {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees});
}

}  // namespace itemdb::storage
