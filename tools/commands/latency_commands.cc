#include "tools/commands/latency_commands.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "tools/base/exit_codes.h"
#include "tools/base/interrupt.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr absl::Duration kTableRedraw = absl::Milliseconds(250);
constexpr double kLongestSeconds = 86'400;

using TimedCall = std::function<absl::Status()>;

// The key attributes of the first item that a scan of the table returns.
absl::StatusOr<Item> FirstKey(Context& context, Client& client, const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(TableResult described, client.DescribeTable(table_name, context.Call()));
  ITEMDB_ASSIGN_OR_RETURN(ItemPage page, client.Scan({.table_name = table_name, .limit = 1}, context.Call()));
  if (page.items.empty()) {
    return UsageError("the table " + table_name + " has no items to read; name a key with --key");
  }
  Item key;
  for (const KeySchemaElement& element : described.table.definition.key_schema) {
    if (const Value* value = page.items.front().find_or_null(element.attribute_name); value != nullptr) {
      key.Set(element.attribute_name, *value);
    }
  }
  return key;
}

absl::StatusOr<TimedCall> CallOf(Context& context, Client client, const LatencyOptions& options) {
  if (options.table_name.empty()) {
    if (!options.key.empty())
      return UsageError("--key is the key of an item to read; name its table with --table");
    return [&context, client]() mutable { return client.GetStatus({}, context.Call()).status(); };
  }
  ITEMDB_ASSIGN_OR_RETURN(Item key, options.key.empty() ? FirstKey(context, client, options.table_name)
                                                        : ParseItem(options.key, ReadForm::kDetect, "--key"));
  const GetItemRequest request{.table_name = options.table_name, .key = std::move(key)};
  return [&context, client, request]() mutable { return client.GetItem(request, context.Call()).status(); };
}

void DrawLine(const std::vector<absl::Duration>& calls, Context& context) {
  const LatencySummary summary = SummarizeLatencies(calls);
  context.err() << absl::StrFormat("\r\x1b[Kmin %d, p50 %d, p99 %d, max %d us (%d samples)", summary.min_us,
                                   summary.p50_us, summary.p99_us, summary.max_us, summary.samples)
                << std::flush;
}

}  // namespace

LatencySummary SummarizeLatencies(std::vector<absl::Duration> calls) {
  if (calls.empty()) return {};
  std::sort(calls.begin(), calls.end());
  const auto percentile = [&calls](double part) {
    const size_t rank = static_cast<size_t>(std::ceil(part * static_cast<double>(calls.size())));
    return absl::ToInt64Microseconds(calls[std::max<size_t>(rank, 1) - 1]);
  };
  absl::Duration sum;
  for (absl::Duration call : calls) sum += call;
  return {.samples = static_cast<int64_t>(calls.size()),
          .min_us = absl::ToInt64Microseconds(calls.front()),
          .mean_us = absl::ToInt64Microseconds(sum / static_cast<int64_t>(calls.size())),
          .p50_us = percentile(0.50),
          .p99_us = percentile(0.99),
          .max_us = absl::ToInt64Microseconds(calls.back())};
}

absl::Status RunLatency(Context& context, const LatencyOptions& options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  ITEMDB_ASSIGN_OR_RETURN(TimedCall call, CallOf(context, client, options));
  // The first call is not measured, because it includes the time to connect.
  ITEMDB_RETURN_IF_ERROR((call)());

  const int64_t samples = options.samples.value_or(
      options.seconds.has_value() ? LatencyOptions::kMaxSamples : LatencyOptions::kDefaultSamples);
  const absl::Time end =
      options.seconds.has_value() ? absl::Now() + absl::Seconds(*options.seconds) : absl::InfiniteFuture();
  absl::Notification stopped;
  InterruptScope interrupt([&stopped] {
    if (!stopped.HasBeenNotified()) stopped.Notify();
  });
  const bool live = context.streams().err_is_terminal;
  absl::Time drawn = absl::Now();
  std::vector<absl::Duration> calls;
  absl::Status status;
  while (static_cast<int64_t>(calls.size()) < samples && absl::Now() < end && !stopped.HasBeenNotified()) {
    const absl::Time start = absl::Now();
    status = (call)();
    if (!status.ok()) break;
    calls.push_back(absl::Now() - start);
    if (live && absl::Now() - drawn >= kTableRedraw) {
      DrawLine(calls, context);
      drawn = absl::Now();
    }
    stopped.WaitForNotificationWithTimeout(absl::Seconds(options.interval_seconds));
  }
  if (live) context.err() << "\r\x1b[K" << std::flush;
  if (!status.ok()) return status;
  const LatencySummary summary = SummarizeLatencies(std::move(calls));
  context.PrintSummary(JsonValue::Object()
                           .Add("call", options.table_name.empty() ? "GetStatus" : "GetItem")
                           .Add("samples", summary.samples)
                           .Add("min_us", summary.min_us)
                           .Add("mean_us", summary.mean_us)
                           .Add("p50_us", summary.p50_us)
                           .Add("p99_us", summary.p99_us)
                           .Add("max_us", summary.max_us));
  return absl::OkStatus();
}

void RegisterLatencyCommands(CommandTable& table) {
  auto options = std::make_shared<LatencyOptions>();
  CLI::App* command =
      table.Add(&table.root(),
                {.name = "latency",
                 .summary = "Measure how long a small call takes, end to end",
                 .details = "Makes one call after another over one connection. On a terminal the statistics "
                            "are shown meanwhile, and Ctrl-C ends the measurement.",
                 .examples = {{"itemctl latency --samples 100", "a hundred calls that read no item"},
                              {"itemctl latency --table Customer --seconds 0.5 --interval 0 -o json",
                               "read one item again and again for half a second"}}},
                [options](Context& context) { return RunLatency(context, *options); });
  command
      ->add_option("--table", options->table_name,
                   "Read an item of this table. Default: read the daemon's status")
      ->type_name(std::string(kTableName));
  command->add_option("--key", options->key, "The key to read. Default: that of the table's first item")
      ->type_name("JSON");
  command
      ->add_option("--samples", options->samples,
                   "Calls to make, 1 to 10000000. Default: 1000, or what fits into --seconds")
      ->check(WholeNumberBetween(1, LatencyOptions::kMaxSamples))
      ->type_name("CALLS");
  command
      ->add_option("--seconds", options->seconds,
                   "How long to measure at most, 0.001 to 86400. Default: no bound")
      ->check(SecondsBetween(0.001, kLongestSeconds))
      ->type_name("SECONDS");
  command
      ->add_option("--interval", options->interval_seconds,
                   "Seconds from one call to the next, 0 to 86400. Default: 0.01")
      ->check(SecondsBetween(0, kLongestSeconds))
      ->type_name("SECONDS");
}

}  // namespace itemdb::tools
