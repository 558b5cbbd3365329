#include "tools/commands/transact_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/json/request_json.h"

namespace itemdb::tools {
namespace {

constexpr char kTransactOption[] = "--transact-items";

ItemForm FormOf(const TransactOptions& options) {
  return options.typed ? ItemForm::kTyped : ItemForm::kPlain;
}

void PrintCapacity(const std::vector<ConsumedCapacity>& capacities, Context& context) {
  ConsumedTotal total;
  total.Add(capacities);
  total.Print(context);
}

// ---- reads ---------------------------------------------------------------------------------------

// As in AWS's answer: {} if there is no item.
JsonValue ResponseToJson(const std::optional<Item>& item, ItemForm form) {
  JsonValue response = JsonValue::Object();
  if (item.has_value()) response.Add("Item", ItemToJson(*item, form));
  return response;
}

absl::Status ReadAll(Context& context, const Client& client, std::vector<TransactGet> gets,
                     const TransactOptions& options) {
  const TransactGetItemsRequest request{
      .gets = std::move(gets), .large = options.large, .return_consumed_capacity = CapacityOf(options)};
  ITEMDB_ASSIGN_OR_RETURN(const TransactGetItemsResult result,
                          client.TransactGetItems(request, context.Call()));
  PrintCapacity(result.consumed_capacity, context);
  const ItemForm form = FormOf(options);
  if (context.format() != OutputFormat::kTable) {
    JsonValue responses = JsonValue::Array();
    for (const std::optional<Item>& item : result.items)
      responses.elements.push_back(ResponseToJson(item, form));
    context.PrintList("Responses", std::move(responses));
    return absl::OkStatus();
  }
  TextTable table({NumberColumn("get"), "table", "item"});
  for (size_t i = 0; i < result.items.size(); ++i) {
    const std::optional<Item>& item = result.items[i];
    table.AddRow({std::to_string(i + 1), request.gets[i].table_name,
                  item.has_value() ? OneLine(ItemToJson(*item, form)) : "none"});
  }
  context.Print(table);
  return absl::OkStatus();
}

// ---- writes --------------------------------------------------------------------------------------

std::string ActionName(const TransactAction& action) {
  return std::holds_alternative<TransactPut>(action)      ? "Put"
         : std::holds_alternative<TransactUpdate>(action) ? "Update"
         : std::holds_alternative<TransactDelete>(action) ? "Delete"
                                                          : "ConditionCheck";
}

const std::string& TableOf(const TransactAction& action) {
  return std::visit([](const auto& a) -> const std::string& { return a.table_name; }, action);
}

JsonValue ReasonToJson(const CancellationReason& reason, ItemForm form) {
  JsonValue json = JsonValue::Object().Add("Code", CodeName(reason.code));
  if (!reason.message.empty()) json.Add("Message", reason.message);
  if (reason.item.has_value()) json.Add("Item", ItemToJson(*reason.item, form));
  return json;
}

void PrintReasons(Context& context, const std::vector<TransactAction>& actions,
                  const std::vector<CancellationReason>& reasons, ItemForm form) {
  if (context.format() == OutputFormat::kTable) {
    TextTable table({NumberColumn("action"), "kind", "table", "code", "message", "item"});
    for (size_t i = 0; i < std::min(actions.size(), reasons.size()); ++i) {
      table.AddRow({std::to_string(i + 1), ActionName(actions[i]), TableOf(actions[i]),
                    std::string(CodeName(reasons[i].code)), reasons[i].message,
                    reasons[i].item.has_value() ? OneLine(ItemToJson(*reasons[i].item, form)) : ""});
    }
    context.Print(table);
    return;
  }
  JsonValue array = JsonValue::Array();
  for (const CancellationReason& reason : reasons) array.elements.push_back(ReasonToJson(reason, form));
  context.PrintList("CancellationReasons", std::move(array));
}

absl::Status WriteAll(Context& context, const Client& client, std::vector<TransactAction> actions,
                      const TransactOptions& options) {
  const auto is_delete = [](const TransactAction& action) {
    return std::holds_alternative<TransactDelete>(action);
  };
  const auto deletes = std::count_if(actions.begin(), actions.end(), is_delete);
  const std::string action = absl::StrFormat(
      "apply %s, %s", NumberOf(static_cast<int64_t>(actions.size()), {.one = "action", .many = "actions"}),
      deletes == 1 ? "1 of them a deletion" : absl::StrCat(deletes, " of them deletions"));
  if (options.confirm.dry_run || deletes > 0) {
    ITEMDB_ASSIGN_OR_RETURN(bool go_on, Confirm(context, options.confirm, action, Unattended::kGoOn));
    if (!go_on) return absl::OkStatus();
  }
  CallOptions call = context.Call();
  call.client_request_token = options.client_request_token;
  const size_t count = actions.size();
  const TransactWriteItemsRequest request{
      .actions = std::move(actions), .large = options.large, .return_consumed_capacity = CapacityOf(options)};
  const absl::StatusOr<TransactWriteItemsResult> result = client.TransactWriteItems(request, call);
  if (!result.ok()) {
    const std::vector<CancellationReason> reasons = CancellationReasons(result.status());
    if (!reasons.empty()) PrintReasons(context, request.actions, reasons, FormOf(options));
    return result.status();
  }
  context.PrintSummary(JsonValue::Object().Add("Applied", count));
  PrintCapacity(result->consumed_capacity, context);
  return absl::OkStatus();
}

}  // namespace

absl::Status RunTransact(Context& context, const TransactOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(std::string text, ReadDocument(context, options, kTransactOption));
  ITEMDB_ASSIGN_OR_RETURN(Transaction transaction, ParseTransaction(text, options.form()));
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  if (auto* gets = std::get_if<std::vector<TransactGet>>(&transaction); gets != nullptr) {
    return ReadAll(context, client, std::move(*gets), options);
  }
  return WriteAll(context, client, std::get<std::vector<TransactAction>>(std::move(transaction)), options);
}

void RegisterTransactCommands(CommandTable& table) {
  auto options = std::make_shared<TransactOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "transact",
       .summary = "Read items of any tables from one snapshot, or apply all or none of several writes",
       .details =
           "Takes what \"aws dynamodb transact-write-items --transact-items\" and \"transact-get-items\" "
           "take: an "
           "array of Put, Update, Delete and ConditionCheck, or of Get, with items, keys and values in "
           "either "
           "form. Of a cancelled transaction it prints for each action why it would or would not have been "
           "applied, and ends with exit code 4. On a terminal it asks before it deletes; a script is not "
           "asked.",
       .examples =
           {{R"(itemctl transact --transact-items '[{"Update": {"TableName": "music", "Key": {"artist": "Bach", )"
             R"("song": "Air"}, "UpdateExpression": "ADD plays :n", "ExpressionAttributeValues": {":n": 1}}}, )"
             R"({"Put": {"TableName": "music", "Item": {"artist": "Bach", "song": "Badinerie"}, )"
             R"j("ConditionExpression": "attribute_not_exists(artist)"}}]')j",
             "two writes together, one under a condition"},
            {R"(echo '[{"Get": {"TableName": "music", "Key": {"artist": "Bach", "song": "Air"}}}, )"
             R"({"Get": {"TableName": "Customer", "Key": {"customer_id": "cust_001"}}}]' | itemctl transact -f -)",
             "two items from one snapshot"}}},
      [options](Context& context) { return RunTransact(context, *options); });
  AddDocumentOptions(command, *options, kTransactOption, "JSON array of actions");
  command->add_flag("--large", options->large, "Allow up to 10,000 actions, of at most 16 MiB");
  command
      ->add_option(
          "--client-request-token", options->client_request_token,
          "1 to 36 characters: writes sent again with it within ten minutes are applied once. Default: a "
          "random one")
      ->type_name("TOKEN");
  AddCapacityOption(command, *options);
  command->add_flag("--typed", options->typed, "Print DynamoDB JSON");
  AddConfirmOptions(command, options->confirm, "Print how many writes there would be, and write nothing");
}

}  // namespace itemdb::tools
