#include "tools/commands/count_commands.h"

#include <memory>

#include "common/status_macros.h"
#include "tools/cli/command_table.h"
#include "tools/cli/reserved_names.h"
#include "tools/commands/query_commands.h"

namespace itemdb::tools {
namespace {

template <typename Request>
absl::StatusOr<Request> CountRequest(const CountOptions& options) {
  Request request{};
  ITEMDB_RETURN_IF_ERROR(FillRead(options, request));
  request.select = Select::kCount;
  request.count_all = true;
  request.skip_damage = options.skip_damage;
  return request;
}

absl::StatusOr<ItemPage> Count(Context& context, const Client& client, const CountOptions& options) {
  if (options.key_condition_expression.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(ScanRequest scan, CountRequest<ScanRequest>(options));
    AliasReservedWords(scan);
    return client.Scan(scan, context.Call());
  }
  ITEMDB_ASSIGN_OR_RETURN(QueryRequest query, CountRequest<QueryRequest>(options));
  query.key_condition_expression = options.key_condition_expression;
  AliasReservedWords(query);
  return client.Query(query, context.Call());
}

}  // namespace

absl::Status RunCount(Context& context, const CountOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(const ItemPage page, Count(context, client, options));
  PrintSkippedDamage(context, page);
  context.PrintSummary(JsonValue::Object().Add("Count", page.count).Add("ScannedCount", page.scanned_count));
  return SkippedDamageError(page.skipped_damage.size());
}

void RegisterCountCommands(CommandTable& table) {
  auto options = std::make_shared<CountOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "count",
       .summary = "Count the items of a table, an index or an item collection, in one call and one snapshot",
       .details = "ScannedCount is the number of items read, before the filter. \"itemctl table describe\" "
                  "shows the number of all items of a table or index without reading them.",
       .examples = {{R"(itemctl count Employee --filter 'job_title = :t' --values '{":t": "Manager"}')",
                     "the number of items for which a filter is true"},
                    {R"(itemctl count Order --index OrderByCustomerDate --key-condition 'customer_id = :c' )"
                     R"(--values '{":c": "cust_001"}')",
                     "the number of items in an item collection of an index"}}},
      [options](Context& context) { return RunCount(context, *options); });
  AddReadOptions(command, *options);
  AddKeyConditionOption(command, options->key_condition_expression, /*required=*/false);
  command->add_flag(
      "--skip-damage", options->skip_damage,
      "Count on behind items that cannot be read, print where on stderr, and end with an error");
}

}  // namespace itemdb::tools
