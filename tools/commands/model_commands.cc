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
  CLI::App* group = table.AddGroup(
      {.name = "model", .summary = "Make, compare and test data models that are kept as files in a folder"});

  auto apply = std::make_shared<ModelApplyOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "apply",
       .summary = "Create the tables of a model with their items, and add indexes that are missing",
       .details =
           "May be repeated: tables that are there are kept, with their items. A table with another key "
           "than the model's is refused by name before anything is changed; what differs otherwise is "
           "listed, with exit code 1, for table update, index drop, ttl or --replace to take away. The time "
           "to live is turned on with a new table only, as it deletes items. Items that an interrupted run "
           "has not put are put by --items.",
       .examples = {{"itemctl model apply examples/one_to_many", "the tables and items of a folder"},
                    {"itemctl model apply examples/order_entry --replace --yes",
                     "delete the tables and make them anew"}}},
      [apply](Context& context) { return RunModelApply(context, *apply); });
  AddFolder(command, apply->directory);
  command->add_flag("--only-tables", apply->only_tables, "Put no items");
  command->add_flag("--items", apply->items,
                    "Put the items also into tables that are there, replacing others");
  command->add_flag("--replace", apply->replace, "Delete the tables that are there, and make them anew");
  AddConfirmOptions(command, apply->confirm, "Print what would be done, and change nothing");

  auto check = std::make_shared<ModelCheckOptions>();
  command = table.Add(
      group,
      {.name = "check",
       .summary = "Compare the live tables with the files of a model",
       .details = "Compares keys, indexes, projections, billing mode, throughput, streams and time to live; "
                  "exit code 1 and a list when something differs.",
       .examples = {{"itemctl model check examples/order_entry", "what differs, a line each"},
                    {"itemctl model check examples/order_entry -o jsonl", "for a script, a line a table"}}},
      [check](Context& context) { return RunModelCheck(context, *check); });
  AddFolder(command, check->directory);

  auto run = std::make_shared<ModelRunOptions>();
  command = table.Add(
      group,
      {.name = "run",
       .summary = "Run the access patterns of a model and compare their answers with the expected ones",
       .details = "Prints calls, items scanned and items returned of each, what differs, and warnings about "
                  "patterns that scan; exit code 1 when an answer differs. Patterns that write, or lack the "
                  "value of a parameter, are left out unless --writes or --set says otherwise.",
       .examples = {{"itemctl model run examples/order_entry", "every pattern of a model"},
                    {"itemctl model run examples/order_entry customer-orders --set :customer=cust_002",
                     "one, with another value, whatever the answer"}}},
      [run](Context& context) { return RunModelRun(context, *run); });
  AddFolder(command, run->directory);
  command->add_option("PATTERN", run->patterns, "Names of the patterns to run. Default: all");
  command
      ->add_option(
          "--set", run->settings,
          "A value of the one pattern named: of a parameter, a placeholder or a key attribute; JSON, "
          "plain or DynamoDB JSON, or a string as it stands. The answer is then not compared. May be "
          "given several times. Default: the values in the file")
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
