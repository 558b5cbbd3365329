#include "bench/ordering_cost.h"

#include <time.h>

#include <array>
#include <map>

#include "bench/contender.h"
#include "bench/order_store.h"
#include "storage/store/read_view.h"

namespace itemdb::bench {
namespace {

using nlohmann::ordered_json;

// The steps of a put, as in storage/commit/commit_pipeline.h. kOrder is applying.
enum Step { kDecode, kPrepare, kRead, kOrder, kCommit, kPublish, kSteps };
constexpr const char* kStepNames[kSteps] = {"decode", "prepare", "read", "order", "commit", "publish"};
constexpr const char* kStepTexts[kSteps] = {
    "decode the request",
    "prepare: check it, canonical item, key",
    "read the item to be replaced (none exists)",
    "order: decide, add item, entries, change to the batch",
    "commit: RocksDB write, not synced",
    "publish: snapshot, new view",
};
constexpr int kGroupSizes[] = {1, 16, 64};

using Costs = std::array<nanoseconds, kSteps>;

nanoseconds ThreadCpu() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

// The time that reading the clock adds to a step.
nanoseconds ClockCost() {
  nanoseconds least = std::chrono::seconds(1);
  for (int i = 0; i < 1'000; ++i) {
    nanoseconds begin = ThreadCpu();
    least = std::min(least, ThreadCpu() - begin);
  }
  return least;
}

// Puts `requests` in groups of `group_size`; returns the CPU time of each step over all of them.
absl::StatusOr<Costs> PutInGroups(OrderStore& store, const Requests& requests, int group_size) {
  const nanoseconds clock_cost = ClockCost();
  Costs costs = {};
  nanoseconds last;
  auto charge = [&costs, &last, clock_cost](Step step) {
    nanoseconds now = ThreadCpu();
    costs[step] += now - last - clock_cost;
    last = ThreadCpu();
  };

  std::shared_ptr<const storage::ReadView> view = store.View();
  for (uint64_t first = 0; first + group_size <= requests.operations(); first += group_size) {
    last = ThreadCpu();
    std::vector<wire::WriteItemRequest> decoded(group_size);
    for (int i = 0; i < group_size; ++i) {
      if (!decoded[i].ParseFromString(requests.request(first + i)))
        return absl::InternalError("cannot decode");
    }
    charge(kDecode);

    std::vector<storage::PreparedAction> actions;
    for (const wire::WriteItemRequest& request : decoded) {
      ITEMDB_ASSIGN_OR_RETURN(actions.emplace_back(),
                              storage::PrepareAction(storage::ActionKind::kPut, request, view->catalog()));
    }
    charge(kPrepare);

    for (storage::PreparedAction& action : actions) {
      ITEMDB_ASSIGN_OR_RETURN(
          storage::Lookup lookup,
          storage::LookupItem(*view, *action.table, action.key.encoded, storage::ReadTier::kCacheOnly));
      if (lookup.would_block || lookup.item.has_value())
        return absl::InternalError("there is such an order already");
      action.prefetched.group_number = view->group_number();
    }
    charge(kRead);

    std::vector<std::unique_ptr<storage::WriteUnit>> units;
    for (storage::PreparedAction& action : actions) units.push_back(MakeUnit(std::move(action)));
    last = ThreadCpu();
    storage::CommitGroup group(&store.ordering());
    for (const auto& unit : units) unit->Apply(group);
    rocksdb::WriteBatch& batch = group.SealBatch();
    charge(kOrder);

    rocksdb::Status written = store.db()->Write(rocksdb::WriteOptions(), &batch);
    if (!written.ok()) return storage::FromRocksDB("cannot write", written);
    charge(kCommit);

    group.InstallState();
    view = store.View();
    charge(kPublish);
  }
  return costs;
}

// Microseconds per put of each step, in one round.
absl::StatusOr<std::array<double, kSteps>> MeasureOnce(Session& session, const std::string& original,
                                                       const Requests& requests, int group_size) {
  std::string directory = session.scratch.NewPath();
  ITEMDB_RETURN_IF_ERROR(CopyDatabase(original, directory));
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<OrderStore> store, OrderStore::Open(directory));
  ITEMDB_ASSIGN_OR_RETURN(Costs costs, PutInGroups(*store, requests, group_size));
  store.reset();
  RemoveAll(directory);
  double puts = static_cast<double>(requests.operations() - requests.operations() % group_size);
  std::array<double, kSteps> per_put;
  for (int step = 0; step < kSteps; ++step) {
    per_put[step] = std::chrono::duration<double, std::micro>(costs[step]).count() / puts;
  }
  return per_put;
}

}  // namespace

absl::Status RunOrderingCost(Session& session, const OrderingCostOptions& options) {
  std::string original = session.scratch.NewPath();
  ITEMDB_RETURN_IF_ERROR(MakeOrderDatabase(original, 0));
  Requests requests = Requests::Puts(options.writes);

  std::map<int, std::array<std::vector<double>, kSteps>> rounds_by_size;
  for (int round = 0; round < options.rounds; ++round) {
    for (int group_size : kGroupSizes) {
      ITEMDB_RETURN_IF_ERROR(session.CheckInterrupted());
      session.Progress("ordering round " + std::to_string(round + 1) + " of " +
                       std::to_string(options.rounds));
      ITEMDB_ASSIGN_OR_RETURN(auto per_put, MeasureOnce(session, original, requests, group_size));
      for (int step = 0; step < kSteps; ++step) rounds_by_size[group_size][step].push_back(per_put[step]);
    }
  }
  session.Progress("");

  TextTable table;
  table.title = "CPU us per put by step, on one thread, for commit groups of 1, 16 and 64";
  table.columns = {"step"};
  for (int group_size : kGroupSizes) table.columns.push_back(std::to_string(group_size) + " (min-max)");
  for (const char* text : kStepTexts) table.rows.push_back({text});
  std::vector<ordered_json> lines;
  for (auto& [group_size, steps] : rounds_by_size) {
    ordered_json line = {{"figure", "CPU us per put by step"}, {"group_size", group_size}};
    for (int step = 0; step < kSteps; ++step) {
      Spread spread = SpreadOf(steps[step]);
      table.rows[step].push_back(Figure(spread));
      line[kStepNames[step]] = spread.median;
    }
    lines.push_back(std::move(line));
  }
  table.notes.push_back(
      "decode, prepare and read run on the callers' threads; order, commit and publish on one at a time");
  session.report.Add(table, lines);
  return absl::OkStatus();
}

}  // namespace itemdb::bench
