#include "tools/commands/bulk_put_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/progress.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// The time between two polls of an operation.
constexpr absl::Duration kBulkPutPollInterval = absl::Milliseconds(100);
constexpr int32_t kBulkPutsInPage = 25;

std::string_view BulkStatusName(BulkOperationStatus status) {
  switch (status) {
    case BulkOperationStatus::kInProgress:
      return "IN_PROGRESS";
    case BulkOperationStatus::kCompleted:
      return "COMPLETED";
    case BulkOperationStatus::kCompletedWithErrors:
      return "COMPLETED_WITH_ERRORS";
    case BulkOperationStatus::kCancelling:
      return "CANCELLING";
    case BulkOperationStatus::kCancelled:
      return "CANCELLED";
    case BulkOperationStatus::kFailed:
      return "FAILED";
    case BulkOperationStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view BulkFormatName(InputFormat format) {
  if (format == InputFormat::kDynamoDbJson) return "DYNAMODB_JSON";
  return format == InputFormat::kIon ? "ION" : "UNKNOWN";
}

std::string_view BulkCompressionName(InputCompression compression) {
  if (compression == InputCompression::kNone) return "NONE";
  if (compression == InputCompression::kGzip) return "GZIP";
  return compression == InputCompression::kZstd ? "ZSTD" : "UNKNOWN";
}

std::string BulkTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string TableOfBulkPut(const BulkOperationDescription& operation) {
  return operation.table_arn.substr(operation.table_arn.rfind('/') + 1);
}

bool IsRunning(const BulkOperationDescription& operation) {
  return operation.bulk_operation_status == BulkOperationStatus::kInProgress ||
         operation.bulk_operation_status == BulkOperationStatus::kCancelling;
}

JsonValue BulkPutToJson(const BulkOperationDescription& operation) {
  JsonValue object = JsonValue::Object()
                         .Add("BulkOperationArn", operation.bulk_operation_arn)
                         .Add("BulkOperationStatus", BulkStatusName(operation.bulk_operation_status))
                         .Add("TableArn", operation.table_arn)
                         .Add("TableId", operation.table_id)
                         .Add("ClientToken", operation.client_token)
                         .Add("S3Bucket", operation.s3_bucket)
                         .Add("S3KeyPrefix", operation.s3_key_prefix)
                         .Add("InputFormat", BulkFormatName(operation.input_format))
                         .Add("InputCompressionType", BulkCompressionName(operation.input_compression))
                         .Add("OutputS3Bucket", operation.output_s3_bucket)
                         .Add("OutputS3KeyPrefix", operation.output_s3_key_prefix);
  if (operation.max_write_request_units.has_value())
    object.Add("MaxWriteRequestUnits", *operation.max_write_request_units);
  object.Add("StartTime", BulkTimeText(operation.start_time));
  if (operation.end_time.has_value()) object.Add("EndTime", BulkTimeText(*operation.end_time));
  if (operation.total_input_bytes.has_value()) object.Add("TotalInputBytes", *operation.total_input_bytes);
  object.Add("ProcessedInputBytes", operation.processed_input_bytes)
      .Add("ProcessedItemCount", operation.processed_item_count)
      .Add("WrittenItemCount", operation.written_item_count)
      .Add("FailedItemCount", operation.failed_item_count)
      .Add("ConditionCheckFailureCount", operation.condition_check_failure_count);
  if (!operation.failure_code.empty())
    object.Add("FailureCode", operation.failure_code).Add("FailureMessage", operation.failure_message);
  return object;
}

TextTable BulkPutsToTable(const std::vector<BulkOperationDescription>& operations) {
  TextTable table({{"started"},
                   {"table"},
                   {"status"},
                   NumberColumn("written"),
                   NumberColumn("failed"),
                   NumberColumn("condition false"),
                   {"failure"},
                   {"ARN"}});
  for (const BulkOperationDescription& operation : operations) {
    table.AddRow({BulkTimeText(operation.start_time), TableOfBulkPut(operation),
                  std::string(BulkStatusName(operation.bulk_operation_status)),
                  absl::StrCat(operation.written_item_count), absl::StrCat(operation.failed_item_count),
                  absl::StrCat(operation.condition_check_failure_count), operation.failure_code,
                  operation.bulk_operation_arn});
  }
  return table;
}

void PrintBulkPut(Context& context, const BulkOperationDescription& operation) {
  if (context.format() == OutputFormat::kTable) {
    context.Print(BulkPutsToTable({operation}));
  } else {
    context.Print(BulkPutToJson(operation));
  }
}

// The operations on a table, or on all if the name is empty; at most `limit`, the newest first.
absl::StatusOr<std::vector<BulkOperationDescription>> FindBulkPuts(Context& context, const Client& client,
                                                                   const std::string& table_name,
                                                                   size_t limit) {
  std::vector<BulkOperationDescription> operations;
  ListBulkOperationsRequest request{.max_results = kBulkPutsInPage};
  do {
    ITEMDB_ASSIGN_OR_RETURN(ListBulkOperationsResult page,
                            client.ListBulkOperations(request, context.Call()));
    for (BulkOperationDescription& operation : page.operations) {
      const bool wanted =
          table_name.empty() || table_name == operation.table_arn || table_name == TableOfBulkPut(operation);
      if (wanted && operations.size() < limit) operations.push_back(std::move(operation));
    }
    request.next_token = page.next_token;
  } while (!request.next_token.empty() && operations.size() < limit);
  return operations;
}

// The ARN that the text is, or the one of the newest operation on the table of this name.
absl::StatusOr<std::string> BulkPutArnOf(Context& context, const Client& client, const std::string& text) {
  if (text.starts_with("arn:")) return text;
  ITEMDB_ASSIGN_OR_RETURN(const auto newest, FindBulkPuts(context, client, text, /*limit=*/1));
  if (newest.empty()) return ToolError(ExitCode::kRefused, "there is no bulk put into a table " + text);
  return newest[0].bulk_operation_arn;
}

StartBulkPutItemsRequest BulkRequestOf(const BulkPutStartOptions& options) {
  StartBulkPutItemsRequest request{.table_name = options.table_name,
                                   .s3_bucket = options.bucket,
                                   .s3_key_prefix = options.prefix,
                                   .output_s3_bucket = options.output_bucket,
                                   .output_s3_key_prefix = options.output_prefix};
  if (options.format == "ION") request.input_format = InputFormat::kIon;
  if (options.compression == "GZIP") request.input_compression = InputCompression::kGzip;
  if (options.compression == "ZSTD") request.input_compression = InputCompression::kZstd;
  if (options.max_write_units != 0) request.max_write_request_units = options.max_write_units;
  return request;
}

}  // namespace

absl::Status RunBulkPutStart(Context& context, const BulkPutStartOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(BulkOperationDescription operation,
                          client.StartBulkPutItems(BulkRequestOf(options), context.Call()));
  if (options.wait) {
    Progress progress(ProgressStream(context),
                      {.doing = "putting items into " + options.table_name, .unit = "items"});
    while (IsRunning(operation)) {
      progress.Set(operation.processed_item_count);
      if (context.session().interrupted())
        return absl::CancelledError("interrupted; the daemon continues to put the items");
      absl::SleepFor(kBulkPutPollInterval);
      ITEMDB_ASSIGN_OR_RETURN(operation,
                              client.DescribeBulkOperation(operation.bulk_operation_arn, context.Call()));
    }
  }
  PrintBulkPut(context, operation);
  if (!options.wait || operation.bulk_operation_status == BulkOperationStatus::kCompleted)
    return absl::OkStatus();
  if (operation.bulk_operation_status == BulkOperationStatus::kCompletedWithErrors) {
    return ToolError(ExitCode::kRefused,
                     absl::StrCat(operation.failed_item_count, " items were not put; the report says why"));
  }
  return ToolError(ExitCode::kRefused, absl::StrCat(operation.failure_code, ": ", operation.failure_message));
}

absl::Status RunBulkPutDescribe(Context& context, const BulkPutOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, BulkPutArnOf(context, client, options.operation));
  ITEMDB_ASSIGN_OR_RETURN(const BulkOperationDescription operation,
                          client.DescribeBulkOperation(arn, context.Call()));
  PrintBulkPut(context, operation);
  return absl::OkStatus();
}

absl::Status RunBulkPutCancel(Context& context, const BulkPutOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, BulkPutArnOf(context, client, options.operation));
  ITEMDB_ASSIGN_OR_RETURN(const BulkOperationStatus status, client.CancelBulkOperation(arn, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    context.out() << BulkStatusName(status) << " " << arn << "\n";
  } else {
    context.Print(
        JsonValue::Object().Add("BulkOperationArn", arn).Add("BulkOperationStatus", BulkStatusName(status)));
  }
  return absl::OkStatus();
}

absl::Status RunBulkPutList(Context& context, const BulkPutListOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<BulkOperationDescription> operations,
                          FindBulkPuts(context, client, options.table_name, SIZE_MAX));
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> elements;
    for (const BulkOperationDescription& operation : operations) elements.push_back(BulkPutToJson(operation));
    context.Print(JsonValue::Object().Add("BulkOperations", JsonValue::Array(std::move(elements))));
  } else if (operations.empty()) {
    context.out() << "no bulk puts\n";
  } else {
    context.Print(BulkPutsToTable(operations));
  }
  return absl::OkStatus();
}

void RegisterBulkPutCommands(CommandTable& table) {
  CLI::App* group =
      table.AddGroup({.name = "bulk-put", .summary = "Puts of the items in files into a table"});
  auto start = std::make_shared<BulkPutStartOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "start",
       .summary = "Put the items in the files of a folder of the daemon's export directory into a table",
       .details =
           "The table serves meanwhile. A line may have a condition: ConditionExpression, "
           "ExpressionAttributeNames and ExpressionAttributeValues beside Item. When the operation ends, the "
           "daemon writes lists of the items with errors and of those whose condition was false to "
           "AWSDynamoDB/bulk/ID/ in the output folder. The operation goes on after a restart of the daemon.",
       .examples = {{"itemctl bulk-put start music library --wait", "all files of the folder library"},
                    {"itemctl bulk-put start music library --prefix 2026/ --compression GZIP "
                     "--max-write-units 5000",
                     "compressed files whose paths begin with 2026/, at a limited rate"}}},
      [start](Context& context) { return RunBulkPutStart(context, *start); });
  command->add_option(std::string(kTableName), start->table_name, "Name or ARN of the table")->required();
  command->add_option("BUCKET", start->bucket, "Name of the folder")->required();
  command
      ->add_option("--prefix", start->prefix,
                   "Read only files whose paths in the folder begin with this. Default: all files")
      ->type_name("PREFIX");
  command->add_option("--format", start->format, "DYNAMODB_JSON or ION. Default: DYNAMODB_JSON")
      ->check(OneOfWords({"DYNAMODB_JSON", "ION"}))
      ->type_name("FORMAT");
  command->add_option("--compression", start->compression, "NONE, GZIP or ZSTD. Default: NONE")
      ->check(OneOfWords({"NONE", "GZIP", "ZSTD"}))
      ->type_name("COMPRESSION");
  command
      ->add_option("--output-bucket", start->output_bucket,
                   "Name of the folder for the report. Default: the folder of the files")
      ->type_name("BUCKET");
  command
      ->add_option("--output-prefix", start->output_prefix,
                   "Path in that folder for the report. Default: none")
      ->type_name("PREFIX");
  command
      ->add_option("--max-write-units", start->max_write_units,
                   "Consume at most this many write request units a second, at least 1024. Default: no limit")
      ->type_name("UNITS");
  command->add_flag("--wait", start->wait, "Wait until the operation has ended");

  auto describe = std::make_shared<BulkPutOptions>();
  command = table.Add(
      group,
      {.name = "describe",
       .summary = "Show a bulk put",
       .examples = {{"itemctl bulk-put start music library --wait && itemctl bulk-put describe music",
                     "the newest bulk put into a table"},
                    {"itemctl bulk-put start music library --wait && "
                     "itemctl bulk-put describe music -o json",
                     "for programs"}}},
      [describe](Context& context) { return RunBulkPutDescribe(context, *describe); });
  constexpr char kOperation[] = "ARN of the bulk put, or the name of a table: its newest bulk put";
  command->add_option("BULK_PUT", describe->operation, kOperation)->required();

  auto cancel = std::make_shared<BulkPutOptions>();
  command = table.Add(
      group,
      {.name = "cancel",
       .summary = "End a bulk put before its last item",
       .details = "The items that it has put stay. A bulk put that has ended stays as it is.",
       .examples = {{"itemctl bulk-put start music library && itemctl bulk-put cancel music",
                     "the newest bulk put into a table"},
                    {"itemctl bulk-put start music library && itemctl bulk-put cancel music -o json",
                     "for programs"}}},
      [cancel](Context& context) { return RunBulkPutCancel(context, *cancel); });
  command->add_option("BULK_PUT", cancel->operation, kOperation)->required();

  auto list = std::make_shared<BulkPutListOptions>();
  command = table.Add(group,
                      {.name = "list",
                       .summary = "List bulk puts, the newest first",
                       .examples = {{"itemctl bulk-put list", "into all tables, deleted ones too"},
                                    {"itemctl bulk-put list music -o json", "into one table, as JSON"}}},
                      [list](Context& context) { return RunBulkPutList(context, *list); });
  command->add_option(std::string(kTableName), list->table_name, "Only bulk puts into this table");
}

}  // namespace itemdb::tools
