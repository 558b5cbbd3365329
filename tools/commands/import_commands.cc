#include "tools/commands/import_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

// The time between two polls of an import.
constexpr absl::Duration kImportPollInterval = absl::Milliseconds(100);

constexpr std::pair<std::string_view, InputFormat> kFormats[] = {
    {"DYNAMODB_JSON", InputFormat::kDynamoDbJson}, {"ION", InputFormat::kIon}, {"CSV", InputFormat::kCsv}};
constexpr std::pair<std::string_view, InputCompression> kCompressions[] = {
    {"NONE", InputCompression::kNone}, {"GZIP", InputCompression::kGzip}, {"ZSTD", InputCompression::kZstd}};

template <typename Value, size_t kCount>
std::string_view NameIn(const std::pair<std::string_view, Value> (&names)[kCount], Value value) {
  for (const auto& [name, named] : names)
    if (named == value) return name;
  return "UNKNOWN";
}

template <typename Value, size_t kCount>
Value ValueIn(const std::pair<std::string_view, Value> (&names)[kCount], std::string_view text) {
  for (const auto& [name, value] : names)
    if (name == text) return value;
  return Value::kUnknown;
}

std::string_view ImportStatusName(ImportStatus status) {
  switch (status) {
    case ImportStatus::kInProgress:
      return "IN_PROGRESS";
    case ImportStatus::kCompleted:
      return "COMPLETED";
    case ImportStatus::kFailed:
      return "FAILED";
    case ImportStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

std::string ImportTimeText(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone());
}

std::string TableOf(const ImportDescription& import) {
  return import.table_arn.substr(import.table_arn.rfind('/') + 1);
}

JsonValue ImportToJson(const ImportDescription& import) {
  JsonValue object = JsonValue::Object()
                         .Add("ImportArn", import.import_arn)
                         .Add("ImportStatus", ImportStatusName(import.import_status))
                         .Add("TableArn", import.table_arn)
                         .Add("TableId", import.table_id)
                         .Add("ClientToken", import.client_token)
                         .Add("S3Bucket", import.s3_bucket)
                         .Add("S3KeyPrefix", import.s3_key_prefix)
                         .Add("InputFormat", NameIn(kFormats, import.input_format))
                         .Add("InputCompressionType", NameIn(kCompressions, import.input_compression))
                         .Add("StartTime", ImportTimeText(import.start_time));
  if (import.end_time.has_value()) object.Add("EndTime", ImportTimeText(*import.end_time));
  object.Add("ProcessedSizeBytes", import.processed_size_bytes)
      .Add("ProcessedItemCount", import.processed_item_count)
      .Add("ImportedItemCount", import.imported_item_count)
      .Add("ErrorCount", import.error_count);
  if (!import.failure_code.empty())
    object.Add("FailureCode", import.failure_code).Add("FailureMessage", import.failure_message);
  return object;
}

TextTable ImportsToTable(const std::vector<ImportDescription>& imports) {
  TextTable table({{"started"},
                   {"table"},
                   {"status"},
                   NumberColumn("processed"),
                   NumberColumn("imported"),
                   NumberColumn("errors"),
                   {"failure"},
                   {"ARN"}});
  for (const ImportDescription& import : imports) {
    table.AddRow({ImportTimeText(import.start_time), TableOf(import),
                  std::string(ImportStatusName(import.import_status)),
                  absl::StrCat(import.processed_item_count), absl::StrCat(import.imported_item_count),
                  absl::StrCat(import.error_count), import.failure_code, import.import_arn});
  }
  return table;
}

void PrintImport(Context& context, const ImportDescription& import) {
  if (context.format() == OutputFormat::kTable) {
    context.Print(ImportsToTable({import}));
  } else {
    context.Print(ImportToJson(import));
  }
}

absl::StatusOr<std::vector<ImportDescription>> AllImports(Context& context, const Client& client,
                                                          const std::string& table_name) {
  std::vector<ImportDescription> imports;
  ListImportsRequest request{.table_arn = table_name, .page_size = 25};
  do {
    ITEMDB_ASSIGN_OR_RETURN(ListImportsResult page, client.ListImports(request, context.Call()));
    for (ImportDescription& import : page.imports) imports.push_back(std::move(import));
    request.next_token = page.next_token;
  } while (!request.next_token.empty());
  return imports;
}

absl::StatusOr<ImportTableRequest> RequestOf(Context& context, const ImportStartOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string text, context.ReadFile(options.file));
  ITEMDB_ASSIGN_OR_RETURN(TableDefinition definition, ParseTableDefinition(text));
  ImportTableRequest request{.s3_bucket = options.bucket,
                             .s3_key_prefix = options.prefix,
                             .input_format = ValueIn(kFormats, options.format),
                             .input_compression = ValueIn(kCompressions, options.compression),
                             .table = std::move(definition)};
  if (options.delimiter.empty() && options.header.empty()) return request;
  if (request.input_format != InputFormat::kCsv)
    return UsageError("--delimiter and --header need --format CSV");
  CsvOptions& csv = request.csv_options.emplace();
  if (!options.delimiter.empty()) csv.delimiter = options.delimiter == "TAB" ? '\t' : options.delimiter[0];
  if (options.header.empty()) return request;
  const std::vector<std::string> names = absl::StrSplit(options.header, ',');
  csv.header_list = names;
  return request;
}

}  // namespace

absl::Status RunImportStart(Context& context, const ImportStartOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(const ImportTableRequest request, RequestOf(context, options));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(ImportDescription import, client.ImportTable(request, context.Call()));
  if (options.wait) {
    Progress progress(ProgressStream(context),
                      {.doing = "importing " + request.table.table_name, .unit = "items"});
    while (import.import_status == ImportStatus::kInProgress) {
      progress.Set(import.processed_item_count);
      if (context.session().interrupted())
        return absl::CancelledError("interrupted; the daemon continues to import the table");
      absl::SleepFor(kImportPollInterval);
      ITEMDB_ASSIGN_OR_RETURN(import, client.DescribeImport(import.import_arn, context.Call()));
    }
  }
  PrintImport(context, import);
  if (!options.wait || import.import_status != ImportStatus::kFailed) return absl::OkStatus();
  return ToolError(ExitCode::kRefused, absl::StrCat(import.failure_code, ": ", import.failure_message));
}

absl::Status RunImportDescribe(Context& context, const ImportOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  std::string arn = options.import;
  if (!arn.starts_with("arn:")) {
    const ListImportsRequest request{.table_arn = options.import, .page_size = 1};
    ITEMDB_ASSIGN_OR_RETURN(const ListImportsResult newest, client.ListImports(request, context.Call()));
    if (newest.imports.empty())
      return ToolError(ExitCode::kRefused, "there is no import of a table " + options.import);
    arn = newest.imports[0].import_arn;
  }
  ITEMDB_ASSIGN_OR_RETURN(const ImportDescription import, client.DescribeImport(arn, context.Call()));
  PrintImport(context, import);
  return absl::OkStatus();
}

absl::Status RunImportList(Context& context, const ImportListOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<ImportDescription> imports,
                          AllImports(context, client, options.table_name));
  if (context.format() != OutputFormat::kTable) {
    std::vector<JsonValue> elements;
    for (const ImportDescription& import : imports) elements.push_back(ImportToJson(import));
    context.Print(JsonValue::Object().Add("Imports", JsonValue::Array(std::move(elements))));
  } else if (imports.empty()) {
    context.out() << "no imports\n";
  } else {
    context.Print(ImportsToTable(imports));
  }
  return absl::OkStatus();
}

void RegisterImportCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "import", .summary = "New tables that are made of files"});
  auto start = std::make_shared<ImportStartOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "start",
       .summary = "Make a new table of the objects in a bucket",
       .details =
           "The table is CREATING until the import has ended. Items that cannot be stored are left out; the "
           "file imports/ID.jsonl in the daemon's data directory lists them, and the import is FAILED.",
       .examples = {{"itemctl import start -f books.json library --wait", "all files of the folder library"},
                    {"itemctl import start -f books.json library --prefix 2026/ --format CSV "
                     "--compression GZIP --wait",
                     "compressed CSV files whose paths begin with 2026/"}}},
      [start](Context& context) { return RunImportStart(context, *start); });
  command
      ->add_option("-f,--file", start->file, "A CreateTable document of the new table; - for standard input")
      ->required()
      ->type_name(std::string(kFileName));
  command
      ->add_option("BUCKET", start->bucket,
                   "Name of the bucket: a folder in itemd --export-directory, or at its --s3-endpoint")
      ->required();
  command
      ->add_option("--prefix", start->prefix,
                   "Import only files whose paths in the folder begin with this. Default: all files")
      ->type_name("PREFIX");
  command->add_option("--format", start->format, "DYNAMODB_JSON, ION or CSV. Default: DYNAMODB_JSON")
      ->check(OneOfWords({"DYNAMODB_JSON", "ION", "CSV"}))
      ->type_name("FORMAT");
  command->add_option("--compression", start->compression, "NONE, GZIP or ZSTD. Default: NONE")
      ->check(OneOfWords({"NONE", "GZIP", "ZSTD"}))
      ->type_name("COMPRESSION");
  command
      ->add_option("--delimiter", start->delimiter,
                   "What is between the cells of CSV; TAB for a tabulator. Default: a comma")
      ->check(OneOfWords({",", ";", ":", "|", " ", "TAB"}))
      ->type_name("DELIMITER");
  command
      ->add_option(
          "--header", start->header,
          "Names of the columns of CSV, with commas between them. Default: the first line of each file")
      ->type_name("NAMES");
  command->add_flag("--wait", start->wait, "Wait until the import has ended");

  auto describe = std::make_shared<ImportOptions>();
  command = table.Add(
      group,
      {.name = "describe",
       .summary = "Show an import",
       .examples = {{"itemctl import start -f books.json library --wait && itemctl import describe books",
                     "the newest import of a table"},
                    {"itemctl import start -f books.json library --wait && "
                     "itemctl import describe books -o json",
                     "for programs"}}},
      [describe](Context& context) { return RunImportDescribe(context, *describe); });
  command
      ->add_option("IMPORT", describe->import, "ARN of the import, or the name of a table: its newest import")
      ->required();

  auto list = std::make_shared<ImportListOptions>();
  command = table.Add(group,
                      {.name = "list",
                       .summary = "List imports, the newest first",
                       .examples = {{"itemctl import list", "of all tables, deleted ones too"},
                                    {"itemctl import list books -o json", "of one table, as JSON"}}},
                      [list](Context& context) { return RunImportList(context, *list); });
  command->add_option(std::string(kTableName), list->table_name, "Only imports of this table");
}

}  // namespace itemdb::tools
