#include "tools/commands/model_commands.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/command_table.h"
#include "tools/commands/model_draft.h"

namespace itemdb::tools {
namespace {

void AddFolder(CLI::App* command, std::string& directory) {
  command->add_option(std::string(kFolderName), directory, "The model folder")->required();
}

}  // namespace

void RegisterModelCommands(CommandTable& table) {
  CLI::App* group =
      table.AddGroup({.name = "model", .summary = "Apply, compare and test data models in folders of files"});

  auto apply = std::make_shared<ModelApplyOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "apply",
       .summary = "Create the tables of a model with their items, and add indexes that are missing",
       .details = "May be repeated: existing tables are kept with their items. If a table has another key "
                  "than in the model, the command names it and changes nothing. Other differences are "
                  "listed, with exit code 1; table update, index drop, ttl or --replace can remove them. The "
                  "time to live is turned on for new tables only, because it deletes items. --items puts the "
                  "items that an interrupted run has not put.",
       .examples = {{"itemctl model apply examples/one_to_many", "the tables and items of a folder"},
                    {"itemctl model apply examples/order_entry --replace --yes",
                     "delete the tables and create them again"}}},
      [apply](Context& context) { return RunModelApply(context, *apply); });
  AddFolder(command, apply->directory);
  command->add_flag("--only-tables", apply->only_tables, "Put no items");
  command->add_flag("--items", apply->items,
                    "Put the items also into existing tables, replacing items with the same keys");
  command->add_flag("--replace", apply->replace, "Delete existing tables and create them again");
  AddConfirmOptions(command, apply->confirm, "Print what would be done, and change nothing");

  auto check = std::make_shared<ModelCheckOptions>();
  command = table.Add(
      group,
      {.name = "check",
       .summary = "Compare the live tables with the files of a model",
       .details = "Compares keys, indexes, projections, billing mode, throughput, streams and time to live. "
                  "Differences are listed, with exit code 1.",
       .examples = {{"itemctl model check examples/order_entry", "one line for each difference"},
                    {"itemctl model check examples/order_entry -o jsonl", "one JSON line for each table"}}},
      [check](Context& context) { return RunModelCheck(context, *check); });
  AddFolder(command, check->directory);

  auto run = std::make_shared<ModelRunOptions>();
  command = table.Add(
      group,
      {.name = "run",
       .summary = "Run the access patterns of a model and compare their answers with the expected ones",
       .details = "Prints for each pattern the calls, items scanned and items returned, the differences, and "
                  "warnings about scans; exit code 1 if an answer differs. A pattern that writes runs only "
                  "with --writes. A pattern with a parameter that has no value runs only if --set gives one.",
       .examples = {{"itemctl model run examples/order_entry", "every pattern of a model"},
                    {"itemctl model run examples/order_entry customer-orders --set :customer=cust_002",
                     "one pattern with another value; its answer is not compared"}}},
      [run](Context& context) { return RunModelRun(context, *run); });
  AddFolder(command, run->directory);
  command->add_option("PATTERN", run->patterns, "Names of the patterns to run. Default: all");
  command
      ->add_option("--set", run->settings,
                   "A value for the one pattern named: of a parameter, a placeholder or a key attribute. "
                   "VALUE is plain or DynamoDB JSON; text that is not JSON is a string. The answer is then "
                   "not compared. May be given several times. Default: the values in the file")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  command->add_flag("--writes", run->writes, "Also run patterns that write, in the order of the file");
  command->add_flag("--show-items", run->show_items, "Print the items found, as DynamoDB JSON, at most 1000");

  auto import = std::make_shared<ModelImportOptions>();
  command = table.Add(
      group,
      {.name = "import",
       .summary = "Write a data model of NoSQL Workbench as a model folder",
       .details =
           "Tables, indexes and items become files; each facet and each index becomes a pattern that reads "
           "one partition key, to be completed by hand. The folder must be new or empty.",
       .examples = {{"itemctl model import examples/workbench/library.json library",
                     "into the folder library"},
                    {"itemctl model import - shelves < examples/workbench/library.json",
                     "from standard input"}}},
      [import](Context& context) { return RunModelImport(context, *import); });
  command->add_option(std::string(kFileName), import->file, "The data model, - for standard input")
      ->required();
  AddFolder(command, import->directory);
  RegisterModelDraft(table, group);
}

}  // namespace itemdb::tools
