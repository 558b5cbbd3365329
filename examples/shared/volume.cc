#include "shared/volume.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "shared/ask.h"

namespace example {
namespace {

using itemdb::Client;
using itemdb::Item;
using itemdb::ItemPage;
using itemdb::QueryRequest;
using itemdb::ShardedQuery;

constexpr int kReadings = 5;

absl::Duration Median(std::vector<absl::Duration> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Once: all queries go to the same endpoint.
void SayThatNothingIsExplained(const absl::Status& answer) {
  static bool is_said = false;
  if (std::exchange(is_said, true)) return;
  std::cout << "the bytes that a query reads are not known: " << answer.message() << "\n";
}

Cost ReadOnce(const Client& client, QueryRequest request) {
  Cost cost;
  request.explain = true;
  request.return_consumed_capacity = itemdb::ReturnConsumedCapacity::kTotal;
  const absl::Time start = absl::Now();
  do {
    absl::StatusOr<ItemPage> answer = client.Query(request);
    if (absl::IsUnimplemented(answer.status()) && request.explain) {
      SayThatNothingIsExplained(answer.status());
      request.explain = false;
      answer = client.Query(request);
    }
    ItemPage page = Need(std::move(answer));
    ++cost.pages;
    cost.scanned += page.scanned_count;
    cost.found += page.count;
    if (page.plan.has_value()) cost.bytes = cost.bytes.value_or(0) + page.plan->bytes_read;
    cost.read_units += page.consumed_capacity->capacity_units;
    request.exclusive_start_key = std::move(page.last_evaluated_key);
  } while (request.exclusive_start_key.has_value());
  cost.time = absl::Now() - start;
  return cost;
}

std::string InWords(absl::Duration time) {
  return absl::FormatDuration(absl::Trunc(time, absl::Microseconds(10)));
}

}  // namespace

void CreateLike(const Client& client, const std::string& like, const std::string& name) {
  itemdb::TableDefinition definition = Need(client.DescribeTable(like)).table.definition;
  definition.table_name = name;
  const auto deleted = client.DeleteTable(name);
  if (!deleted.ok() && deleted.status().code() != absl::StatusCode::kNotFound) Fail(deleted.status());
  Need(client.CreateTable(definition));
}

Loader::Loader(const Client& client, std::string table_name)
    : writer_(client, {.chunks_under_way = 8}), table_name_(std::move(table_name)), start_(absl::Now()) {}

void Loader::Put(Item item) { Need(writer_.Put(table_name_, std::move(item))); }

void Loader::Finish() {
  const itemdb::BulkWriteResult result = Need(writer_.Finish());
  if (!result.rejected.empty()) Fail(absl::InvalidArgumentError(result.rejected.front().message));
  const double seconds = absl::ToDoubleSeconds(absl::Now() - start_);
  std::cout << table_name_ << ": " << result.applied << " items written in " << std::fixed
            << std::setprecision(1) << seconds << " s, "
            << static_cast<int64_t>(static_cast<double>(result.applied) / seconds) << " a second\n";
}

Cost Measure(const Client& client, const QueryRequest& request) {
  Cost cost;
  std::vector<absl::Duration> times;
  for (int reading = 0; reading < kReadings; ++reading) {
    cost = ReadOnce(client, request);
    times.push_back(cost.time);
  }
  cost.time = Median(std::move(times));
  return cost;
}

void ShowCost(const Client& client, std::string_view question, const QueryRequest& request) {
  const Cost cost = Measure(client, request);
  std::cout << question << ": " << cost.found << " found, " << cost.scanned << " read, ";
  if (cost.bytes.has_value()) std::cout << *cost.bytes << " bytes ";
  std::cout << "in " << cost.pages << (cost.pages == 1 ? " page, " : " pages, ") << cost.read_units
            << " read units, " << InWords(cost.time) << "\n";
}

void ShowCost(const Client& client, std::string_view question, const ShardedQuery& query) {
  int64_t found = 0;
  std::vector<absl::Duration> times;
  for (int reading = 0; reading < kReadings; ++reading) {
    found = 0;
    const absl::Time start = absl::Now();
    itemdb::ItemRange items = itemdb::QueryShards(client, query);
    for ([[maybe_unused]] const Item& item : items) ++found;
    Need(items.status());
    times.push_back(absl::Now() - start);
  }
  std::cout << question << ": " << found << " found in " << query.shards.size() << " shards, "
            << InWords(Median(std::move(times))) << "\n";
}

}  // namespace example
