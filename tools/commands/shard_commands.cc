#include "tools/commands/shard_commands.h"

#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "tools/base/exit_codes.h"
#include "tools/base/text_table.h"
#include "tools/cli/command_table.h"
#include "tools/cli/output.h"

namespace itemdb::tools {
namespace {

struct Step {
  std::string name;
  std::string formula;
  int64_t result;
};

std::vector<Step> StepsOf(const ShardLoad& load, const ShardPlan& plan) {
  const auto per_item = [&](int64_t unit) { return (load.item_bytes + unit - 1) / unit; };
  std::vector<Step> steps;
  if (load.max_items > 0) {
    const bool several = plan.items_per_read_unit == 0;
    steps.push_back(
        several
            ? Step{"read units per item", absl::StrFormat("ceil(%d / %d)", load.item_bytes, kReadUnitBytes),
                   per_item(kReadUnitBytes)}
            : Step{"items per read unit", absl::StrFormat("floor(%d / %d)", kReadUnitBytes, load.item_bytes),
                   plan.items_per_read_unit});
    steps.push_back({"items a partition reads per second",
                     absl::StrFormat("%d %s %d", kPartitionReadUnits, several ? "/" : "*",
                                     several ? per_item(kReadUnitBytes) : plan.items_per_read_unit),
                     plan.partition_items_per_second});
    steps.push_back({"items of the largest read", absl::StrFormat("%g * %d", load.fraction, load.max_items),
                     plan.wanted_items_per_second});
    steps.push_back(
        {"shards for reads",
         absl::StrFormat("ceil(%d / %d)", plan.wanted_items_per_second, plan.partition_items_per_second),
         plan.shards_for_reads});
  }
  if (load.writes_per_second > 0) {
    steps.push_back({"items a partition writes per second",
                     absl::StrFormat("%d / %d", kPartitionWriteUnits, per_item(kWriteUnitBytes)),
                     plan.partition_writes_per_second});
    steps.push_back(
        {"shards for writes",
         absl::StrFormat("ceil(%d / %d)", load.writes_per_second, plan.partition_writes_per_second),
         plan.shards_for_writes});
  }
  steps.push_back({"shards", absl::StrFormat("the larger, numbered 0 to %d", plan.shards - 1), plan.shards});
  return steps;
}

}  // namespace

absl::Status RunShards(Context& context, const ShardLoad& load) {
  if (load.max_items == 0 && load.writes_per_second == 0) {
    return UsageError("nothing to size: give --max-items for reads, --writes-per-second, or both");
  }
  const absl::StatusOr<ShardPlan> plan = PlanShards(load);
  if (!plan.ok()) return UsageError(std::string(plan.status().message()));
  if (context.format() == OutputFormat::kTable) {
    TextTable table({"step", "how", NumberColumn("result")});
    for (const Step& step : StepsOf(load, *plan))
      table.AddRow({step.name, step.formula, std::to_string(step.result)});
    context.Print(table);
    return absl::OkStatus();
  }
  context.PrintSummary(JsonValue::Object()
                           .Add("items_per_read_unit", plan->items_per_read_unit)
                           .Add("partition_items_per_second", plan->partition_items_per_second)
                           .Add("wanted_items_per_second", plan->wanted_items_per_second)
                           .Add("shards_for_reads", plan->shards_for_reads)
                           .Add("partition_writes_per_second", plan->partition_writes_per_second)
                           .Add("shards_for_writes", plan->shards_for_writes)
                           .Add("shards", plan->shards));
  return absl::OkStatus();
}

void RegisterShardCommands(CommandTable& table) {
  auto load = std::make_shared<ShardLoad>();
  CLI::App* command =
      table.Add(&table.root(),
                {.name = "shards",
                 .summary = "Compute how many write shards a busy item collection needs",
                 .details = "Uses the throughput of one DynamoDB partition: 3000 reads of 4 KiB and 1000 "
                            "writes of 1 KiB a second. Needs no daemon.",
                 .examples = {{"itemctl shards --max-items 3000000 --fraction 0.2 --item-bytes 250",
                               "a fifth of three million items of 250 bytes, read within a second"},
                              {"itemctl shards --item-bytes 250 --writes-per-second 5000 -o json",
                               "5000 new items a second, as JSON"}}},
                [load](Context& context) { return RunShards(context, *load); });
  command
      ->add_option("--max-items", load->max_items,
                   "The largest number of items. Default: reads are not considered")
      ->type_name("ITEMS");
  command
      ->add_option(
          "--fraction", load->fraction,
          "The fraction of the items that the largest read returns within a second, above 0 to 1. Default: 1")
      ->type_name("PART");
  command->add_option("--item-bytes", load->item_bytes, "Average size of an item, 1 to 409600")
      ->required()
      ->type_name("BYTES");
  command
      ->add_option("--writes-per-second", load->writes_per_second,
                   "Items written per second at the peak. Default: writes are not considered")
      ->type_name("ITEMS");
}

}  // namespace itemdb::tools
