#include "tools/generate_commands.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "itemdb/order_entry.h"
#include "tools/checks.h"
#include "tools/command_table.h"
#include "tools/exit_codes.h"
#include "tools/item_json.h"
#include "tools/output.h"
#include "tools/progress.h"

namespace itemdb::tools {
namespace {

// BatchWriteItem's limit.
constexpr size_t kBatchItems = 25;
constexpr int kMaxInFlight = 256;

// How often a batch is sent while the daemon is overloaded; the client pauses in between.
constexpr int kOverloadTries = 200;

// Many threads, each with one batch in flight. The first error stops all.
class Writer {
 public:
  Writer(Context& context, Client client, const GeneratedData& data, Progress& progress)
      : context_(context), client_(std::move(client)), data_(data), progress_(progress) {}

  absl::Status Run(int in_flight) {
    std::vector<std::thread> threads;
    for (int i = 0; i < in_flight; ++i) threads.emplace_back([this] { WriteEntities(); });
    for (std::thread& thread : threads) thread.join();
    return status_;
  }

 private:
  void WriteEntities() {
    std::vector<BatchPut> items;
    while (!failed_.load(std::memory_order_relaxed)) {
      if (context_.session().interrupted()) return Fail(absl::CancelledError("interrupted"));
      const uint64_t entity = next_entity_.fetch_add(1, std::memory_order_relaxed);
      const bool end = entity >= data_.entity_count();
      if (!end) data_.AppendEntity(entity, &items);
      while (items.size() >= kBatchItems || (end && !items.empty())) {
        if (absl::Status status = WriteBatch(items); !status.ok()) return Fail(status);
      }
      if (end) return;
    }
  }

  // Takes up to kBatchItems from the end of `items` and writes them all.
  absl::Status WriteBatch(std::vector<BatchPut>& items) {
    const size_t count = std::min(items.size(), kBatchItems);
    BatchWriteItemRequest request;
    for (size_t i = items.size() - count; i < items.size(); ++i)
      request.writes.push_back(std::move(items[i]));
    items.resize(items.size() - count);
    CallOptions call = context_.Call();
    call.retry = RetryOptions{.max_attempts = kOverloadTries};
    const absl::Status status = client_.BatchWriteItem(request, call).status();
    if (!status.ok()) return status;
    progress_.Add(static_cast<int64_t>(count));
    return absl::OkStatus();
  }

  void Fail(const absl::Status& status) {
    std::lock_guard<std::mutex> lock(mu_);
    if (!failed_.exchange(true)) status_ = status;
  }

  Context& context_;
  Client client_;
  const GeneratedData& data_;
  Progress& progress_;
  std::atomic<uint64_t> next_entity_{0};
  std::atomic<bool> failed_{false};
  std::mutex mu_;
  absl::Status status_;  // Guarded by mu_ while threads run.
};

absl::Status WriteToFile(const GeneratedData& data, const std::string& path, Progress& progress) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  std::vector<BatchPut> items;
  for (uint64_t entity = 0; entity < data.entity_count() && file.good(); ++entity) {
    items.clear();
    data.AppendEntity(entity, &items);
    for (const BatchPut& put : items) {
      file << OneLine(JsonValue::Object()
                          .Add("table", JsonValue::String(put.table_name))
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
  absl::StatusOr<Client> client = context.OpenClient();
  if (!client.ok()) return client.status();
  if (options.to_file.empty()) {
    absl::Status created = order_entry::CreateTables(*client, context.Call());
    if (!created.ok()) return created;
  }
  const absl::Time start = absl::Now();
  Progress progress(ProgressStream(context), {.doing = "generating order-entry data",
                                              .unit = "items",
                                              .total = static_cast<int64_t>(data.item_count())});
  const absl::Status status = options.to_file.empty()
                                  ? Writer(context, *client, data, progress).Run(options.in_flight)
                                  : WriteToFile(data, options.to_file, progress);
  progress.Finish();
  if (!status.ok()) return status;
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  context.PrintSummary(JsonValue::Object()
                           .Add("items", JsonValue::Number(data.item_count()))
                           .Add("seconds", JsonValue::Number(absl::StrFormat("%.3f", seconds)))
                           .Add("items_per_second", JsonValue::Number(static_cast<int64_t>(
                                                        static_cast<double>(data.item_count()) / seconds))));
  return absl::OkStatus();
}

void RegisterGenerateCommands(CommandTable& table) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = table.Add(
      &table.root(),
      {.name = "generate",
       .summary = "Write order-entry data of any size, the same for the same seed",
       .details = "Creates the order-entry tables where they are missing. An order is 4 items, a product 5. "
                  "Items with the "
                  "same keys are replaced, so that an interrupted run can be repeated.",
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
  command->add_option("--seed", options->sizes.seed, "What the values are made from, 0 or more. Default: 42")
      ->check(WholeNumberFrom(0))
      ->type_name("NUMBER");
  command
      ->add_option("--in-flight", options->in_flight,
                   "Requests of 25 items sent at a time, 1 to 256. Default: 16")
      ->check(WholeNumberBetween(1, kMaxInFlight))
      ->type_name("REQUESTS");
  command
      ->add_option("--to-file", options->to_file,
                   "Write JSON lines {\"table\", \"item\"} to this file. Default: write to the daemon")
      ->type_name(std::string(kFileName));
}

}  // namespace itemdb::tools
