#include "tools/model_commands.h"

#include <CLI/App.hpp>
#include <memory>

#include "tools/command_table.h"

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
           "than the model's is refused by name before anything is changed; what differs otherwise and "
           "cannot be changed on a live table is listed, with exit code 1.",
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
       .details =
           "Compares keys, indexes, projections, billing mode, throughput and streams; exit code 1 and a "
           "list when something differs.",
       .examples = {{"itemctl model check examples/order_entry", "what differs, a line each"},
                    {"itemctl model check examples/order_entry -o jsonl", "for a script, a line a table"}}},
      [check](Context& context) { return RunModelCheck(context, *check); });
  AddFolder(command, check->directory);
}

}  // namespace itemdb::tools
