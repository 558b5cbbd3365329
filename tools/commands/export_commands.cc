#include "tools/commands/export_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/progress.h"
#include "tools/cli/read_options.h"
#include "tools/json/item_json.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// The time between two polls of an export.
constexpr absl::Duration kExportPollInterval = absl::Milliseconds(100);

// A name becomes the ARN that the daemon wants.
std::string TableArnOf(const std::string& table) {
  return table.starts_with("arn:") ? table : "arn:aws:dynamodb:local:000000000000:table/" + table;
}

std::string ExportTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string_view ExportStatusName(ExportStatus status) {
  switch (status) {
    case ExportStatus::kInProgress:
      return "IN_PROGRESS";
    case ExportStatus::kCompleted:
      return "COMPLETED";
    case ExportStatus::kFailed:
      return "FAILED";
    case ExportStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string_view ExportTypeName(ExportType type) {
  return type == ExportType::kIncrementalExport ? "INCREMENTAL_EXPORT" : "FULL_EXPORT";
}

JsonValue ExportToJson(const ExportDescription& description) {
  JsonValue object = JsonValue::Object()
                         .Add("ExportArn", description.export_arn)
                         .Add("ExportStatus", ExportStatusName(description.export_status))
                         .Add("ExportType", ExportTypeName(description.export_type))
                         .Add("StartTime", ExportTimeText(description.start_time));
  if (description.end_time.has_value()) object.Add("EndTime", ExportTimeText(*description.end_time));
  object.Add("TableArn", description.table_arn).Add("TableId", description.table_id);
  if (description.export_time.has_value()) object.Add("ExportTime", ExportTimeText(*description.export_time));
  object.Add("S3Bucket", description.s3_bucket)
      .Add("S3Prefix", description.s3_prefix)
      .Add("ExportFormat", description.export_format == ExportFormat::kIon ? "ION" : "DYNAMODB_JSON")
      .Add("ClientToken", description.client_token)
      .Add("ChangeSequence", description.change_sequence);
  if (description.export_status == ExportStatus::kCompleted) {
    object.Add("ExportManifest", description.export_manifest)
        .Add("ItemCount", description.item_count)
        .Add("BilledSizeBytes", description.billed_size_bytes);
  }
  if (description.export_status == ExportStatus::kFailed) {
    object.Add("FailureCode", description.failure_code).Add("FailureMessage", description.failure_message);
  }
  return object;
}

TextTable ExportsToTable(const std::vector<ExportDescription>& exports) {
  TextTable table({{"started"},
                   {"table"},
                   {"bucket"},
                   {"status"},
                   NumberColumn("items"),
                   NumberColumn("bytes"),
                   {"failure"},
                   {"ARN"}});
  for (const ExportDescription& one : exports) {
    const bool is_done = one.export_status == ExportStatus::kCompleted;
    table.AddRow({ExportTimeText(one.start_time), one.table_arn.substr(one.table_arn.rfind('/') + 1),
                  one.s3_bucket, std::string(ExportStatusName(one.export_status)),
                  is_done ? absl::StrCat(one.item_count) : "",
                  is_done ? absl::StrCat(one.billed_size_bytes) : "", one.failure_code, one.export_arn});
  }
  return table;
}

absl::StatusOr<absl::Time> ParseExportTime(const std::string& what, const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return time;
  return UsageError(what + "a time with its offset such as 2026-11-25T14:30:00Z; it is \"" + text + "\"");
}

void PrintExport(Context& context, const ExportDescription& description) {
  if (context.format() == OutputFormat::kTable) {
    context.Print(ExportsToTable({description}));
  } else {
    context.Print(ExportToJson(description));
  }
}

// The ARN of the export that `text` names.
absl::StatusOr<std::string> ExportArnOf(Context& context, const Client& client, const std::string& text) {
  if (text.starts_with("arn:")) return text;
  ITEMDB_ASSIGN_OR_RETURN(
      const ListExportsResult newest,
      client.ListExports({.table_arn = TableArnOf(text), .max_results = 1}, context.Call()));
  if (newest.exports.empty()) return ToolError(ExitCode::kRefused, "there is no export of the table " + text);
  return newest.exports[0].export_arn;
}

}  // namespace

absl::Status RunExportStart(Context& context, const ExportStartOptions& options) {
  ExportTableToPointInTimeRequest request{
      .table_arn = TableArnOf(options.table_name),
      .s3_bucket = options.bucket,
      .s3_prefix = options.prefix,
      .export_format = options.ion ? ExportFormat::kIon : ExportFormat::kDynamodbJson};
  std::optional<absl::Time> to;
  if (options.to != "latest") {
    ITEMDB_ASSIGN_OR_RETURN(to, ParseExportTime("--to must be latest or ", options.to));
  }
  if (options.from.empty()) {
    if (options.new_images) return UsageError("--new-images needs --from");
    request.export_time = to;
  } else {
    ITEMDB_ASSIGN_OR_RETURN(const absl::Time from, ParseExportTime("--from must be ", options.from));
    request.export_type = ExportType::kIncrementalExport;
    request.incremental_export_specification = IncrementalExportSpecification{
        .export_from_time = from,
        .export_to_time = to,
        .export_view_type =
            options.new_images ? ExportViewType::kNewImage : ExportViewType::kNewAndOldImages};
  }
  FilterSpecification filter{.key_condition_expression = options.key_condition_expression,
                             .filter_expression = options.filter_expression,
                             .projection_expression = options.projection_expression};
  ITEMDB_RETURN_IF_ERROR(FillPlaceholders(options, filter));
  if (!filter.key_condition_expression.empty() || !filter.filter_expression.empty() ||
      !filter.projection_expression.empty() || !filter.expression_attribute_names.empty() ||
      !filter.expression_attribute_values.empty())
    request.filter_specification = std::move(filter);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(ExportDescription description,
                          client.ExportTableToPointInTime(request, context.Call()));
  if (options.wait) {
    Progress progress(ProgressStream(context), {.doing = "exporting " + options.table_name});
    while (description.export_status == ExportStatus::kInProgress) {
      if (context.session().interrupted())
        return absl::CancelledError("interrupted; the daemon continues to export the table");
      absl::SleepFor(kExportPollInterval);
      ITEMDB_ASSIGN_OR_RETURN(description, client.DescribeExport(description.export_arn, context.Call()));
    }
    progress.Finish();
  }
  PrintExport(context, description);
  if (description.export_status != ExportStatus::kFailed) return absl::OkStatus();
  return ToolError(ExitCode::kRefused, absl::StrCat("the export failed (", description.failure_code,
                                                    "): ", description.failure_message));
}

absl::Status RunExportDescribe(Context& context, const ExportOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, ExportArnOf(context, client, options.name));
  ITEMDB_ASSIGN_OR_RETURN(const ExportDescription description, client.DescribeExport(arn, context.Call()));
  PrintExport(context, description);
  return absl::OkStatus();
}

absl::Status RunExportList(Context& context, const ExportListOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ListExportsRequest request;
  if (!options.table_name.empty()) request.table_arn = TableArnOf(options.table_name);
  std::vector<ExportDescription> exports;
  do {
    ITEMDB_ASSIGN_OR_RETURN(ListExportsResult page, client.ListExports(request, context.Call()));
    for (ExportDescription& one : page.exports) exports.push_back(std::move(one));
    request.next_token = page.next_token;
  } while (!request.next_token.empty());
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> elements;
    for (const ExportDescription& one : exports) elements.push_back(ExportToJson(one));
    context.Print(JsonValue::Object().Add("Exports", JsonValue::Array(std::move(elements))));
  } else if (exports.empty()) {
    context.out() << "no exports\n";
  } else {
    context.Print(ExportsToTable(exports));
  }
  return absl::OkStatus();
}

void RegisterExportCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "export", .summary = "Exports of tables into files"});
  auto start = std::make_shared<ExportStartOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "start",
       .summary = "Export a table with point-in-time recovery",
       .details = "Writes the files that DynamoDB's export to S3 writes, into a folder of itemd "
                  "--export-directory or a bucket at its --s3-endpoint. The items are those of one moment; "
                  "writes go on.",
       .examples = {{"itemctl pitr enable music && itemctl export start music my-bucket", "as it is now"},
                    {"itemctl pitr enable music && itemctl export start music my-bucket --ion -o json",
                     "as Amazon Ion, for programs"}}},
      [start](Context& context) { return RunExportStart(context, *start); });
  command->add_option(std::string(kTableName), start->table_name, "The table's name")->required();
  command
      ->add_option("BUCKET", start->bucket,
                   "Name of the bucket: a folder in itemd --export-directory, or at its --s3-endpoint")
      ->required();
  command->add_option("--prefix", start->prefix, "What the paths of all files begin with. Default: nothing")
      ->type_name("PATH");
  command
      ->add_option("--to", start->to,
                   "latest, or a time such as 2026-11-25T14:30:00Z: the last commit that is not later. "
                   "Default: latest")
      ->type_name("WHEN");
  command
      ->add_option(
          "--from", start->from,
          "A time: only what changed since then, 15 minutes to 24 hours before --to. Default: all items")
      ->type_name("WHEN");
  command->add_flag("--new-images", start->new_images, "With --from: without the items as they were before");
  AddKeyConditionOption(command, start->key_condition_expression, /*required=*/false);
  command
      ->add_option("--filter-expression,--filter", start->filter_expression,
                   "Export only items for which this is true. Default: all")
      ->type_name("EXPRESSION");
  command
      ->add_option("--projection-expression,--projection", start->projection_expression,
                   "Attributes to export. Default: all")
      ->type_name("EXPRESSION");
  command
      ->add_option("--expression-attribute-names,--names", start->names,
                   "JSON object: placeholder \"#n\" to name. Default: none")
      ->type_name("JSON");
  command
      ->add_option("--expression-attribute-values,--values", start->values,
                   "JSON object: placeholder \":v\" to value, plain or DynamoDB JSON. Default: none")
      ->type_name("JSON");
  command->add_flag("--plain", start->plain, "The values are plain JSON");
  command->add_flag("--ion", start->ion, "Write Amazon Ion in place of DynamoDB's JSON");
  command->add_flag("--wait", start->wait, "Wait until the export has ended, and fail if it failed");

  auto describe = std::make_shared<ExportOptions>();
  command = table.Add(group,
                      {.name = "describe",
                       .summary = "Show an export and how it ended",
                       .examples = {{"itemctl pitr enable music && itemctl export start music my-bucket && "
                                     "itemctl export describe music",
                                     "the newest export of a table"},
                                    {"itemctl pitr enable music && itemctl export start music my-bucket && "
                                     "itemctl export describe music -o json",
                                     "for programs"}}},
                      [describe](Context& context) { return RunExportDescribe(context, *describe); });
  command->add_option("EXPORT", describe->name, "ARN of the export, or a table's name: its newest export")
      ->required();

  auto list = std::make_shared<ExportListOptions>();
  command = table.Add(group,
                      {.name = "list",
                       .summary = "List the exports of the last 90 days",
                       .examples = {{"itemctl export list", "of all tables, deleted ones too"},
                                    {"itemctl export list music -o json", "of one table, as JSON"}}},
                      [list](Context& context) { return RunExportList(context, *list); });
  command->add_option(std::string(kTableName), list->table_name, "Only exports of this table");
}

}  // namespace itemdb::tools
