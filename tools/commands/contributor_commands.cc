#include "tools/commands/contributor_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "common/status_macros.h"
#include "tools/base/text_table.h"
#include "tools/base/time_text.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

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
    context.out() << "no keys are counted: contributor insights are off. This turns them on:\n"
                     "itemctl contributors enable "
                  << request.table_name
                  << (request.index_name.empty() ? "" : " --index " + request.index_name) << "\n";
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

std::string_view InsightsStatusName(ContributorInsightsStatus status) {
  switch (status) {
    case ContributorInsightsStatus::kEnabled:
      return "ENABLED";
    case ContributorInsightsStatus::kDisabled:
      return "DISABLED";
    case ContributorInsightsStatus::kEnabling:
      return "ENABLING";
    case ContributorInsightsStatus::kDisabling:
      return "DISABLING";
    case ContributorInsightsStatus::kFailed:
      return "FAILED";
    case ContributorInsightsStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

bool AreOn(const ContributorInsights& insights) {
  return insights.status == ContributorInsightsStatus::kEnabled ||
         insights.status == ContributorInsightsStatus::kEnabling;
}

// Empty while they are off.
std::string_view InsightsModeName(const ContributorInsights& insights) {
  if (!AreOn(insights)) return "";
  return insights.mode == ContributorInsightsMode::kThrottledKeys ? "THROTTLED_KEYS"
                                                                  : "ACCESSED_AND_THROTTLED_KEYS";
}

void AddInsightsRow(const ContributorInsights& insights, TextTable* table) {
  table->AddRow({insights.table_name, insights.index_name, std::string(InsightsStatusName(insights.status)),
                 std::string(InsightsModeName(insights))});
}

JsonValue InsightsToJson(const ContributorInsights& insights) {
  JsonValue object = JsonValue::Object().Add("TableName", insights.table_name);
  if (!insights.index_name.empty()) object.Add("IndexName", insights.index_name);
  object.Add("ContributorInsightsStatus", std::string(InsightsStatusName(insights.status)));
  if (AreOn(insights)) object.Add("ContributorInsightsMode", std::string(InsightsModeName(insights)));
  return object;
}

TextTable InsightsTable() { return TextTable({"table", "index", "status", "mode"}); }

}  // namespace

absl::Status RunContributorsShow(Context& context, const TopKeysRequest& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TopKeysResult result, client.GetTopKeys(options, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    PrintTopKeys(result, options, context);
  } else {
    context.Print(TopKeysToJson(result));
  }
  return absl::OkStatus();
}

absl::Status RunContributorsUpdate(Context& context, const UpdateContributorInsightsRequest& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(ContributorInsights insights,
                          client.UpdateContributorInsights(options, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    TextTable text = InsightsTable();
    AddInsightsRow(insights, &text);
    context.Print(text);
  } else {
    context.Print(InsightsToJson(insights));
  }
  return absl::OkStatus();
}

absl::Status RunContributorsList(Context& context, const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(std::vector<ContributorInsights> all,
                          client.ListContributorInsights(table_name, context.Call()));
  if (context.format() == OutputFormat::kTable) {
    TextTable text = InsightsTable();
    for (const ContributorInsights& insights : all) AddInsightsRow(insights, &text);
    context.Print(text, {.one = "table or index", .many = "tables and indexes"});
    return absl::OkStatus();
  }
  JsonValue documents = JsonValue::Array();
  for (const ContributorInsights& insights : all) documents.elements.push_back(InsightsToJson(insights));
  context.PrintList("ContributorInsightsSummaries", std::move(documents));
  return absl::OkStatus();
}

void RegisterContributorCommands(CommandTable& table) {
  constexpr const char* kIndexHelp = "Of this global index. Default: of the table itself";
  CLI::App* group = table.AddGroup(
      {.name = "contributors", .summary = "The keys of a table or global index that take the most load"});

  auto top = std::make_shared<TopKeysRequest>();
  CLI::App* command = table.Add(
      group,
      {.name = "show",
       .summary = "Show the keys of a table or global index that take the most load",
       .details =
           "For tables and indexes whose contributor insights are on. Keys are counted since then, or since "
           "the daemon was started, by the capacity units of their reads and writes; keys of requests that "
           "were refused because too many waited are counted too. The true count is between the two numbers.",
       .examples = {{"itemctl contributors show Order", "the ten most used keys"},
                    {"itemctl contributors show Order --index OrderByCustomerDate --top 50",
                     "of a global index, more"}},
       .pages = true},
      [top](Context& context) { return RunContributorsShow(context, *top); });
  command->add_option(std::string(kTableName), top->table_name, "The table's name")->required();
  command->add_option("--index", top->index_name, kIndexHelp)->type_name("INDEX");
  command->add_option("--top", top->limit, "How many keys of each list, 1 to 100. Default: 10")
      ->type_name("COUNT");

  auto enable = std::make_shared<UpdateContributorInsightsRequest>();
  enable->enabled = true;
  auto throttled_only = std::make_shared<bool>(false);
  command = table.Add(
      group,
      {.name = "enable",
       .summary = "Turn contributor insights of a table or global index on",
       .details =
           "From then on the most used keys are counted. Where they are on already with the same keys, "
           "counting goes on; otherwise it begins anew.",
       .examples = {{"itemctl contributors enable Order", "count the keys of the table"},
                    {"itemctl contributors enable Order --index OrderByCustomerDate --throttled-keys-only",
                     "of a global index, only those of refused requests"}}},
      [enable, throttled_only](Context& context) {
        UpdateContributorInsightsRequest request = *enable;
        if (*throttled_only) request.mode = ContributorInsightsMode::kThrottledKeys;
        return RunContributorsUpdate(context, request);
      });
  command->add_option(std::string(kTableName), enable->table_name, "The table's name")->required();
  command->add_option("--index", enable->index_name, kIndexHelp)->type_name("INDEX");
  command->add_flag("--throttled-keys-only", *throttled_only,
                    "Count only keys of requests that are refused because too many wait");

  auto disable = std::make_shared<UpdateContributorInsightsRequest>();
  command = table.Add(
      group,
      {.name = "disable",
       .summary = "Turn contributor insights of a table or global index off",
       .details = "The counts are forgotten.",
       .examples = {{"itemctl contributors disable Order", "of the table"},
                    {"itemctl contributors disable Order --index OrderByCustomerDate", "of a global index"}}},
      [disable](Context& context) { return RunContributorsUpdate(context, *disable); });
  command->add_option(std::string(kTableName), disable->table_name, "The table's name")->required();
  command->add_option("--index", disable->index_name, kIndexHelp)->type_name("INDEX");

  auto listed = std::make_shared<std::string>();
  command = table.Add(group,
                      {.name = "list",
                       .summary = "List the tables and global indexes whose contributor insights are on",
                       .examples = {{"itemctl contributors list", "of all tables"},
                                    {"itemctl contributors list Order", "of one table and its indexes"}},
                       .pages = true},
                      [listed](Context& context) { return RunContributorsList(context, *listed); });
  command->add_option(std::string(kTableName), *listed, "Only of this table. Default: of all");
}

}  // namespace itemdb::tools
