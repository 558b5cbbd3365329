#include "tools/commands/table_files_commands.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/progress.h"
#include "tools/files/table_export.h"
#include "tools/files/table_import.h"

namespace itemdb::tools {
namespace {

// Runs `work` on the client with a progress line. What it says is shown when the line is gone.
template <typename Result>
absl::StatusOr<Result> RunLong(Context& context, const std::string& doing,
                               const std::function<absl::StatusOr<Result>(const LongCommand&)>& work) {
  ITEMDB_ASSIGN_OR_RETURN(const Client client, context.OpenClient());
  std::vector<std::string> said;
  Progress progress(ProgressStream(context), {.doing = doing, .unit = "items"});
  const LongCommand command{.client = client,
                            .call = context.Call(),
                            .progress = progress,
                            .say = [&said](const std::string& line) { said.push_back(line); }};
  absl::StatusOr<Result> result = work(command);
  progress.Finish();
  for (const std::string& line : said) context.err() << line << '\n';
  return result;
}

void RegisterExportTable(CommandTable& table, CLI::App* group) {
  auto options = std::make_shared<ExportTableOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "table",
       .summary = "Write the items of a table into files on this machine",
       .details = "The folder must be empty or not exist. After an interruption the same command goes on. "
                  "itemdb-manifest.json is written last, with the table's description and the size and "
                  "SHA-256 of each "
                  "file. The items are of one committed state if the table can be read within a minute; "
                  "otherwise, and "
                  "after an interruption, each page is of its own moment, which the manifest says. Also "
                  "reads tables "
                  "of DynamoDB's protocol.",
       .examples = {{"itemctl export table Order orders-files", "as DynamoDB JSON, compressed by gzip"},
                    {"itemctl export table Employee employees-csv --format CSV --compression NONE",
                     "for a spreadsheet"}}},
      [options](Context& context) { return RunExportTable(context, *options); });
  command->add_option(std::string(kTableName), options->table_name, "Name of the table")->required();
  command->add_option(std::string(kFolderName), options->folder, "The folder to make")->required();
  command
      ->add_option("--format", options->format,
                   "DYNAMODB_JSON, JSON or CSV. Only the first keeps all types. Default: DYNAMODB_JSON")
      ->check(OneOfWords({"DYNAMODB_JSON", "JSON", "CSV"}))
      ->type_name("FORMAT");
  command->add_option("--compression", options->compression, "NONE, GZIP or ZSTD. Default: GZIP")
      ->check(OneOfWords({"NONE", "GZIP", "ZSTD"}))
      ->type_name("COMPRESSION");
  command
      ->add_option("--columns", options->columns,
                   "Names of the columns of CSV, with commas between them; other attributes are left out. "
                   "Default: for each file all attributes of its items")
      ->type_name("NAMES");
  command
      ->add_option("--items-per-file", options->items_per_file,
                   "How many items a file has at most; an interrupted export repeats at most one file. "
                   "Default: 100000")
      ->check(WholeNumberFrom(1))
      ->type_name("COUNT");
  command->add_flag("--one-state", options->one_state,
                    "Fail if the items cannot be of one committed state; after an interruption begin again");
}

void RegisterImportTable(CommandTable& table, CLI::App* group) {
  auto options = std::make_shared<ImportTableOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "table",
       .summary = "Put the items of files on this machine into a table",
       .details =
           "The folder is one that \"itemctl export table\" made, or one of an export of itemd's. Items with "
           "the same keys are replaced. After an interruption the same command goes on; the items of the "
           "last "
           "second, and of the batch of at most 10,000 lines that was being put, may be put twice. Lines "
           "that "
           "are no items, and items that are refused, are listed in a file in the folder, and end the "
           "command "
           "with an error.",
       .examples = {{"itemctl export table Order order-files && "
                     "itemctl import table OrderCopy order-files --create",
                     "make a second table"},
                    {"itemctl import table music music-files --format JSON",
                     "the JSON lines in the files of a folder that another program made"}}},
      [options](Context& context) { return RunImportTable(context, *options); });
  command->add_option(std::string(kTableName), options->table_name, "Name of the table")->required();
  command->add_option(std::string(kFolderName), options->folder, "The folder with the files")->required();
  command->add_flag(
      "--create", options->create,
      "Make the table, with the keys, indexes and settings of the exported one, but without its time "
      "to live and point-in-time recovery; from an export of itemd's with the keys only");
  command
      ->add_option("--format", options->format,
                   "DYNAMODB_JSON, JSON or CSV: read all files of this format in the folder, without a "
                   "manifest. Default: the manifest says which files, and their format")
      ->check(OneOfWords({"DYNAMODB_JSON", "JSON", "CSV"}))
      ->type_name("FORMAT");
}

}  // namespace

absl::Status RunExportTable(Context& context, const ExportTableOptions& options) {
  TableExportOptions table{.table_name = options.table_name,
                           .folder = options.folder,
                           .format = *ItemFormatFromName(options.format),
                           .compression = *CompressionFromName(options.compression),
                           .items_per_file = options.items_per_file,
                           .needs_one_state = options.one_state};
  if (!options.columns.empty()) {
    if (table.format != ItemFormat::kCsv) return UsageError("--columns needs --format CSV");
    const std::vector<std::string> columns = absl::StrSplit(options.columns, ',');
    std::set<std::string_view> seen;
    for (const std::string& column : columns)
      if (column.empty() || !seen.insert(column).second)
        return UsageError("--columns has an empty name or the name " + column + " twice: " + options.columns);
    table.columns = columns;
  }
  ITEMDB_ASSIGN_OR_RETURN(
      const ExportManifest manifest,
      RunLong<ExportManifest>(context, "exporting " + options.table_name,
                              [&](const LongCommand& command) { return ExportTable(command, table); }));
  int64_t bytes = 0;
  for (const DataFile& file : manifest.files) bytes += file.bytes;
  JsonValue summary = JsonValue::Object()
                          .Add("items", manifest.item_count())
                          .Add("files", static_cast<int64_t>(manifest.files.size()))
                          .Add("bytes", bytes)
                          .Add("one_state", manifest.one_state);
  if (manifest.change_sequence != 0) {
    summary.Add("change_sequence", manifest.change_sequence)
        .Add("last_change_sequence", manifest.last_change_sequence);
  }
  context.PrintSummary(summary);
  return absl::OkStatus();
}

absl::Status RunImportTable(Context& context, const ImportTableOptions& options) {
  TableImportOptions table{
      .table_name = options.table_name, .folder = options.folder, .create = options.create};
  if (!options.format.empty()) table.format = ItemFormatFromName(options.format);
  if (table.create && table.format.has_value()) {
    return UsageError(
        "--create needs the description of the table in an export; make the table with \"itemctl table "
        "create\"");
  }
  ITEMDB_ASSIGN_OR_RETURN(
      const TableImportResult result,
      RunLong<TableImportResult>(context, "importing " + options.table_name,
                                 [&](const LongCommand& command) { return ImportTable(command, table); }));
  context.PrintSummary(JsonValue::Object()
                           .Add("items", result.put_items)
                           .Add("left_out_lines", result.left_out_lines)
                           .Add("files", result.files));
  if (result.left_out_lines == 0) return absl::OkStatus();
  return ToolError(ExitCode::kRefused, absl::StrCat(result.left_out_lines, " lines were left out; ",
                                                    result.report, " lists them"));
}

void RegisterTableFilesCommands(CommandTable& table) {
  RegisterExportTable(table, table.root().get_subcommand("export"));
  RegisterImportTable(table, table.root().get_subcommand("import"));
}

}  // namespace itemdb::tools
