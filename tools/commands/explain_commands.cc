#include "tools/commands/explain_commands.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/cli/command_table.h"
#include "tools/cli/consumed_capacity.h"
#include "tools/cli/option_validators.h"
#include "tools/model/read_advice.h"

namespace itemdb::tools {
namespace {

template <typename Request>
absl::StatusOr<Request> ExplainRequest(const ExplainOptions& options) {
  Request request{};
  if (absl::Status status = FillRead(options, request); !status.ok()) return status;
  request.limit = options.limit;
  request.return_consumed_capacity = ReturnConsumedCapacity::kIndexes;
  request.explain = true;
  return request;
}

absl::StatusOr<ItemPage> ReadPage(Context& context, const Client& client, const ExplainOptions& options,
                                  ObservedRead* read) {
  absl::StatusOr<ItemPage> page;
  if (options.key_condition_expression.empty()) {
    absl::StatusOr<ScanRequest> scan = ExplainRequest<ScanRequest>(options);
    if (!scan.ok()) return scan.status();
    read->expression_attribute_names = scan->expression_attribute_names;
    page = client.Scan(*scan, context.Call());
  } else {
    absl::StatusOr<QueryRequest> query = ExplainRequest<QueryRequest>(options);
    if (!query.ok()) return query.status();
    read->expression_attribute_names = query->expression_attribute_names;
    query->key_condition_expression = options.key_condition_expression;
    query->scan_index_forward = options.scan_index_forward;
    page = client.Query(*query, context.Call());
  }
  if (!page.ok()) return page.status();
  read->is_query = !options.key_condition_expression.empty();
  read->index_name = options.index_name;
  read->filter_expression = options.filter_expression;
  read->scanned_count = page->scanned_count;
  read->count = page->count;
  if (page->plan.has_value()) read->base_items_read = page->plan->base_items_read;
  return page;
}

JsonValue Explanation(const ExplainOptions& options, const ItemPage& page,
                      const std::vector<std::string>& advice) {
  JsonValue document =
      JsonValue::Object()
          .Add("Operation", JsonValue::String(options.key_condition_expression.empty() ? "Scan" : "Query"))
          .Add("TableName", JsonValue::String(options.table_name));
  if (!options.index_name.empty()) document.Add("IndexName", JsonValue::String(options.index_name));
  if (page.plan.has_value()) {
    document.Add("KeyRange", JsonValue::String(page.plan->key_range))
        .Add("ScanIndexForward", JsonValue::Bool(page.plan->forward));
  }
  document.Add("ScannedCount", JsonValue::Number(page.scanned_count))
      .Add("Count", JsonValue::Number(page.count));
  if (page.plan.has_value()) {
    document.Add("BytesRead", JsonValue::Number(page.plan->bytes_read))
        .Add("BaseItemsRead", JsonValue::Number(page.plan->base_items_read));
  }
  document.Add("MorePages", JsonValue::Bool(page.last_evaluated_key.has_value()));
  if (page.consumed_capacity.has_value()) {
    document.Add("ConsumedCapacity", CapacityToJson(*page.consumed_capacity));
  }
  JsonValue sentences = JsonValue::Array();
  for (const std::string& sentence : advice) sentences.elements.push_back(JsonValue::String(sentence));
  document.Add("Advice", std::move(sentences));
  return document;
}

// Prints one line for each figure and each advice.
void PrintUpright(const JsonValue& document, Context& context) {
  TextTable table({"figure", "value"});
  const auto add = [&table](const std::string& name, const JsonValue& value) {
    table.AddRow({name, value.kind == JsonValue::Kind::kString ? value.text : OneLine(value)});
  };
  for (const auto& [name, value] : document.members) {
    if (value.kind != JsonValue::Kind::kArray) {
      add(name, value);
      continue;
    }
    for (const JsonValue& element : value.elements) add(name, element);
  }
  context.Print(table);
}

}  // namespace

absl::Status RunExplain(Context& context, const ExplainOptions& options) {
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return client.status();
  ObservedRead read;
  const absl::StatusOr<ItemPage> page = ReadPage(context, *client, options, &read);
  if (!page.ok()) return page.status();
  const absl::StatusOr<TableResult> table = client->DescribeTable(options.table_name, context.Call());
  if (!table.ok()) return table.status();
  const JsonValue document = Explanation(options, *page, AdviceFor(read, table->table.definition));
  if (context.format() == OutputFormat::kTable) {
    PrintUpright(document, context);
  } else {
    PrintDocument(document, context.format(), context.out());
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
             "that query"}}},
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
