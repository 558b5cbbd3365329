#include "storage/bulk_puts/bulk_run.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "storage/base/limits.h"
#include "storage/buckets/open_bucket.h"
#include "storage/bulk_puts/bulk_commit.h"
#include "storage/bulk_puts/bulk_records.h"
#include "storage/bulk_puts/bulk_report.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/imports/export_check.h"
#include "storage/imports/line_chunks.h"
#include "storage/imports/line_parser.h"
#include "storage/imports/object_reader.h"
#include "storage/items/item_collections.h"
#include "storage/values/item_size.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

constexpr size_t kBulkReadBytes = 256 << 10;
// Lines of one commit, and bytes of the items that it replaces and writes: other writes wait meanwhile.
constexpr size_t kMaxBulkCommitLines = 500;
constexpr size_t kMaxBulkCommitBytes = 4 << 20;
// Objects in one record of the catalog.
constexpr size_t kObjectsInRecord = 1'000;

BulkOutcome CancelledOutcome() {
  return {.status = v1::BULK_OPERATION_STATUS_CANCELLED,
          .failure_code = "Cancelled",
          .failure_message = "The operation was cancelled; the items that it had put stay"};
}

// Ends a run early: either with an outcome or with an error of the store.
class BulkRun {
 public:
  explicit BulkRun(const BulkRunSettings& settings)
      : settings_(settings),
        engine_(settings.engine),
        id_(BulkOperationIdOf(settings.operation.description())),
        pace_(settings.operation.request().max_write_request_units()) {
    if (settings.operation.request().input().input_format() == v1::INPUT_FORMAT_ION) {
      parser_ = NewIonPutParser();
    } else {
      parser_ = NewJsonPutParser();
    }
  }

  absl::StatusOr<BulkOutcome> Run() {
    {
      ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
      ITEMDB_ASSIGN_OR_RETURN(auto progress, FindBulkProgress(*view, id_));
      if (progress.has_value()) progress_ = *std::move(progress);
    }
    const absl::Status status = RunToEnd();
    if (!outcome_.has_value()) {
      // The table was deleted or has moved, or what is stored about the operation is damaged.
      if (absl::IsNotFound(status) || absl::IsDataLoss(status) || ReasonOf(status) == kReasonTableMoved) {
        outcome_ = FailedOutcome(status);
      } else if (!status.ok()) {
        return status;
      } else {
        outcome_.emplace();
        if (progress_.failed_item_count() > 0)
          outcome_->status = v1::BULK_OPERATION_STATUS_COMPLETED_WITH_ERRORS;
      }
    }
    outcome_->progress = progress_;
    return *std::move(outcome_);
  }

 private:
  // A status that ends the run with `outcome`.
  absl::Status End(BulkOutcome outcome) {
    outcome_ = std::move(outcome);
    return absl::CancelledError("the operation has ended");
  }

  absl::Status RunToEnd() {
    if (settings_.operation.database_id() != engine_.database_id()) {
      // The report is that of the database where it was begun.
      progress_.set_listed(false);
      return End(
          FailedOutcome(MakeError(absl::StatusCode::kFailedPrecondition, kReasonUnavailable,
                                  "the database was restored from a backup that was made, or promoted, "
                                  "while the operation was in progress")));
    }
    ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
    const v1::BulkPutInput& input = settings_.operation.request().input();
    const absl::StatusOr<std::unique_ptr<Bucket>> bucket =
        OpenBucket(engine_.options(), input.s3_bucket(), settings_.cancellation);
    if (!bucket.ok()) return BucketFailed(bucket.status());
    if (!progress_.listed()) ITEMDB_RETURN_IF_ERROR(List(**bucket));
    while (progress_.object() < progress_.object_count()) ITEMDB_RETURN_IF_ERROR(ReadObject(**bucket));
    return absl::OkStatus();
  }

  // Another run may have more success, or the operation fails.
  absl::Status BucketFailed(const absl::Status& error) {
    ITEMDB_RETURN_IF_ERROR(settings_.cancellation.Check());
    if (absl::IsUnavailable(error) && ++settings_.bucket_failures < kMaxBucketFailures) return error;
    settings_.bucket_failures = 0;
    return End(FailedOutcome(error));
  }

  absl::Status CheckGoesOn() {
    ITEMDB_RETURN_IF_ERROR(settings_.cancellation.Check());
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_ASSIGN_OR_RETURN(const bool is_cancelled, IsBulkCancelled(*view, id_));
    return is_cancelled ? End(CancelledOutcome()) : absl::OkStatus();
  }

  // ---- the objects

  // The keys, sizes and times of all objects are stored, so that another run reads the same ones.
  absl::Status List(const Bucket& bucket) {
    const v1::StartBulkPutItemsRequest& request = settings_.operation.request();
    // A bulk put whose report cannot be written should not begin.
    const absl::Status output = CheckBulkOutputBucket(engine_, request.output(), settings_.cancellation);
    if (!output.ok()) return BucketFailed(output);
    absl::StatusOr<std::vector<BucketObject>> listed =
        bucket.List(request.input().s3_key_prefix(), kMaxImportObjects);
    if (!listed.ok()) return BucketFailed(listed.status());
    if (request.input().s3_bucket() == request.output().s3_bucket()) {
      // Reports of earlier operations.
      std::erase_if(*listed, [folder = BulkReportsFolder(request.output())](const BucketObject& object) {
        return object.key.starts_with(folder);
      });
    }
    const absl::StatusOr<ExportChecksums> checksums =
        CheckExport(bucket, request.input().s3_key_prefix(), request.input().input_format(), *listed);
    if (!checksums.ok()) return BucketFailed(checksums.status());
    v1::StoredBulkProgress progress;
    for (const BucketObject& object : *listed) {
      if (object.bytes > kMaxBulkObjectBytes) {
        return End(FailedOutcome(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                           "the object " + object.key + " has " +
                                               std::to_string(object.bytes) + " bytes; at most " +
                                               std::to_string(kMaxBulkObjectBytes) + " are allowed")));
      }
      progress.set_total_input_bytes(progress.total_input_bytes() + static_cast<int64_t>(object.bytes));
    }
    // Before any of them is put.
    for (const BucketObject& object : *listed)
      ITEMDB_RETURN_IF_ERROR(CompareFile(bucket, object, FindChecksum(*checksums, object.key)));
    progress.set_object_count(static_cast<uint32_t>(listed->size()));
    progress.set_listed(true);
    for (size_t begin = 0; begin < listed->size(); begin += kObjectsInRecord) {
      v1::StoredBulkObjects record;
      for (size_t i = begin; i < std::min(listed->size(), begin + kObjectsInRecord); ++i) {
        v1::StoredBulkObjects::Object* object = record.add_objects();
        object->set_key((*listed)[i].key);
        object->set_bytes((*listed)[i].bytes);
        object->set_modified_ns((*listed)[i].modified_ns);
        object->set_etag((*listed)[i].etag);
      }
      ITEMDB_RETURN_IF_ERROR(
          Commit([&](CommitGroup& group) { PutBulkObjects(id_, begin / kObjectsInRecord, record, group); }));
    }
    ITEMDB_RETURN_IF_ERROR(Commit([&](CommitGroup& group) { PutBulkProgress(id_, progress, group); }));
    progress_ = std::move(progress);
    return absl::OkStatus();
  }

  // Reads a data file of an export as a whole. `checksum` may be nullptr: it is no such file.
  absl::Status CompareFile(const Bucket& bucket, const BucketObject& object, const ExportChecksum* checksum) {
    if (checksum == nullptr) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<ReadableObject>> opened = bucket.Open(object);
    if (!opened.ok()) return ComparisonFailed(object, opened.status());
    opened = WithChecksum(*std::move(opened), object.key, *checksum);
    absl::Status goes_on;
    const absl::Status read = ReadToEnd(**opened, [&] { return goes_on = CheckGoesOn(); });
    return read.ok() || !goes_on.ok() ? read : ComparisonFailed(object, read);
  }
  absl::Status ComparisonFailed(const BucketObject& object, const absl::Status& error) {
    return BucketFailed(ReasonOf(error) == kReasonObjectChanged
                            ? ExportFileError(object.key, "was changed after the bulk put had begun")
                            : error);
  }

  template <typename Append>
  absl::Status Commit(Append append) {
    return CommitAndWait(engine_,
                         [&](CommitGroup& group) {
                           append(group);
                           return absl::OkStatus();
                         },
                         {.when_full = WhenFull::kWait})
        .status();
  }

  absl::StatusOr<BucketObject> ObjectAt(uint32_t position) {
    const size_t record = position / kObjectsInRecord;
    if (objects_record_ != record) {
      ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
      ITEMDB_ASSIGN_OR_RETURN(auto found, FindBulkObjects(*view, id_, record));
      if (!found.has_value()) return DataLossError("the list of the objects of " + id_ + " is damaged");
      objects_ = *std::move(found);
      objects_record_ = record;
    }
    const auto place = static_cast<int>(position % kObjectsInRecord);
    if (place >= objects_.objects_size())
      return DataLossError("the list of the objects of " + id_ + " is damaged");
    const v1::StoredBulkObjects::Object& object = objects_.objects(place);
    return BucketObject{.key = object.key(),
                        .bytes = object.bytes(),
                        .modified_ns = object.modified_ns(),
                        .etag = object.etag()};
  }

  // Puts the lines of an object that are not done.
  absl::Status ReadObject(const Bucket& bucket) {
    ITEMDB_ASSIGN_OR_RETURN(const BucketObject object, ObjectAt(progress_.object()));
    object_ = object.key;
    file_bytes_ = 0;
    lines_.clear();
    line_bytes_ = 0;
    const absl::StatusOr<std::unique_ptr<ReadableObject>> opened = bucket.Open(object);
    if (!opened.ok()) return ReadFailed(0, opened.status());
    const std::unique_ptr<ObjectReader> reader = NewObjectReader(
        **opened, settings_.operation.request().input().input_compression_type(), &file_bytes_);
    LineChunks chunks(*reader, LineEnds::kEveryNewline, kBulkReadBytes);
    const uint64_t done_lines = progress_.done_lines();
    LineChunk chunk;
    for (;;) {
      ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
      const absl::StatusOr<bool> has_chunk = chunks.Next(&chunk);
      if (!has_chunk.ok()) return ReadFailed(chunks.next_line(), has_chunk.status());
      if (!*has_chunk) break;
      std::string_view lines = chunk.lines();
      for (uint64_t line_number = chunk.first_line; !lines.empty();) {
        const uint64_t number = line_number;
        const std::string_view line = TakeLine(LineEnds::kEveryNewline, &lines, &line_number);
        if (number <= done_lines) continue;
        ParsedLine parsed{.number = number};
        const LineKind kind = parser_->Parse(line, &parsed.put, &parsed.error);
        if (kind == LineKind::kNothing) continue;
        if (kind == LineKind::kBadLine) return EndObject(number, parsed.error);
        if (kind == LineKind::kItem) parsed.error.clear();
        parsed.is_item = kind == LineKind::kItem;
        line_bytes_ += line.size();
        lines_.push_back(std::move(parsed));
        if (lines_.size() >= kMaxBulkCommitLines || line_bytes_ >= kMaxBulkCommitBytes)
          ITEMDB_RETURN_IF_ERROR(PutLines(/*ends_object=*/false));
      }
    }
    return PutLines(/*ends_object=*/true);
  }

  // An object whose contents are not what they should be, or were changed, is one error. What else there is
  // with the bucket concerns the operation.
  absl::Status ReadFailed(uint64_t line, const absl::Status& error) {
    if (ReasonOf(error) == kReasonObjectChanged)
      return EndObject(0, "the object was changed after the bulk put had begun");
    return absl::IsInvalidArgument(error) ? EndObject(line, MessageOf(error)) : BucketFailed(error);
  }

  // Puts what was read, and ends the object with an error (BLK-07).
  absl::Status EndObject(uint64_t line, const std::string& reason) {
    lines_.push_back({.number = line, .error = reason});
    return PutLines(/*ends_object=*/true);
  }

  // ---- the lines

  struct ParsedLine {
    uint64_t number = 0;
    bool is_item = false;
    wire::WriteItemRequest put = {};
    std::string error = {};
  };

  // Puts lines_, in one commit or in several, and clears them.
  absl::Status PutLines(bool ends_object) {
    size_t done = 0;
    do {
      ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
      BulkCommit commit{
          .operation = settings_.operation, .object = object_, .lines = {}, .object_bytes = file_bytes_};
      ITEMDB_RETURN_IF_ERROR(PrepareLines(&done, &commit.lines));
      commit.ends_object = ends_object && done == lines_.size();
      double units = 0;
      ITEMDB_RETURN_IF_ERROR(CommitBulkLines(engine_, std::move(commit), &progress_, &units));
      settings_.bucket_failures = 0;
      ITEMDB_RETURN_IF_ERROR(Wait(pace_.Charge(units, WritePace::Clock::now())));
    } while (done < lines_.size());
    lines_.clear();
    line_bytes_ = 0;
    return absl::OkStatus();
  }

  absl::Status Wait(WritePace::Clock::time_point until) {
    while (WritePace::Clock::now() < until) {
      if (!settings_.wait(until)) return settings_.cancellation.Check();
      ITEMDB_RETURN_IF_ERROR(CheckGoesOn());
    }
    return absl::OkStatus();
  }

  // Prepares lines_ from `*done` on and reads the items that they replace, until a commit is full.
  absl::Status PrepareLines(size_t* done, std::vector<BulkLine>* prepared) {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    ITEMDB_RETURN_IF_ERROR(CheckBulkTable(view->catalog(), settings_.operation));
    const std::string& table_name = settings_.operation.request().table_name();
    size_t bytes = 0;
    double units = 0;
    while (*done < lines_.size() && bytes < kMaxBulkCommitBytes &&
           !(pace_.has_limit() && units >= pace_.units_at_once())) {
      ParsedLine& line = lines_[(*done)++];
      BulkLine& one = prepared->emplace_back();
      one.number = line.number;
      one.error = std::move(line.error);
      if (!line.is_item) continue;
      line.put.set_table_name(table_name);
      absl::StatusOr<PreparedAction> put = PrepareAction(ActionKind::kPut, line.put, view->catalog());
      line.put.Clear();
      if (!put.ok()) {
        if (!absl::IsInvalidArgument(put.status())) return put.status();
        one.error = MessageOf(put.status());
        continue;
      }
      const Table& table = *put->table;
      const size_t copies = 1 + table.indexes.size();
      bytes += copies * put->key_or_item.size();
      units += static_cast<double>(copies) * WriteUnits(ItemSizeBytes(ItemView(put->key_or_item)));
      Prefetch(*view, &*put, &bytes);
      one.put = *std::move(put);
    }
    return absl::OkStatus();
  }

  // After an error the item is read when the put is applied, and the error found then.
  static void Prefetch(const ReadView& view, PreparedAction* put, size_t* bytes) {
    absl::StatusOr<Lookup> found = LookupItem(view, *put->table, put->key.encoded, ReadTier::kDisk);
    if (!found.ok()) return;
    if (put->table->has_local_indexes)
      (void)PrefetchCollection(view, put->table->storage_id, put->key.encoded, ReadTier::kDisk);
    if (found->item.has_value()) *bytes += found->item->size();
    put->prefetched.item = std::move(found->item);
    put->prefetched.group_number = view.group_number();
  }

  const BulkRunSettings& settings_;
  Engine& engine_;
  const std::string id_;
  WritePace pace_;
  std::unique_ptr<PutLineParser> parser_;
  v1::StoredBulkProgress progress_;
  // Set by End.
  std::optional<BulkOutcome> outcome_;
  // The record of objects that was read last, and its number.
  v1::StoredBulkObjects objects_;
  std::optional<size_t> objects_record_;
  // The key of the object that is read, its bytes that were read, and its lines that are not put yet.
  std::string object_;
  std::atomic<int64_t> file_bytes_ = 0;
  std::vector<ParsedLine> lines_;
  size_t line_bytes_ = 0;
};

std::string FailureCodeOfBulkPut(const absl::Status& error) {
  const std::string reason = ReasonOf(error);
  if (reason == kReasonLimitExceeded) return "LimitExceeded";
  if (reason == kReasonExportNotWhole) return kExportNotWholeCode;
  return BucketFailureCode(
      error, reason == kReasonResourceNotFound ? "ResourceNotFoundException" : "InternalServerError");
}

}  // namespace

BulkOutcome FailedOutcome(const absl::Status& error) {
  return {.status = v1::BULK_OPERATION_STATUS_FAILED,
          .failure_code = FailureCodeOfBulkPut(error),
          .failure_message = EscapedUtf8(MessageOf(error))};
}

absl::StatusOr<BulkOutcome> RunBulkPut(const BulkRunSettings& settings) { return BulkRun(settings).Run(); }

}  // namespace itemdb::storage
