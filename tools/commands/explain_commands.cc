#include "tools/commands/explain_commands.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/reserved_names.h"
#include "tools/model/read_advice.h"

namespace itemdb::tools {
namespace {

template <typename Request>
absl::StatusOr<Request> ExplainRequest(const ExplainOptions& options) {
  Request request{};
  ITEMDB_RETURN_IF_ERROR(FillRead(options, request));
  request.limit = options.limit;
  request.return_consumed_capacity = ReturnConsumedCapacity::kIndexes;
  request.explain = true;
  return request;
}

absl::StatusOr<ItemPage> ReadPage(Context& context, const Client& client, const ExplainOptions& options,
                                  ObservedRead* read) {
  absl::StatusOr<ItemPage> page;
  if (options.key_condition_expression.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(ScanRequest scan, ExplainRequest<ScanRequest>(options));
    AliasReservedWords(scan);
    read->expression_attribute_names = scan.expression_attribute_names;
    read->expression_attribute_values = scan.expression_attribute_values;
    page = client.Scan(scan, context.Call());
  } else {
    ITEMDB_ASSIGN_OR_RETURN(QueryRequest query, ExplainRequest<QueryRequest>(options));
    read->expression_attribute_names = query.expression_attribute_names;
    read->expression_attribute_values = query.expression_attribute_values;
    query.key_condition_expression = options.key_condition_expression;
    query.scan_index_forward = options.scan_index_forward;
    AliasReservedWords(query);
    page = client.Query(query, context.Call());
  }
  if (!page.ok()) return page.status();
  read->is_query = !options.key_condition_expression.empty();
  read->index_name = options.index_name;
  read->key_condition_expression = options.key_condition_expression;
  read->filter_expression = options.filter_expression;
  read->projection_expression = options.projection_expression;
  read->scanned_count = page->scanned_count;
  read->count = page->count;
  if (page->plan.has_value()) read->base_items_read = page->plan->base_items_read;
  return page;
}

JsonValue Explanation(const ExplainOptions& options, const ItemPage& page,
                      const std::vector<std::string>& advice) {
  JsonValue document = JsonValue::Object()
                           .Add("Operation", options.key_condition_expression.empty() ? "Scan" : "Query")
                           .Add("TableName", options.table_name);
  if (!options.index_name.empty()) document.Add("IndexName", options.index_name);
  if (page.plan.has_value()) {
    document.Add("KeyRange", page.plan->key_range).Add("ScanIndexForward", page.plan->forward);
  }
  document.Add("ScannedCount", page.scanned_count).Add("Count", page.count);
  if (page.plan.has_value()) {
    document.Add("BytesRead", page.plan->bytes_read).Add("BaseItemsRead", page.plan->base_items_read);
  }
  document.Add("MorePages", page.last_evaluated_key.has_value());
  if (page.consumed_capacity.has_value()) {
    document.Add("ConsumedCapacity", CapacityToJson(*page.consumed_capacity));
  }
  return document.Add("Advice", advice);
}

// Where the command in an advice begins; npos without one.
size_t CommandIn(const std::string& advice) {
  const size_t found = advice.find(": itemctl ");
  return found == std::string::npos ? found : found + 2;
}

// Prints one line for each figure and each advice. Commands come after the table, each on a line of its own,
// so that they can be pasted.
void PrintUpright(const JsonValue& document, Context& context) {
  TextTable table({"figure", "value"});
  std::vector<std::string> commands;
  const auto add = [&](const std::string& name, const JsonValue& value) {
    std::string text = value.kind == JsonValue::Kind::kString ? value.text : OneLine(value);
    int64_t number = 0;
    if (value.kind == JsonValue::Kind::kNumber && absl::SimpleAtoi(text, &number))
      text = name == "BytesRead" ? BytesText(number) : WithSeparators(number);
    if (name == "KeyRange" && text.empty()) text = "all";
    // Only a local index that does not hold everything makes the daemon read from the table.
    if (name == "BaseItemsRead" && number == 0) return;
    if (const size_t command = CommandIn(text); command != std::string::npos) {
      commands.push_back(text.substr(command));
      text.resize(command - 2);
    }
    table.AddRow({name, text});
  };
  for (const auto& [name, value] : document.members) {
    if (value.kind != JsonValue::Kind::kArray) {
      add(name, value);
      continue;
    }
    for (const JsonValue& element : value.elements) add(name, element);
  }
  context.Print(table);
  for (const std::string& command : commands) context.out() << '\n' << Printable(command) << '\n';
}

}  // namespace

absl::Status RunExplain(Context& context, const ExplainOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ObservedRead read;
  ITEMDB_ASSIGN_OR_RETURN(const ItemPage page, ReadPage(context, client, options, &read));
  ITEMDB_ASSIGN_OR_RETURN(const TableResult table, client.DescribeTable(options.table_name, context.Call()));
  const JsonValue document = Explanation(options, page, AdviceFor(read, table.table.definition));
  if (context.format() == OutputFormat::kTable) {
    PrintUpright(document, context);
  } else {
    context.Print(document);
  }
  return absl::OkStatus();
}

void RegisterExplainCommands(CommandTable& table) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "explain",
       .summary = "Show what a query or scan reads, what it costs, and how to read less",
       .details = "Reads one page and prints statistics instead of items: a query with --key-condition, "
                  "otherwise a scan. Capacity is what DynamoDB would charge; itemdb does not limit it. The "
                  "advice says if the filter discards most of the items read, if a scan could be a query, "
                  "and if an index would answer it.",
       .examples =
           {{R"(itemctl explain Order --filter 'customer_id = :c' --values '{":c": "cust_001"}')",
             "a scan that should be a query of an index"},
            {R"(itemctl explain Order --index OrderByCustomerDate --key-condition 'customer_id = :c' )"
             R"(--values '{":c": "cust_001"}' -o json)",
             "that query"}},
       .pages = true},
      [options](Context& context) { return RunExplain(context, *options); });
  AddReadOptions(command, *options);
  AddProjectionOption(command, *options);
  AddKeyConditionOption(command, options->key_condition_expression, /*required=*/false);
  AddDirectionFlag(command, options->scan_index_forward);
  command
      ->add_option("--limit", options->limit,
                   "Read at most this many items, counted before the filter, 1 to 2147483647. Default: 1 MiB")
      ->check(PositiveInt32())
      ->type_name("ITEMS");
}

}  // namespace itemdb::tools
