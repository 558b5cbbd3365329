#include "tools/commands/table_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/commands/table_update_commands.h"
#include "tools/json/table_json.h"
#include "tools/model/table_text.h"

namespace itemdb::tools {
namespace {

absl::Status Finish(const absl::StatusOr<TableResult>& result, Context& context) {
  if (!result.ok()) return result.status();
  PrintTable(result->table, context);
  return absl::OkStatus();
}

}  // namespace

void PrintTable(const TableDescription& table, Context& context) {
  if (context.format() != OutputFormat::kTable) {
    JsonValue document = TableToJson(table);
    if (context.options().output_version > 1)
      document = JsonValue::Object().Add("Table", std::move(document));
    context.Print(document);
    return;
  }
  const TableDefinition& definition = table.definition;
  TextTable text(
      {"table / index", "status", NumberColumn("items"), NumberColumn("size"), "key schema", "projection"});
  text.AddRow({definition.table_name, std::string(NameOf(table.table_status)),
               WithSeparators(table.item_count), BytesText(table.table_size_bytes),
               KeySchemaText(definition.key_schema, definition), ""});
  for (const IndexDescription& index : table.indexes) {
    text.AddRow({"  " + index.definition.index_name, std::string(NameOf(index.index_status)),
                 WithSeparators(index.item_count), BytesText(index.index_size_bytes),
                 KeySchemaText(index.definition.key_schema, definition),
                 ProjectionText(index.definition.projection)});
  }
  for (const LocalIndexDescription& index : table.local_indexes) {
    text.AddRow({"  " + index.definition.index_name, "local", WithSeparators(index.item_count),
                 BytesText(index.index_size_bytes), KeySchemaText(index.definition.key_schema, definition),
                 ProjectionText(index.definition.projection)});
  }
  for (const VectorIndexDescription& index : table.vector_indexes) {
    text.AddRow({"  " + index.definition.index_name, std::string(NameOf(index.index_status)),
                 absl::StrCat(index.item_count), absl::StrCat(index.index_size_bytes),
                 absl::StrCat("vector ", index.definition.vector_attribute, ", ", index.definition.dimensions,
                              " dimensions"),
                 ProjectionText(index.definition.projection)});
  }
  context.Print(text);
}

absl::Status RunTableCreate(Context& context, const TableCreateOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, context.ReadFile(options.file));
  ITEMDB_ASSIGN_OR_RETURN(TableDefinition definition, ParseTableDefinition(text));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  return Finish(client.CreateTable(definition, context.Call()), context);
}

absl::Status RunTableDescribe(Context& context, const TableNameOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  return Finish(client.DescribeTable(options.table_name, context.Call()), context);
}

absl::Status RunTableDelete(Context& context, const TableDeleteOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  const absl::StatusOr<TableResult> found = client.DescribeTable(options.table_name, context.Call());
  if (!found.ok()) return found.status();
  const std::string action = absl::StrFormat(
      "delete the table %s with %s (%s) and %s", options.table_name,
      NumberOf(found->table.item_count, kItemNoun), BytesText(found->table.table_size_bytes),
      NumberOf(static_cast<int64_t>(found->table.indexes.size()), {.one = "index", .many = "indexes"}));
  ITEMDB_ASSIGN_OR_RETURN(bool go_on, Confirm(context, options.confirm, action, Unattended::kRefuse));
  return Finish(go_on ? client.DeleteTable(options.table_name, context.Call()) : found, context);
}

absl::Status RunTableList(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  std::vector<std::string> names;
  ListTablesRequest request;
  do {
    ITEMDB_ASSIGN_OR_RETURN(ListTablesResult page, client.ListTables(request, context.Call()));
    names.insert(names.end(), page.table_names.begin(), page.table_names.end());
    request.exclusive_start_table_name = page.last_evaluated_table_name.value_or("");
  } while (!request.exclusive_start_table_name.empty());

  switch (context.format()) {
    case OutputFormat::kTable: {
      TextTable text({"table"});
      for (const std::string& name : names) text.AddRow({name});
      context.Print(text, {.one = "table", .many = "tables"});
      break;
    }
    case OutputFormat::kJson:
      context.Print(JsonValue::Object().Add("TableNames", names));
      break;
    case OutputFormat::kJsonLines:
    case OutputFormat::kCsv:
      for (const std::string& name : names) {
        context.Print(JsonValue::Object().Add("TableName", name));
      }
      break;
  }
  return absl::OkStatus();
}

void RegisterTableCommands(CommandTable& table) {
  CLI::App* group =
      table.AddGroup({.name = "table", .summary = "Create, describe, change and delete tables"});

  auto create = std::make_shared<TableCreateOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "create",
       .summary = "Create a table from a CreateTable document as written for AWS",
       .details = "The table can be used as soon as the command returns; its description is printed.",
       .examples = {{"itemctl table create -f books.json", "create the table that a file describes"},
                    {"cat books.json | itemctl table create -f -", "the same from standard input"}}},
      [create](Context& context) { return RunTableCreate(context, *create); });
  command->add_option("-f,--file", create->file, "The JSON document; - for standard input")
      ->required()
      ->type_name(std::string(kFileName));

  table.Add(group,
            {.name = "list",
             .summary = "List the names of all tables",
             .examples = {{"itemctl table list", "one table a line"},
                          {"itemctl table list -o json", "one JSON document with all names"}},
             .pages = true},
            RunTableList);

  auto describe = std::make_shared<TableNameOptions>();
  command = table.Add(
      group,
      {.name = "describe",
       .summary = "Show a table's schema, indexes and exact counts",
       .examples = {{"itemctl table describe Order", "the table and its indexes"},
                    {"itemctl table describe Order -o json", "in the format of AWS's DescribeTable"}},
       .pages = true},
      [describe](Context& context) { return RunTableDescribe(context, *describe); });
  command->add_option(std::string(kTableName), describe->table_name, "The table's name")->required();

  auto remove = std::make_shared<TableDeleteOptions>();
  command = table.Add(
      group,
      {.name = "delete",
       .summary = "Delete a table, its items and its indexes",
       .details =
           "Asks first; without a terminal, --yes is needed. Prints the last description of the table.",
       .examples = {{"itemctl table delete music --dry-run", "show what would be deleted"},
                    {"itemctl table delete music --yes", "delete it without being asked"}}},
      [remove](Context& context) { return RunTableDelete(context, *remove); });
  command->add_option(std::string(kTableName), remove->table_name, "The table's name")->required();
  AddConfirmOptions(command, remove->confirm);

  RegisterTableUpdateCommands(table, group);
}

}  // namespace itemdb::tools
