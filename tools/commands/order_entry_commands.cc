#include "tools/commands/order_entry_commands.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/commands/order_entry_table.h"

namespace itemdb::tools {
namespace {

// The number of words of one --line.
constexpr size_t kLineParts = 4;

JsonValue Text(std::string_view text) { return JsonValue::String(std::string(text)); }

absl::StatusOr<std::vector<Item>> ItemsOf(Client& client, const order_entry::AccessPattern& pattern,
                                          const std::vector<std::string>& arguments, CallOptions call) {
  ITEMDB_ASSIGN_OR_RETURN(ItemRange range, order_entry::RunPattern(client, pattern, arguments, call));
  return range.ToVector();
}

JsonValue PatternToJson(const order_entry::AccessPattern& pattern, const std::vector<Item>& items,
                        ItemForm form) {
  JsonValue array = JsonValue::Array();
  for (const Item& item : items) array.elements.push_back(ItemToJson(item, form));
  return JsonValue::Object()
      .Add("pattern", pattern.number)
      .Add("name", pattern.name)
      .Add("table", pattern.table_name)
      .Add("index", pattern.index_name.has_value() ? Text(*pattern.index_name) : JsonValue::Null())
      .Add("items", std::move(array));
}

// `arguments` with the default values for missing ones at the end.
std::vector<std::string> WithDefaults(const order_entry::AccessPattern& pattern,
                                      std::vector<std::string> arguments) {
  for (size_t i = arguments.size(); i < pattern.parameters.size(); ++i) {
    arguments.emplace_back(pattern.parameters[i].default_value);
  }
  return arguments;
}

absl::StatusOr<std::vector<order_entry::NewOrderLine>> ReadLines(const std::vector<std::string>& parts) {
  std::vector<order_entry::NewOrderLine> lines;
  for (size_t i = 0; i + kLineParts <= parts.size(); i += kLineParts) {
    absl::StatusOr<Number> quantity = Number::Parse(parts[i + 2]);
    absl::StatusOr<int64_t> pieces = quantity.ok() ? quantity->ToInt64() : quantity.status();
    if (!pieces.ok()) {
      return UsageError(absl::StrFormat("--line %s: the quantity must be a whole number, not %s", parts[i],
                                        JsonString(parts[i + 2])));
    }
    absl::StatusOr<Number> price = Number::Parse(parts[i + 3]);
    if (!price.ok()) {
      return UsageError(absl::StrFormat("--line %s: the price must be a number, not %s", parts[i],
                                        JsonString(parts[i + 3])));
    }
    lines.push_back(
        {.product_id = parts[i], .quantity = *pieces, .price = *price, .warehouse_id = parts[i + 1]});
  }
  return lines;
}

JsonValue SequenceOf(uint64_t change_sequence) {
  return JsonValue::Object().Add("change_sequence", change_sequence);
}

}  // namespace

absl::Status RunOrderEntryLoad(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_RETURN_IF_ERROR(order_entry::CreateTables(client, context.Call()));
  Progress progress(ProgressStream(context), {.doing = "loading the sample data", .unit = "items"});
  absl::StatusOr<order_entry::LoadResult> result = order_entry::Load(client, context.Call());
  progress.Finish();
  if (!result.ok()) return result.status();
  context.PrintSummary(JsonValue::Object().Add("written", result->written).Add("kept", result->kept));
  return absl::OkStatus();
}

absl::Status RunOrderEntryAll(Context& context) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  JsonValue all = JsonValue::Array();
  for (const order_entry::AccessPattern& pattern : order_entry::AccessPatterns()) {
    ITEMDB_ASSIGN_OR_RETURN(std::vector<Item> items, ItemsOf(client, pattern, {}, context.Call()));
    switch (context.format()) {
      case OutputFormat::kTable:
        if (pattern.number > 1) context.out() << '\n';
        PrintPatternTable(pattern, WithDefaults(pattern, {}), items, ItemForm::kPlain, context);
        break;
      case OutputFormat::kJson:
        all.elements.push_back(PatternToJson(pattern, items, ItemForm::kPlain));
        break;
      case OutputFormat::kJsonLines:
      case OutputFormat::kCsv:
        context.Print(PatternToJson(pattern, items, ItemForm::kPlain));
        break;
    }
  }
  if (context.format() == OutputFormat::kJson) context.Print(all);
  return absl::OkStatus();
}

absl::Status RunOrderEntryPattern(Context& context, const PatternOptions& options) {
  const order_entry::AccessPattern& pattern = *options.pattern;
  const std::vector<std::string> arguments = WithDefaults(pattern, options.arguments);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<Item> items, ItemsOf(client, pattern, arguments, context.Call()));
  if (items.empty() && pattern.operation == "GetItem") {
    return ToolError(ExitCode::kNotFound,
                     absl::StrFormat("the table %s has no such item: %s", std::string(pattern.table_name),
                                     absl::StrJoin(arguments, ", ")));
  }
  const ItemForm form = options.typed ? ItemForm::kTyped : ItemForm::kPlain;
  switch (context.format()) {
    case OutputFormat::kTable:
      PrintPatternTable(pattern, arguments, items, form, context);
      break;
    case OutputFormat::kJson:
      context.Print(PatternToJson(pattern, items, form));
      break;
    case OutputFormat::kJsonLines:
    case OutputFormat::kCsv:
      for (const Item& item : items) context.Print(ItemToJson(item, form));
      break;
  }
  return absl::OkStatus();
}

absl::Status RunPlaceOrder(Context& context, const PlaceOrderOptions& options) {
  order_entry::NewOrder order{.order_id = options.order_id,
                              .customer_id = options.customer_id,
                              .order_date = options.order_date,
                              .account_rep_id = options.account_rep_id,
                              .lines = {},
                              .shard = options.shard};
  ITEMDB_ASSIGN_OR_RETURN(std::vector<order_entry::NewOrderLine> lines, ReadLines(options.lines));
  order.lines = std::move(lines);
  if (!options.total_amount.empty()) {
    absl::StatusOr<Number> total = Number::Parse(options.total_amount);
    if (!total.ok()) return UsageError("--total: " + std::string(total.status().message()));
    order.total_amount = *std::move(total);
  }
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(order_entry::PlacedOrder placed,
                          order_entry::PlaceOrder(client, order, context.Call()));
  context.PrintSummary(SequenceOf(placed.change_sequence)
                           .Add("shard", placed.shard)
                           .Add("total_amount", ValueToJson(placed.total_amount, ItemForm::kPlain)));
  return absl::OkStatus();
}

absl::Status RunCloseOrder(Context& context, const std::string& order_id) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(WriteResult closed, order_entry::CloseOrder(client, order_id, context.Call()));
  context.PrintSummary(SequenceOf(closed.change_sequence));
  return absl::OkStatus();
}

absl::Status RunMoveStock(Context& context, const order_entry::StockMove& move) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(order_entry::StockResult moved,
                          order_entry::MoveStock(client, move, context.Call()));
  context.PrintSummary(SequenceOf(moved.change_sequence));
  return absl::OkStatus();
}

absl::Status RunRestock(Context& context, const order_entry::StockDelivery& delivery) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(order_entry::StockResult restocked,
                          order_entry::Restock(client, delivery, context.Call()));
  context.PrintSummary(SequenceOf(restocked.change_sequence));
  return absl::OkStatus();
}

}  // namespace itemdb::tools
