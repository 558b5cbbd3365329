#include "tools/commands/item_commands.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/reserved_names.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kTheKey = "the key";

ItemForm FormOf(bool typed) { return typed ? ItemForm::kTyped : ItemForm::kPlain; }

// Copies the options into the members that all three requests have.
template <typename Request>
absl::Status FillWrite(const ItemWriteOptions& options, Request& request) {
  request.table_name = options.table_name;
  request.condition_expression = options.condition_expression;
  request.return_values = options.return_values;
  request.return_values_on_condition_check_failure = options.on_condition_failure;
  request.return_consumed_capacity = CapacityOf(options);
  return FillPlaceholders(options, request);
}

void PrintCapacity(const std::optional<ConsumedCapacity>& capacity, Context& context) {
  ConsumedTotal total;
  total.Add(capacity);
  total.Print(context);
}

// Prints the attributes and the capacity that a write returned.
absl::Status FinishWrite(const absl::StatusOr<WriteResult>& result, const ItemWriteOptions& options,
                         Context& context) {
  const std::optional<Item> item = result.ok() ? result->attributes : ConditionFailedItem(result.status());
  if (item.has_value()) PrintItem(*item, context.format(), FormOf(options.typed), context.out());
  if (result.ok()) PrintCapacity(result->consumed_capacity, context);
  return result.status();
}

absl::StatusOr<Item> ReadItemToPut(const ItemPutOptions& options, Context& context) {
  if (options.item.empty() == options.file.empty()) {
    return UsageError("give the item either as an argument (- for standard input) or with --file");
  }
  if (options.typed && options.plain) {
    return UsageError("give --typed or --plain, not both: each says in which form the item is");
  }
  std::string text = options.item;
  if (!options.file.empty() || options.item == "-") {
    ITEMDB_ASSIGN_OR_RETURN(std::string content, context.ReadFile(options.file.empty() ? "-" : options.file));
    text = std::move(content);
  }
  const ReadForm form = options.typed   ? ReadForm::kTyped
                        : options.plain ? ReadForm::kPlain
                                        : ReadForm::kDetect;
  return ParseItem(text, form, "the item");
}

std::string ActionOf(const DeleteItemRequest& request, const std::optional<Item>& found) {
  if (!found.has_value()) {
    return absl::StrFormat("delete nothing: the table %s has no item with the key %s", request.table_name,
                           OneLine(ItemToJson(request.key, ItemForm::kPlain)));
  }
  return absl::StrFormat("delete from the table %s the item %s", request.table_name,
                         OneLine(ItemToJson(*found, ItemForm::kPlain)));
}

// Evaluates the condition as the deletion would, and prints the item that would be deleted. Writes nothing.
absl::Status TryItemDelete(Context& context, Client& client, const DeleteItemRequest& request,
                           const ItemDeleteOptions& options) {
  if (!request.condition_expression.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(
        const TransactWriteItemsResult checked,
        client.TransactWriteItems(
            {.actions = {ConditionCheck{.table_name = request.table_name,
                                        .key = request.key,
                                        .condition_expression = request.condition_expression,
                                        .expression_attribute_names = request.expression_attribute_names,
                                        .expression_attribute_values = request.expression_attribute_values}}},
            context.Call()));
  }
  ITEMDB_ASSIGN_OR_RETURN(
      GetItemResult found,
      client.GetItem({.table_name = request.table_name, .key = request.key}, context.Call()));
  ITEMDB_RETURN_IF_ERROR(
      Confirm(context, options.confirm, ActionOf(request, found.item), Unattended::kGoOn).status());
  if (found.item.has_value()) PrintItem(*found.item, context.format(), FormOf(options.typed), context.out());
  return absl::OkStatus();
}

}  // namespace

absl::Status RunItemGet(Context& context, const ItemGetOptions& options) {
  GetItemRequest request{.table_name = options.table_name,
                         .key = {},
                         .projection_expression = options.projection_expression,
                         .return_consumed_capacity = CapacityOf(options)};
  ITEMDB_ASSIGN_OR_RETURN(Item key, ParseItem(options.key, ReadForm::kDetect, kTheKey));
  request.key = std::move(key);
  ITEMDB_ASSIGN_OR_RETURN(ExpressionAttributeNames names,
                          ParseNames(options.names, "--expression-attribute-names"));
  request.expression_attribute_names = std::move(names);
  AliasReservedWords(request);

  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(GetItemResult result, client.GetItem(request, context.Call()));
  PrintCapacity(result.consumed_capacity, context);
  if (!result.item.has_value()) {
    return ToolError(ExitCode::kNotFound,
                     absl::StrFormat("the table %s has no item with the key %s", options.table_name,
                                     OneLine(ItemToJson(request.key, ItemForm::kPlain))));
  }
  PrintItem(*result.item, context.format(), FormOf(options.typed), context.out());
  return absl::OkStatus();
}

absl::Status RunItemPut(Context& context, const ItemPutOptions& options) {
  PutItemRequest request;
  ITEMDB_RETURN_IF_ERROR(FillWrite(options, request));
  ITEMDB_ASSIGN_OR_RETURN(Item item, ReadItemToPut(options, context));
  request.item = std::move(item);
  AliasReservedWords(request);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  return FinishWrite(client.PutItem(request, context.Call()), options, context);
}

absl::Status RunItemUpdate(Context& context, const ItemUpdateOptions& options) {
  UpdateItemRequest request;
  ITEMDB_RETURN_IF_ERROR(FillWrite(options, request));
  ITEMDB_ASSIGN_OR_RETURN(Item key, ParseItem(options.key, ReadForm::kDetect, kTheKey));
  request.key = std::move(key);
  request.update_expression = options.update_expression;
  AliasReservedWords(request);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  return FinishWrite(client.UpdateItem(request, context.Call()), options, context);
}

absl::Status RunItemDelete(Context& context, const ItemDeleteOptions& options) {
  DeleteItemRequest request;
  ITEMDB_RETURN_IF_ERROR(FillWrite(options, request));
  ITEMDB_ASSIGN_OR_RETURN(Item key, ParseItem(options.key, ReadForm::kDetect, kTheKey));
  request.key = std::move(key);
  AliasReservedWords(request);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  if (options.confirm.dry_run) return TryItemDelete(context, client, request, options);
  if (!options.confirm.yes && context.streams().in_is_terminal) {
    ITEMDB_ASSIGN_OR_RETURN(
        GetItemResult found,
        client.GetItem({.table_name = request.table_name, .key = request.key}, context.Call()));
    ITEMDB_RETURN_IF_ERROR(
        Confirm(context, options.confirm, ActionOf(request, found.item), Unattended::kGoOn).status());
  }
  return FinishWrite(client.DeleteItem(request, context.Call()), options, context);
}

// ---- command line --------------------------------------------------------------------------------

namespace {

void AddTable(CLI::App* command, std::string& table_name) {
  command->add_option(std::string(kTableName), table_name, "The table's name")->required();
}

void AddTableAndKey(CLI::App* command, std::string& table_name, std::string& key) {
  AddTable(command, table_name);
  command->add_option("KEY", key, "Exactly the key attributes, for example '{\"id\": \"a\"}'")->required();
}

void AddNames(CLI::App* command, std::string& names) {
  command
      ->add_option("--expression-attribute-names,--names", names,
                   "JSON object: placeholder \"#n\" to name. Default: none")
      ->type_name("JSON");
}

template <typename E>
std::vector<std::string> NamesOf(const std::map<std::string, E>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

// Reads an option's value as one of AWS's names. CLI11's own transformer accepts other text too.
template <typename E>
CLI::Validator OneOf(const std::map<std::string, E>& names) {
  return CLI::Validator(
      [names](std::string& text) -> std::string {
        if (auto found = names.find(text); found != names.end()) {
          text = std::to_string(static_cast<int>(found->second));
          return "";
        }
        return absl::StrFormat(
            "%s is unknown; allowed are %s%s", text,
            absl::StrJoin(names, ", ", [](std::string* out, const auto& name) { out->append(name.first); }),
            common::DidYouMean(text, NamesOf(names)));
      },
      "");
}

// `updates` is true for UpdateItem, whose --return-values has more choices than NONE and ALL_OLD.
void AddWriteOptions(CLI::App* command, ItemWriteOptions& options, bool updates) {
  static const std::map<std::string, ReturnValues> kReturnValues = {{"NONE", ReturnValues::kNone},
                                                                    {"ALL_OLD", ReturnValues::kAllOld}};
  static const std::map<std::string, ReturnValues> kUpdateReturnValues = {
      {"NONE", ReturnValues::kNone},
      {"ALL_OLD", ReturnValues::kAllOld},
      {"UPDATED_OLD", ReturnValues::kUpdatedOld},
      {"ALL_NEW", ReturnValues::kAllNew},
      {"UPDATED_NEW", ReturnValues::kUpdatedNew}};
  static const std::map<std::string, ReturnValuesOnConditionCheckFailure> kOnConditionFailure = {
      {"NONE", ReturnValuesOnConditionCheckFailure::kNone},
      {"ALL_OLD", ReturnValuesOnConditionCheckFailure::kAllOld}};
  command
      ->add_option("--condition-expression,--condition", options.condition_expression,
                   "Write only if this is true for the stored item. Default: always")
      ->type_name("EXPRESSION");
  AddNames(command, options.names);
  command
      ->add_option("--expression-attribute-values,--values", options.values,
                   "JSON object: placeholder \":v\" to value, plain or DynamoDB JSON. Default: none")
      ->type_name("JSON");
  command->add_option("--return-values", options.return_values, "What to print. Default: NONE")
      ->transform(OneOf(updates ? kUpdateReturnValues : kReturnValues))
      ->type_name(updates ? "NONE|ALL_OLD|UPDATED_OLD|ALL_NEW|UPDATED_NEW" : "NONE|ALL_OLD");
  command
      ->add_option("--return-values-on-condition-check-failure", options.on_condition_failure,
                   "What to print when the condition is false. Default: NONE")
      ->transform(OneOf(kOnConditionFailure))
      ->type_name("NONE|ALL_OLD");
  AddCapacityOption(command, options);
}

}  // namespace

void RegisterItemCommands(CommandTable& table) {
  CLI::App* group = table.AddGroup({.name = "item", .summary = "Read and write single items"});

  auto get = std::make_shared<ItemGetOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "get",
       .summary = "Read one item by its primary key",
       .details = "Ends with exit code 3 if the item does not exist.",
       .examples =
           {{R"(itemctl item get Customer '{"customer_id": "cust_001"}')", "one item"},
            {R"(itemctl item get --typed Customer '{"customer_id": "cust_001"}' --projection 'email')",
             "one attribute of it, as DynamoDB JSON"}}},
      [get](Context& context) { return RunItemGet(context, *get); });
  AddTableAndKey(command, get->table_name, get->key);
  command
      ->add_option("--projection-expression,--projection", get->projection_expression,
                   "Attributes to return. Default: all")
      ->type_name("EXPRESSION");
  AddNames(command, get->names);
  AddCapacityOption(command, *get);
  command->add_flag("--typed", get->typed, "Print DynamoDB JSON");

  auto put = std::make_shared<ItemPutOptions>();
  command = table.Add(
      group,
      {.name = "put",
       .summary = "Create an item or replace the whole item",
       .details = "Prints nothing unless --return-values asks for it.",
       .examples =
           {{R"(itemctl item put music '{"artist": "Nina Simone", "song": "Sinnerman", "year": 1965}')",
             "store an item"},
            {R"(itemctl item get --typed music '{"artist": "Bach", "song": "Air"}' | itemctl item put music -)",
             "copy an item of any types"}}},
      [put](Context& context) { return RunItemPut(context, *put); });
  AddTable(command, put->table_name);
  command->add_option("ITEM", put->item, "The item, plain or DynamoDB JSON; - for standard input");
  command
      ->add_option("-f,--file", put->file,
                   "Read the item from this file, - for standard input. Default: the argument ITEM")
      ->type_name(std::string(kFileName));
  AddWriteOptions(command, *put, false);
  command->add_flag("--typed", put->typed, "The item is DynamoDB JSON, and the output too");
  command->add_flag("--plain", put->plain, "The item and the values are plain JSON");

  auto update = std::make_shared<ItemUpdateOptions>();
  command = table.Add(
      group,
      {.name = "update",
       .summary = "Change attributes of an item, creating it when it is missing",
       .details = "Prints nothing unless --return-values asks for it.",
       .examples =
           {{R"(itemctl item update music '{"artist": "Bach", "song": "Air"}' --update 'ADD plays :n' )"
             R"(--values '{":n": 1}' --return-values UPDATED_NEW)",
             "count, and print the new count"},
            {R"(itemctl item update music '{"artist": "Bach", "song": "Air"}' --update 'REMOVE rating' )"
             R"(--condition 'attribute_exists(artist)')",
             "remove an attribute, of an existing item only"}}},
      [update](Context& context) { return RunItemUpdate(context, *update); });
  AddTableAndKey(command, update->table_name, update->key);
  command
      ->add_option("--update-expression,--update", update->update_expression,
                   "SET, REMOVE, ADD and DELETE clauses. Default: none, which only creates the item")
      ->type_name("EXPRESSION");
  AddWriteOptions(command, *update, true);
  command->add_flag("--typed", update->typed, "Print DynamoDB JSON");
  command->add_flag("--plain", update->plain, "The values are plain JSON");

  auto remove = std::make_shared<ItemDeleteOptions>();
  command = table.Add(
      group,
      {.name = "delete",
       .summary = "Remove an item; removing a missing item succeeds",
       .details = "On a terminal it shows the item and asks first. Without a terminal it deletes at once, "
                  "because the key names a single item.",
       .examples =
           {{R"(itemctl item delete music '{"artist": "Bach", "song": "Air"}' --dry-run)",
             "print the item that would be deleted"},
            {R"(itemctl item delete music '{"artist": "Bach", "song": "Air"}' --yes --return-values ALL_OLD)",
             "delete the item without being asked, and print it"}}},
      [remove](Context& context) { return RunItemDelete(context, *remove); });
  AddTableAndKey(command, remove->table_name, remove->key);
  AddWriteOptions(command, *remove, false);
  command->add_flag("--typed", remove->typed, "Print DynamoDB JSON");
  command->add_flag("--plain", remove->plain, "The values are plain JSON");
  AddConfirmOptions(command, remove->confirm);
}

}  // namespace itemdb::tools
