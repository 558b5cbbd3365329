#include "tools/commands/pattern_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
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

}  // namespace

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
}

}  // namespace itemdb::tools
