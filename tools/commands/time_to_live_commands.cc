#include "tools/commands/time_to_live_commands.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/progress.h"
#include "tools/json/table_json.h"

namespace itemdb::tools {
namespace {

// The time between two polls of the status.
constexpr absl::Duration kTimeToLivePollInterval = absl::Milliseconds(100);

std::string_view TimeToLiveStatusName(TimeToLiveStatus status) {
  switch (status) {
    case TimeToLiveStatus::kEnabling:
      return "ENABLING";
    case TimeToLiveStatus::kEnabled:
      return "ENABLED";
    case TimeToLiveStatus::kDisabled:
      return "DISABLED";
    case TimeToLiveStatus::kUnknown:
      return "UNKNOWN";
  }
  return "UNKNOWN";
}

void Print(Context& context, const std::string& table_name, const TimeToLiveResult& result) {
  const std::string status(TimeToLiveStatusName(result.status));
  if (context.format() == OutputFormat::kTable) {
    TextTable text({"table", "status", "attribute", NumberColumn("items with a time"),
                    NumberColumn("items expired"), NumberColumn("done"), NumberColumn("of"), "last error"});
    const IndexBuild build = result.build.value_or(IndexBuild{});
    auto number = [&](int64_t value) { return result.build.has_value() ? absl::StrCat(value) : ""; };
    text.AddRow({table_name, status, result.attribute_name, absl::StrCat(result.items_with_time),
                 absl::StrCat(result.items_expired), number(build.done), number(build.total),
                 build.last_error});
    context.Print(text);
    return;
  }
  JsonValue object = JsonValue::Object().Add("TableName", table_name).Add("TimeToLiveStatus", status);
  if (!result.attribute_name.empty()) object.Add("AttributeName", result.attribute_name);
  if (result.status == TimeToLiveStatus::kEnabled) object.Add("ItemsWithTime", result.items_with_time);
  object.Add("ItemsExpired", result.items_expired);
  if (result.build.has_value()) object.Add("Build", BuildToJson(*result.build));
  context.Print(object);
}

absl::Status PrintNow(Context& context, const Client& client, const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(TimeToLiveResult result, client.DescribeTimeToLive(table_name, context.Call()));
  Print(context, table_name, result);
  return absl::OkStatus();
}

// Waits until the time to live is no longer ENABLING.
absl::Status Await(Context& context, const Client& client, const std::string& table_name) {
  Progress progress(ProgressStream(context),
                    {.doing = absl::StrCat(table_name, ": reading the items"), .unit = "items"});
  while (true) {
    ITEMDB_ASSIGN_OR_RETURN(TimeToLiveResult result, client.DescribeTimeToLive(table_name, context.Call()));
    if (result.status != TimeToLiveStatus::kEnabling) return absl::OkStatus();
    if (result.build.has_value()) progress.Set(result.build->done);
    if (context.session().interrupted())
      return absl::CancelledError("interrupted; the daemon continues to enable the time to live");
    absl::SleepFor(kTimeToLivePollInterval);
  }
}

}  // namespace

absl::Status RunTimeToLiveEnable(Context& context, const TimeToLiveOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_RETURN_IF_ERROR(
      client
          .UpdateTimeToLive(
              {.table_name = options.table_name, .enabled = true, .attribute_name = options.attribute_name},
              context.Call())
          .status());
  if (options.wait) {
    ITEMDB_RETURN_IF_ERROR(Await(context, client, options.table_name));
  }
  return PrintNow(context, client, options.table_name);
}

absl::Status RunTimeToLiveDisable(Context& context, const TimeToLiveOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TimeToLiveResult present,
                          client.DescribeTimeToLive(options.table_name, context.Call()));
  if (present.attribute_name.empty())
    return ToolError(ExitCode::kRefused, "the table " + options.table_name + " has no time to live");
  ITEMDB_RETURN_IF_ERROR(
      client
          .UpdateTimeToLive(
              {.table_name = options.table_name, .enabled = false, .attribute_name = present.attribute_name},
              context.Call())
          .status());
  return PrintNow(context, client, options.table_name);
}

absl::Status RunTimeToLiveStatus(Context& context, const TimeToLiveOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  return PrintNow(context, client, options.table_name);
}

void RegisterTimeToLiveCommands(CommandTable& table) {
  CLI::App* group =
      table.AddGroup({.name = "ttl", .summary = "Delete items at the time in one of their attributes"});

  auto enable = std::make_shared<TimeToLiveOptions>();
  CLI::App* command = table.Add(
      group,
      {.name = "enable",
       .summary = "Turn a table's time to live on",
       .details =
           "The attribute is a number of seconds since 1970-01-01T00:00Z. Items without such a number, and "
           "items whose time is more than five years ago, are not deleted. The daemon first reads all "
           "existing items, while reads and writes continue, and then deletes those that have expired.",
       .examples = {{"itemctl ttl enable music expires", "delete items at the time in expires"},
                    {"itemctl ttl enable Order keep_until --wait", "and wait until it is enabled"}}},
      [enable](Context& context) { return RunTimeToLiveEnable(context, *enable); });
  command->add_option(std::string(kTableName), enable->table_name, "The table's name")->required();
  command->add_option("ATTRIBUTE", enable->attribute_name, "The attribute with the time")->required();
  command->add_flag("--wait", enable->wait, "Wait until the time to live is ENABLED");

  auto disable = std::make_shared<TimeToLiveOptions>();
  command = table.Add(
      group,
      {.name = "disable",
       .summary = "Turn a table's time to live off",
       .examples = {{"itemctl ttl enable music expires && itemctl ttl disable music", "on, and off again"},
                    {"itemctl ttl enable music until && itemctl ttl disable music && "
                     "itemctl ttl enable music expires",
                     "change to another attribute"}}},
      [disable](Context& context) { return RunTimeToLiveDisable(context, *disable); });
  command->add_option(std::string(kTableName), disable->table_name, "The table's name")->required();

  auto status = std::make_shared<TimeToLiveOptions>();
  command = table.Add(group,
                      {.name = "status",
                       .summary = "Show a table's time to live and how many items have expired",
                       .examples = {{"itemctl ttl status music", "with the attribute and counts"},
                                    {"itemctl ttl status music -o json", "for programs"}}},
                      [status](Context& context) { return RunTimeToLiveStatus(context, *status); });
  command->add_option(std::string(kTableName), status->table_name, "The table's name")->required();
}

}  // namespace itemdb::tools
