#include "storage/bulk_puts/bulk_puts.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "spdlog/spdlog.h"
#include "storage/base/hex.h"
#include "storage/base/limits.h"
#include "storage/base/table_arn.h"
#include "storage/base/uuid.h"
#include "storage/bulk_puts/bulk_records.h"
#include "storage/bulk_puts/bulk_report.h"
#include "storage/bulk_puts/bulk_requests.h"
#include "storage/catalog/catalog.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/schema/restoring_tables.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxWaitingBulkCalls = 1'000;
constexpr auto kRetryBulkPutAfter = std::chrono::seconds(5);
constexpr size_t kRecordsDeletedAtOnce = 1'000;
constexpr int64_t kHourOfBulkPutsMs = int64_t{60} * 60 * 1'000;
// The service's tokens have a multiple of 16 hexadecimal digits.
constexpr size_t kBulkTokenDigits = 48;

// How often the report may fail, besides when the disk is full, before the operation ends without it.
constexpr int kMaxReportAttempts = 5;

int64_t BulkClockMs(Engine& engine) { return engine.time_of_day().NowMicros() / 1'000; }

absl::Status BulkOperationNotFoundError(std::string_view arn) {
  return WithRule("BLK-09",
                  NotFoundError("Requested resource not found: Bulk operation: " + std::string(arn)));
}

absl::Status BulkTableInUseError(const std::string& message) {
  return WithRule("BLK-05", MakeError(absl::StatusCode::kAlreadyExists, kReasonResourceInUse,
                                      "Attempt to change a resource which is still in use: " + message));
}

std::string EncodeBulkToken(const std::string& id) {
  std::string token = absl::BytesToHexString(id);
  token.resize(kBulkTokenDigits, '0');
  return token;
}

absl::StatusOr<std::string> DecodeBulkToken(const std::string& token) {
  constexpr size_t kIdBytes = 23;
  const bool is_hex = token.size() == kBulkTokenDigits && std::all_of(token.begin(), token.end(), [](char c) {
                        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                      });
  std::string id = is_hex ? FromHex(std::string_view(token).substr(0, 2 * kIdBytes)) : "";
  if (!IsArnId(id)) return ValidationError("BLK-09", "Invalid Request: Provided NextToken is invalid");
  return id;
}

// The table of a new operation (BLK-05).
absl::StatusOr<std::shared_ptr<const Table>> FindTableForBulkPut(const ReadView& view,
                                                                 const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(const auto restoring, FindRestoringTable(view, name));
  if (restoring.has_value()) return BulkTableInUseError("Table is being created: " + name);
  ITEMDB_ASSIGN_OR_RETURN(auto table, view.catalog().Find(name));
  for (const Index& index : table->indexes) {
    if (index.state != IndexState::kActive)
      return BulkTableInUseError("Index is being created: " + index.name + " of table " + name);
  }
  return table;
}

void SetBulkCounts(const v1::StoredBulkProgress& progress, v1::BulkOperationDescription* description) {
  if (progress.listed()) description->set_total_input_bytes(progress.total_input_bytes());
  description->set_processed_input_bytes(progress.ended_objects_bytes() + progress.object_bytes());
  description->set_written_item_count(progress.written_item_count());
  description->set_failed_item_count(progress.failed_item_count());
  description->set_condition_check_failure_count(progress.condition_check_failure_count());
  description->set_processed_item_count(progress.written_item_count() + progress.failed_item_count() +
                                        progress.condition_check_failure_count());
}

// Errors after which another attempt to write the report would fail too.
bool IsLastingReportError(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsPermissionDenied(status) || absl::IsDataLoss(status);
}

}  // namespace

BulkPuts::BulkPuts(Engine& engine) : engine_(engine), calls_(/*threads=*/1, kMaxWaitingBulkCalls) {}

void BulkPuts::Start() {
  thread_.Start([this] { Loop(); });
}

void BulkPuts::Stop() {
  cancellation_.Cancel();
  calls_.Stop();
  thread_.Stop();
}

// ---- calls

template <typename Reply, typename Operation>
void BulkPuts::RunCall(Operation operation, Done<Reply> done) {
  auto shared_done = std::make_shared<Done<Reply>>(std::move(done));
  IoPool::Task task = [operation = std::move(operation), shared_done]() mutable {
    absl::StatusOr<Reply> reply = operation();
    std::move (*shared_done)(std::move(reply));
  };
  if (!calls_.Submit(task, IoPriority::kLong)) std::move (*shared_done)(IoPoolFullError());
}

void BulkPuts::StartBulkPutItems(v1::StartBulkPutItemsRequest request,
                                 Done<v1::StartBulkPutItemsReply> done) {
  RunCall<v1::StartBulkPutItemsReply>([this, request = std::move(request)] { return Begin(request); },
                                      std::move(done));
}

void BulkPuts::CancelBulkOperation(v1::CancelBulkOperationRequest request,
                                   Done<v1::CancelBulkOperationReply> done) {
  RunCall<v1::CancelBulkOperationReply>([this, request = std::move(request)] { return Cancel(request); },
                                        std::move(done));
}

absl::StatusOr<v1::StartBulkPutItemsReply> BulkPuts::Begin(v1::StartBulkPutItemsRequest request) {
  ITEMDB_RETURN_IF_ERROR(engine_.WriteRefusal());
  v1::StoredBulkOperation stored;
  ITEMDB_ASSIGN_OR_RETURN(*stored.mutable_request(), CheckedBulkRequest(std::move(request)));
  const std::string& name = stored.request().table_name();
  v1::StartBulkPutItemsReply reply;
  v1::BulkOperationDescription& description = *reply.mutable_description();
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(auto replay, FindReplay(*view, stored.request()));
    if (replay.has_value()) {
      description = *std::move(replay);
      return reply;
    }
    ITEMDB_ASSIGN_OR_RETURN(const auto table, FindTableForBulkPut(*view, name));
    ITEMDB_RETURN_IF_ERROR(CheckRoom(*view));
    description = DescriptionOf(stored.request());
    description.set_table_arn(TableArn(name));
    description.set_table_id(table->definition.table_id());
    stored.set_storage_id(table->storage_id);
  }
  DeleteExpired();
  const int64_t now_ms = BulkClockMs(engine_);
  description.set_bulk_operation_arn(
      BulkOperationArnOf(name, absl::StrFormat("%014d-%s", now_ms, NewUuid().substr(0, 8))));
  description.set_start_time_ms(now_ms);
  if (description.client_token().empty()) description.set_client_token(NewUuid());
  stored.mutable_request()->set_client_token(description.client_token());
  *stored.mutable_description() = description;
  stored.set_database_id(engine_.database_id());
  const absl::Status begun = CommitAndWait(engine_, [&](CommitGroup& group) {
                               PutBulkOperation(stored, group);
                               return absl::OkStatus();
                             }).status();
  // Also after an error: its outcome may be unknown.
  thread_.Wake();
  ITEMDB_RETURN_IF_ERROR(begun);
  return reply;
}

absl::StatusOr<std::optional<v1::BulkOperationDescription>> BulkPuts::FindReplay(
    const ReadView& view, const v1::StartBulkPutItemsRequest& checked) const {
  if (checked.client_token().empty()) return std::nullopt;
  const int64_t since_ms = BulkClockMs(engine_) - kBulkTokenHours * kHourOfBulkPutsMs;
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredBulkOperation> operations, FindBulkOperations(view));
  for (v1::StoredBulkOperation& stored : operations) {
    if (stored.request().client_token() != checked.client_token() ||
        stored.description().start_time_ms() < since_ms)
      continue;
    if (!google::protobuf::util::MessageDifferencer::Equals(stored.request(), checked)) {
      return WithRule("BLK-04",
                      MakeError(absl::StatusCode::kInvalidArgument, kReasonIdempotentParameterMismatch,
                                "The client token " + checked.client_token() +
                                    " was used for a bulk put with other parameters"));
    }
    ITEMDB_RETURN_IF_ERROR(AddProgress(view, stored.mutable_description()));
    return std::move(*stored.mutable_description());
  }
  return std::nullopt;
}

absl::Status BulkPuts::CheckRoom(const ReadView& view) const {
  ITEMDB_ASSIGN_OR_RETURN(const auto operations, FindBulkOperations(view));
  const auto unfinished =
      std::count_if(operations.begin(), operations.end(),
                    [](const v1::StoredBulkOperation& stored) { return IsUnfinished(stored.description()); });
  if (unfinished < kMaxUnfinishedBulkPuts) return absl::OkStatus();
  return WithRule("BLK-10",
                  MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                            "Subscriber limit exceeded: Only " + std::to_string(kMaxUnfinishedBulkPuts) +
                                " bulk operations can run simultaneously"));
}

absl::StatusOr<v1::BulkOperationDescription> BulkPuts::FindShown(const ReadView& view,
                                                                 const std::string& arn) const {
  ITEMDB_ASSIGN_OR_RETURN(const BulkOperationArn parsed, ParseBulkOperationArn(arn));
  ITEMDB_ASSIGN_OR_RETURN(auto stored, FindBulkOperation(view, parsed.operation_id));
  if (!stored.has_value() || stored->description().bulk_operation_arn() != arn ||
      IsExpired(stored->description()))
    return BulkOperationNotFoundError(arn);
  ITEMDB_RETURN_IF_ERROR(AddProgress(view, stored->mutable_description()));
  return std::move(*stored->mutable_description());
}

absl::Status BulkPuts::AddProgress(const ReadView& view, v1::BulkOperationDescription* description) const {
  if (!IsUnfinished(*description)) return absl::OkStatus();
  const std::string id = BulkOperationIdOf(*description);
  ITEMDB_ASSIGN_OR_RETURN(const auto progress, FindBulkProgress(view, id));
  if (progress.has_value()) SetBulkCounts(*progress, description);
  ITEMDB_ASSIGN_OR_RETURN(const bool is_cancelled, IsBulkCancelled(view, id));
  if (is_cancelled) description->set_bulk_operation_status(v1::BULK_OPERATION_STATUS_CANCELLING);
  return absl::OkStatus();
}

absl::StatusOr<v1::DescribeBulkOperationReply> BulkPuts::DescribeBulkOperation(
    const v1::DescribeBulkOperationRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  v1::DescribeBulkOperationReply reply;
  ITEMDB_ASSIGN_OR_RETURN(*reply.mutable_description(), FindShown(*view, request.bulk_operation_arn()));
  return reply;
}

absl::StatusOr<v1::CancelBulkOperationReply> BulkPuts::Cancel(const v1::CancelBulkOperationRequest& request) {
  ITEMDB_RETURN_IF_ERROR(engine_.WriteRefusal());
  v1::CancelBulkOperationReply reply;
  std::string id;
  {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(const v1::BulkOperationDescription shown,
                            FindShown(*view, request.bulk_operation_arn()));
    reply.set_bulk_operation_arn(shown.bulk_operation_arn());
    reply.set_bulk_operation_status(shown.bulk_operation_status());
    if (!IsUnfinished(shown)) return reply;
    id = BulkOperationIdOf(shown);
  }
  // The operation may end meanwhile. Then the record is left over, and has no meaning.
  const absl::Status cancelled = CommitAndWait(engine_,
                                               [&](CommitGroup& group) {
                                                 PutBulkCancellation(id, group);
                                                 return absl::OkStatus();
                                               },
                                               {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees})
                                     .status();
  thread_.Wake();
  ITEMDB_RETURN_IF_ERROR(cancelled);
  reply.set_bulk_operation_status(v1::BULK_OPERATION_STATUS_CANCELLING);
  return reply;
}

absl::StatusOr<v1::ListBulkOperationsReply> BulkPuts::ListBulkOperations(
    const v1::ListBulkOperationsRequest& request,
    const std::function<bool(std::string_view table_name)>& shows) {
  const int limit = request.has_max_results() ? request.max_results() : kDefaultListBulkOperations;
  if (limit < 1 || limit > kMaxListBulkOperations) {
    return ValidationError("BLK-09", "MaxResults must be 1 to " + std::to_string(kMaxListBulkOperations) +
                                         "; it is " + std::to_string(limit));
  }
  std::string before;
  if (!request.next_token().empty()) {
    ITEMDB_ASSIGN_OR_RETURN(before, DecodeBulkToken(request.next_token()));
  }
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredBulkOperation> operations, FindBulkOperations(*view));
  v1::ListBulkOperationsReply reply;
  std::string last_id;
  for (auto stored = operations.rbegin(); stored != operations.rend(); ++stored) {
    v1::BulkOperationDescription& description = *stored->mutable_description();
    const std::string id = BulkOperationIdOf(description);
    if ((!before.empty() && id >= before) || IsExpired(description) ||
        (shows != nullptr && !shows(stored->request().table_name())))
      continue;
    if (reply.operations_size() == limit) {
      reply.set_next_token(EncodeBulkToken(last_id));
      break;
    }
    ITEMDB_RETURN_IF_ERROR(AddProgress(*view, &description));
    *reply.add_operations() = std::move(description);
    last_id = id;
  }
  return reply;
}

bool BulkPuts::IsExpired(const v1::BulkOperationDescription& description) const {
  return description.end_time_ms() != 0 &&
         description.end_time_ms() + kBulkOperationDays * 24 * kHourOfBulkPutsMs < BulkClockMs(engine_);
}

void BulkPuts::DeleteExpired() {
  const auto view = engine_.View();
  if (!view.ok()) return;
  const auto operations = FindBulkOperations(**view);
  if (!operations.ok()) return;
  std::vector<std::string> expired;
  for (const v1::StoredBulkOperation& stored : *operations)
    if (IsExpired(stored.description())) expired.push_back(BulkOperationIdOf(stored.description()));
  if (expired.empty()) return;
  // What cannot be deleted now is deleted when the next operation begins.
  (void)CommitAndWait(engine_, [&](CommitGroup& group) {
    for (const std::string& id : expired) {
      DeleteBulkOperation(id, group);
      DeleteBulkProgress(id, group);
    }
    return absl::OkStatus();
  });
}

// ---- the thread

void BulkPuts::Loop() {
  Time poll_at;  // At once.
  while (thread_.WaitUntil(poll_at)) poll_at = MakeAll();
}

BulkPuts::Time BulkPuts::MakeAll() {
  for (;;) {
    absl::StatusOr<std::optional<v1::StoredBulkOperation>> next = FindNext();
    if (next.ok() && !next->has_value()) return Time::max();
    const absl::Status made = next.ok() ? Make(**next) : next.status();
    if (!cancellation_.Check().ok()) return Time::max();
    if (made.ok()) {
      paused_reason_.clear();
      continue;
    }
    // While the store is being reopened, nothing is logged.
    if (!engine_.IsFailed() && !absl::IsUnknown(made) && paused_reason_ != MessageOf(made)) {
      paused_reason_ = MessageOf(made);
      engine_.options().log->warn("bulk puts do not go on for now error={}", paused_reason_);
    }
    return BackgroundThread::Clock::now() + kRetryBulkPutAfter;
  }
}

absl::StatusOr<std::optional<v1::StoredBulkOperation>> BulkPuts::FindNext() {
  // The view ends here: an operation takes long, and the store cannot be reopened while there are views of
  // it.
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<v1::StoredBulkOperation> operations, FindBulkOperations(*view));
  for (v1::StoredBulkOperation& stored : operations) {
    bool has_work = IsUnfinished(stored.description());
    if (!has_work) {
      ITEMDB_ASSIGN_OR_RETURN(const auto keys,
                              FindBulkWork(*view, BulkOperationIdOf(stored.description()), /*max_keys=*/1));
      has_work = !keys.empty();
    }
    if (has_work) return std::move(stored);
  }
  return std::nullopt;
}

absl::Status BulkPuts::Make(const v1::StoredBulkOperation& stored) {
  // Nothing is read for what cannot be put.
  ITEMDB_RETURN_IF_ERROR(engine_.CheckWrites());
  const std::string id = BulkOperationIdOf(stored.description());
  if (!IsUnfinished(stored.description())) return DeleteWork(id);
  ITEMDB_ASSIGN_OR_RETURN(BulkOutcome outcome,
                          RunBulkPut({.engine = engine_,
                                      .operation = stored,
                                      .cancellation = cancellation_,
                                      .bucket_failures = bucket_failures_,
                                      .wait = [this](Time time) { return thread_.WaitUntil(time); }}));
  ITEMDB_RETURN_IF_ERROR(Finish(stored, std::move(outcome)));
  return DeleteWork(id);
}

absl::Status BulkPuts::Finish(v1::StoredBulkOperation stored, BulkOutcome outcome) {
  v1::BulkOperationDescription& description = *stored.mutable_description();
  description.set_bulk_operation_status(outcome.status);
  description.set_failure_code(outcome.failure_code);
  description.set_failure_message(outcome.failure_message);
  description.set_end_time_ms(BulkClockMs(engine_));
  SetBulkCounts(outcome.progress, &description);
  if (outcome.progress.listed()) {
    const absl::Status written = WriteBulkReport(
        engine_, description, outcome.progress.next_report(),
        [this]() -> absl::Status {
          ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
          // The export directory may be on the disk of the data.
          return engine_.disk_space().CheckNow();
        },
        cancellation_);
    ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
    if (!written.ok() && !IsLastingReportError(written)) {
      // A bucket that is full, unlike the disk of the data, does not hold up the other operations for long.
      const bool may_pass = engine_.IsFailed() || !engine_.disk_space().CheckNow().ok();
      if (may_pass || ++report_attempts_ < kMaxReportAttempts) return written;
    }
    report_attempts_ = 0;
    if (!written.ok()) {
      const BulkOutcome failed = FailedOutcome(written);
      const std::string reason = "The report could not be written: " + failed.failure_message;
      // An operation that has failed or was cancelled tells of that first.
      if (outcome.failure_code.empty()) {
        description.set_bulk_operation_status(failed.status);
        description.set_failure_code(failed.failure_code);
        description.set_failure_message(reason);
      } else {
        description.set_failure_message(outcome.failure_message + ". " + reason);
      }
    }
  }
  // The record replaces another one, so it takes no more space.
  ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                       [&](CommitGroup& group) {
                                         PutBulkOperation(stored, group);
                                         DeleteBulkProgress(BulkOperationIdOf(description), group);
                                         return absl::OkStatus();
                                       },
                                       {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees})
                             .status());
  engine_.options().log->info(
      "bulk put ended operation={} status={} written={} failed={} condition_failures={}",
      description.bulk_operation_arn(), BulkStatusText(description.bulk_operation_status()),
      description.written_item_count(), description.failed_item_count(),
      description.condition_check_failure_count());
  return absl::OkStatus();
}

absl::Status BulkPuts::DeleteWork(const std::string& id) {
  for (;;) {
    std::vector<std::string> keys;
    {
      ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
      ITEMDB_ASSIGN_OR_RETURN(keys, FindBulkWork(*view, id, kRecordsDeletedAtOnce));
    }
    if (keys.empty()) return absl::OkStatus();
    ITEMDB_RETURN_IF_ERROR(CommitAndWait(engine_,
                                         [&](CommitGroup& group) {
                                           for (const std::string& key : keys) group.DeleteCatalog(key);
                                           return absl::OkStatus();
                                         },
                                         {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees})
                               .status());
  }
}

}  // namespace itemdb::storage
