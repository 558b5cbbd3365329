#include "tools/commands/generate_commands.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "itemdb/bulk_writer.h"
#include "itemdb/order_entry.h"
#include "tools/base/exit_codes.h"
#include "tools/cli/command_table.h"
#include "tools/cli/option_validators.h"
#include "tools/cli/output.h"
#include "tools/cli/progress.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr int kMaxInFlight = 256;

// One writer with many unacknowledged chunks is enough: making the items costs less than writing them.
absl::Status WriteToDaemon(Context& context, const Client& client, const GeneratedData& data, int in_flight,
                           Progress& progress) {
  BulkWriter writer(client, {.chunks_under_way = in_flight, .call = context.Call()});
  std::vector<BatchPut> items;
  for (uint64_t entity = 0; entity < data.entity_count(); ++entity) {
    if (context.session().interrupted()) return absl::CancelledError("interrupted");
    items.clear();
    data.AppendEntity(entity, &items);
    for (const BatchPut& put : items) {
      ITEMDB_RETURN_IF_ERROR(writer.Put(put.table_name, put.item));
    }
    progress.Add(static_cast<int64_t>(items.size()));
  }
  ITEMDB_ASSIGN_OR_RETURN(const BulkWriteResult result, writer.Finish());
  if (result.rejected.empty()) return absl::OkStatus();
  return ToolError(ExitCode::kRefused, absl::StrFormat("%d of %d items were refused, the first because: %s",
                                                       result.rejected.size(), data.item_count(),
                                                       result.rejected.front().message));
}

absl::Status WriteToFile(const GeneratedData& data, const std::string& path, Progress& progress) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::vector<BatchPut> items;
  for (uint64_t entity = 0; entity < data.entity_count() && file.good(); ++entity) {
    items.clear();
    data.AppendEntity(entity, &items);
    for (const BatchPut& put : items) {
      file << OneLine(JsonValue::Object()
                          .Add("table", put.table_name)
                          .Add("item", ItemToJson(put.item, ItemForm::kTyped)))
           << '\n';
    }
    progress.Add(static_cast<int64_t>(items.size()));
  }
  file.close();
  if (file.good()) return absl::OkStatus();
  return UsageError(absl::StrFormat("cannot write %s: %s", path, std::strerror(errno == 0 ? EIO : errno)));
}

}  // namespace

absl::Status RunGenerate(Context& context, const GenerateOptions& options) {
  const GeneratedData data(options.sizes);
  ITEMDB_ASSIGN_OR_RETURN(Client client, context.OpenClient());
  if (options.to_file.empty()) {
    ITEMDB_RETURN_IF_ERROR(order_entry::CreateTables(client, context.Call()));
  }
  const absl::Time start = absl::Now();
  Progress progress(ProgressStream(context), {.doing = "generating order-entry data",
                                              .unit = "items",
                                              .total = static_cast<int64_t>(data.item_count())});
  const absl::Status status = options.to_file.empty()
                                  ? WriteToDaemon(context, client, data, options.in_flight, progress)
                                  : WriteToFile(data, options.to_file, progress);
  progress.Finish();
  if (!status.ok()) return status;
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  context.PrintSummary(
      JsonValue::Object()
          .Add("items", data.item_count())
          .Add("seconds", JsonValue::Number(absl::StrFormat("%.3f", seconds)))
          .Add("items_per_second", static_cast<int64_t>(static_cast<double>(data.item_count()) / seconds)));
  return absl::OkStatus();
}

void RegisterGenerateCommands(CommandTable& table) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "generate",
       .summary = "Write order-entry data of any size, the same for the same seed",
       .details = "Creates the order-entry tables that are missing. An order is 4 items, a product 5. Items "
                  "with the same keys are replaced, so an interrupted run can be repeated.",
       .examples = {{"itemctl generate --orders 200 --products 20 --employees 10", "a small database"},
                    {"itemctl generate --orders 100 --products 10 --seed 7 --to-file orders.jsonl",
                     "other values, as JSON lines in a file"}}},
      [options](Context& context) { return RunGenerate(context, *options); });
  command->add_option("--orders", options->sizes.orders, "How many orders, 0 to 1000000000")
      ->required()
      ->check(WholeNumberBetween(0, GeneratedSizes::kMaxOrders))
      ->type_name("COUNT");
  command
      ->add_option("--customers", options->sizes.customers,
                   "How many customers, 1 to 10000000. Default: a fiftieth of the orders")
      ->check(WholeNumberBetween(1, GeneratedSizes::kMaxOthers))
      ->type_name("COUNT");
  command
      ->add_option("--products", options->sizes.products, "How many products, 3 to 10000000. Default: 10000")
      ->check(WholeNumberBetween(GeneratedSizes::kMinProducts, GeneratedSizes::kMaxOthers))
      ->type_name("COUNT");
  command
      ->add_option("--employees", options->sizes.employees,
                   "How many employees, 0 to 10000000. Default: 1000")
      ->check(WholeNumberBetween(0, GeneratedSizes::kMaxOthers))
      ->type_name("COUNT");
  command->add_option("--seed", options->sizes.seed, "Seed of the values, 0 or more. Default: 42")
      ->check(WholeNumberFrom(0))
      ->type_name("NUMBER");
  command
      ->add_option("--in-flight", options->in_flight,
                   "Chunks of 250 items sent and not yet acknowledged, 1 to 256. Default: 8")
      ->check(WholeNumberBetween(1, kMaxInFlight))
      ->type_name("CHUNKS");
  command
      ->add_option("--to-file", options->to_file,
                   "Write JSON lines {\"table\", \"item\"} to this file. Default: write to the daemon")
      ->type_name(std::string(kFileName));
}

}  // namespace itemdb::tools
