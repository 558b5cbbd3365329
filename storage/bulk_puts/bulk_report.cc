#include "storage/bulk_puts/bulk_report.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "storage/buckets/open_bucket.h"
#include "storage/bulk_puts/bulk_records.h"
#include "storage/exports/export_manifests.h"
#include "storage/exports/gzip_file.h"
#include "storage/json/json_writer.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

// A message may quote an attribute name of 64 KiB.
constexpr size_t kMaxReasonBytes = 512;

// A list of the report, whose file begins with its first line.
class ReportList {
 public:
  ReportList(const Bucket& bucket, std::string key) : bucket_(bucket), key_(std::move(key)) {}

  absl::Status Add(const std::string& line) {
    if (file_ == nullptr) {
      ITEMDB_ASSIGN_OR_RETURN(file_, GzipFile::Create(bucket_, key_));
    }
    ++lines_;
    return file_->Append(line + "\n");
  }
  // Ends the file, and adds it to the files of the manifest.
  absl::Status Finish(std::string_view type, JsonWriter* files) {
    if (file_ == nullptr) return absl::OkStatus();
    ITEMDB_ASSIGN_OR_RETURN(const WrittenObject object, file_->Finish());
    files->BeginObject().Name("key").String(object.key).Name("outputType").String(type);
    files->Name("lineCount").Integer(lines_).Name("bytes").Integer(object.bytes);
    files->Name("sha256").String(absl::BytesToHexString(object.sha256)).EndObject();
    return absl::OkStatus();
  }

 private:
  const Bucket& bucket_;
  const std::string key_;
  std::unique_ptr<GzipFile> file_;
  int64_t lines_ = 0;
};

void WriteSummary(const v1::BulkOperationDescription& description, JsonWriter* writer) {
  writer->Name("version").Integer(1);
  writer->Name("bulkOperationArn").String(description.bulk_operation_arn());
  writer->Name("status").String(BulkStatusText(description.bulk_operation_status()));
  if (!description.failure_code().empty()) {
    writer->Name("failureCode").String(description.failure_code());
    writer->Name("failureMessage").String(description.failure_message());
  }
  writer->Name("startTime").String(ExportTimeText(description.start_time_ms()));
  writer->Name("endTime").String(ExportTimeText(description.end_time_ms()));
  writer->Name("tableArn").String(description.table_arn());
  writer->Name("tableId").String(description.table_id());
  writer->Name("s3Bucket").String(description.input().s3_bucket());
  writer->Name("s3KeyPrefix").String(description.input().s3_key_prefix());
  writer->Name("totalInputBytes").Integer(description.total_input_bytes());
  writer->Name("processedInputBytes").Integer(description.processed_input_bytes());
  writer->Name("processedItemCount").Integer(description.processed_item_count());
  writer->Name("writtenItemCount").Integer(description.written_item_count());
  writer->Name("failedItemCount").Integer(description.failed_item_count());
  writer->Name("conditionCheckFailureCount").Integer(description.condition_check_failure_count());
}

void BeginLine(std::string_view object, uint64_t line, JsonWriter* writer) {
  // The name of a file may be any bytes.
  writer->BeginObject().Name("object").String(IsValidUtf8(object) ? object : "(a name that is not UTF-8)");
  if (line > 0) writer->Name("line").Integer(static_cast<int64_t>(line));
}

std::string Shortened(std::string_view reason) {
  if (!IsValidUtf8(reason)) return "(not UTF-8)";
  if (reason.size() <= kMaxReasonBytes) return std::string(reason);
  size_t end = kMaxReasonBytes - 3;
  while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xC0) == 0x80) --end;
  return std::string(reason.substr(0, end)) + "...";
}

}  // namespace

std::string BulkReportsFolder(const v1::BulkPutOutput& output) {
  std::string prefix = output.s3_key_prefix();
  if (!prefix.empty() && prefix.back() != '/') prefix.push_back('/');
  return prefix + "AWSDynamoDB/bulk/";
}

absl::Status CheckBulkReportPrefix(const v1::BulkPutOutput& output) {
  const absl::Status status = CheckObjectKey(BulkReportsFolder(output) +
                                             "00000000000000-00000000/condition-check-failures/0.jsonl.gz");
  if (status.ok()) return status;
  return ValidationError("BLK-01", "S3KeyPrefix '" + output.s3_key_prefix() +
                                       "' of the output cannot be used: " + MessageOf(status));
}

std::string BulkErrorLine(std::string_view object, uint64_t line, std::string_view reason) {
  std::string text;
  JsonWriter writer(&text);
  BeginLine(object, line, &writer);
  writer.Name("reason").String(Shortened(reason)).EndObject();
  return text;
}

std::string ConditionFailureLine(std::string_view object, uint64_t line, std::string_view key) {
  std::string text;
  JsonWriter writer(&text);
  BeginLine(object, line, &writer);
  writer.Name("Key").Item(key).EndObject();
  return text;
}

absl::Status CheckBulkOutputBucket(const Engine& engine, const v1::BulkPutOutput& output,
                                   const Cancellation& cancellation) {
  return OpenBucket(engine.options(), output.s3_bucket(), cancellation).status();
}

absl::Status WriteBulkReport(const Engine& engine, const v1::BulkOperationDescription& description,
                             uint64_t report_records, absl::FunctionRef<absl::Status()> check,
                             const Cancellation& cancellation) {
  const std::string id = BulkOperationIdOf(description);
  const std::string folder = BulkReportsFolder(description.output()) + id + "/";
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<Bucket> bucket,
                          OpenBucket(engine.options(), description.output().s3_bucket(), cancellation));
  ITEMDB_RETURN_IF_ERROR(bucket->RemoveLeftovers(folder));
  ITEMDB_RETURN_IF_ERROR(bucket->Delete(folder + "manifest.json"));
  ReportList errors(*bucket, folder + "errors/00000000.jsonl.gz");
  ReportList failures(*bucket, folder + "condition-check-failures/00000000.jsonl.gz");
  for (uint64_t number = 0; number < report_records; ++number) {
    ITEMDB_RETURN_IF_ERROR(check());
    std::optional<v1::StoredBulkReport> report;
    {
      // Is not kept: the store cannot be reopened while there are views of it.
      ITEMDB_ASSIGN_OR_RETURN(const auto view, engine.View());
      ITEMDB_ASSIGN_OR_RETURN(report, FindBulkReport(*view, id, number));
    }
    if (!report.has_value())
      return DataLossError("record " + std::to_string(number) + " of the report of " + id + " is missing");
    for (const std::string& line : report->errors()) ITEMDB_RETURN_IF_ERROR(errors.Add(line));
    for (const std::string& line : report->condition_check_failures())
      ITEMDB_RETURN_IF_ERROR(failures.Add(line));
  }
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  WriteSummary(description, &writer);
  writer.Name("files").BeginArray();
  ITEMDB_RETURN_IF_ERROR(errors.Finish("ERROR", &writer));
  ITEMDB_RETURN_IF_ERROR(failures.Finish("CONDITION_CHECK_FAILURE", &writer));
  writer.EndArray().EndObject();
  return bucket->Write(folder + "manifest.json", text + "\n").status();
}

}  // namespace itemdb::storage
