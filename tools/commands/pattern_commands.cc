#include "tools/commands/pattern_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/item_json.h"
#include "tools/json/status_json.h"

namespace itemdb::tools {
namespace {

// "Query Order.OrderByCustomerDate where customer_id = ? descending, filter status = ?".
std::string RequestText(const AccessPattern& pattern) {
  std::string text = pattern.operation + " " + pattern.table_name;
  if (!pattern.index_name.empty()) absl::StrAppend(&text, ".", pattern.index_name);
  if (!pattern.key_condition.empty()) absl::StrAppend(&text, " where ", pattern.key_condition);
  if (pattern.descending) text += " descending";
  const bool reads = pattern.operation == "Query" || pattern.operation == "Scan";
  if (!pattern.filter.empty())
    absl::StrAppend(&text, pattern.key_condition.empty() ? " " : ", ", reads ? "filter " : "if ",
                    pattern.filter);
  return text;
}

void PrintTable(const AccessPatternsResult& result, Context& context) {
  TextTable table({NumberColumn("calls"), NumberColumn("errors"), "request", NumberColumn("scanned"),
                   NumberColumn("returned"), NumberColumn("p50 us"), NumberColumn("p99 us"), "advice"});
  for (const AccessPattern& pattern : result.patterns) {
    table.AddRow({WithSeparators(pattern.calls), WithSeparators(pattern.errors), RequestText(pattern),
                  WithSeparators(pattern.items_scanned), WithSeparators(pattern.items_returned),
                  WithSeparators(absl::ToInt64Microseconds(pattern.p50)),
                  WithSeparators(absl::ToInt64Microseconds(pattern.p99)), AdviceFor(pattern)});
  }
  context.Print(table, {.one = "pattern", .many = "patterns"});
  if (result.other_calls > 0)
    context.out() << "and " << NumberOf(result.other_calls, {.one = "call", .many = "calls"})
                  << " of patterns that are not listed, because there are too many patterns\n";
}

// The four lists of a result, in the order in which they are shown.
struct KeyList {
  const char* member;
  const char* counts;
  const char* of;
  const std::vector<TopKey>& keys;
};

std::vector<KeyList> ListsOf(const TopKeysResult& result) {
  return {{"partition_keys", "units", "partition key", result.partition_keys},
          {"keys", "units", "key", result.keys},
          {"throttled_partition_keys", "refused", "partition key", result.throttled_partition_keys},
          {"throttled_keys", "refused", "key", result.throttled_keys}};
}

JsonValue TopKeysToJson(const TopKeysResult& result) {
  const bool enabled = result.start_time != absl::UnixEpoch();
  JsonValue object = JsonValue::Object().Add("enabled", enabled);
  if (enabled) object.Add("start_time", TimeText(result.start_time));
  for (const KeyList& list : ListsOf(result)) {
    JsonValue keys = JsonValue::Array();
    for (const TopKey& key : list.keys) {
      keys.elements.push_back(JsonValue::Object()
                                  .Add("key", ItemToJson(key.key, ItemForm::kTyped))
                                  .Add("count", JsonValue::Number(absl::StrFormat("%.1f", key.count)))
                                  .Add("error", JsonValue::Number(absl::StrFormat("%.1f", key.error))));
    }
    object.Add(list.member, std::move(keys));
  }
  return object;
}

void PrintTopKeys(const TopKeysResult& result, const TopKeysRequest& request, Context& context) {
  if (result.start_time == absl::UnixEpoch()) {
    context.out()
        << "no keys are counted: contributor insights are off. At the address of --http-listen this "
           "turns them on:\naws dynamodb update-contributor-insights --endpoint-url "
           "http://127.0.0.1:8000 --table-name "
        << request.table_name << (request.index_name.empty() ? "" : " --index-name " + request.index_name)
        << " --contributor-insights-action ENABLE\n";
    return;
  }
  bool any = false;
  for (const KeyList& list : ListsOf(result)) {
    if (list.keys.empty()) continue;
    if (any) context.out() << "\n";
    any = true;
    TextTable table({NumberColumn(list.counts), NumberColumn("at least"), list.of});
    for (const TopKey& key : list.keys) {
      table.AddRow({absl::StrFormat("%.1f", key.count), absl::StrFormat("%.1f", key.count - key.error),
                    OneLine(ItemToJson(key.key, ItemForm::kPlain))});
    }
    context.Print(table);
  }
  if (!any) context.out() << "no key was used since " << TimeText(result.start_time) << "\n";
}

}  // namespace

absl::Status RunContributors(Context& context, const TopKeysRequest& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TopKeysResult result, client.GetTopKeys(options, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    PrintTopKeys(result, options, context);
  } else {
    context.Print(TopKeysToJson(result));
  }
  return absl::OkStatus();
}

absl::Status RunPatterns(Context& context, const PatternsOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(AccessPatternsResult result,
                          client.GetAccessPatterns(options.table_name, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    PrintTable(result, context);
  } else if (context.format() == OutputFormat::kJson) {
    context.Print(PatternsToJson(result));
  } else {
    for (const AccessPattern& pattern : result.patterns) context.Print(PatternToJson(pattern));
  }
  return absl::OkStatus();
}

void RegisterPatternCommands(CommandTable& table) {
  auto options = std::make_shared<PatternsOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "patterns",
       .summary = "Show how tables are read and written: calls, items and latencies of each access pattern",
       .details =
           "Calls of one operation and index whose conditions differ in their values only are one pattern. "
           "Calls of both protocols are counted since the daemon was started; latencies are those inside the "
           "database. Scans, and queries whose filter discards most of the items read, are marked.",
       .examples = {{"itemctl patterns", "of every table, most calls first"},
                    {"itemctl patterns Order -o jsonl", "of one table, a pattern a line"}},
       .pages = true},
      [options](Context& context) { return RunPatterns(context, *options); });
  command->add_option(std::string(kTableName), options->table_name, "Only of this table. Default: of all");

  auto top = std::make_shared<TopKeysRequest>();
  command = table.Add(
      &table.root(),
      {.name = "contributors",
       .summary = "Show the keys of a table or global index that take the most load",
       .details =
           "For tables and indexes whose contributor insights are on; UpdateContributorInsights, over HTTP, "
           "turns "
           "them on, for example with the AWS CLI. Keys are counted since then, or since the daemon was "
           "started, by the capacity units of their reads and writes; keys of requests that were refused "
           "because too many waited are counted too. The true count is between the two numbers.",
       .examples = {{"itemctl contributors Order", "the ten most used keys"},
                    {"itemctl contributors Order --index OrderByCustomerDate --top 50",
                     "of a global index, more"}},
       .pages = true},
      [top](Context& context) { return RunContributors(context, *top); });
  command->add_option(std::string(kTableName), top->table_name, "The table's name")->required();
  command->add_option("--index", top->index_name, "Of this global index. Default: of the table itself")
      ->type_name("INDEX");
  command->add_option("--top", top->limit, "How many keys of each list, 1 to 100. Default: 10")
      ->type_name("COUNT");
}

}  // namespace itemdb::tools
