// RebuildDerived: index entries and counters from the items.

#include <future>

#include "spdlog/spdlog.h"
#include "storage/engine/table_changes.h"
#include "storage/indexes/check.h"
#include "storage/indexes/differences.h"
#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

// A bounded piece of a rebuild as a commit unit.
class RepairUnit : public CommitUnit {
 public:
  struct Step {
    rocksdb::ColumnFamilyHandle* family;
    std::string key;
    std::optional<std::string> record;  // Nothing: delete.
  };

  RepairUnit(std::vector<Step> steps, std::vector<std::pair<uint64_t, Counters>> counters, bool finished)
      : steps_(std::move(steps)), counters_(std::move(counters)), finished_(finished) {}
  size_t SizeBytes() const override { return sizeof(*this); }
  void Order(CommitGroup& group) override {
    for (const Step& step : steps_) {
      if (step.record.has_value()) {
        group.Put(step.family, step.key, *step.record);
      } else {
        group.Delete(step.family, step.key);
      }
    }
    for (const auto& [storage_id, counters] : counters_) group.SetCounters(storage_id, counters);
    if (finished_) group.DeleteCatalog(kNeedsRebuildKey);
  }
  void Answer(const absl::Status& status, uint64_t) override { done_.set_value(status); }

  static absl::Status Commit(Engine& engine, std::vector<Step> steps,
                             std::vector<std::pair<uint64_t, Counters>> counters = {},
                             bool finished = false) {
    auto unit = std::make_unique<RepairUnit>(std::move(steps), std::move(counters), finished);
    std::future<absl::Status> done = unit->done_.get_future();
    std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
    ITEMDB_RETURN_IF_ERROR(engine.Submit(commit_unit));
    return done.get();
  }

 private:
  std::vector<Step> steps_;
  std::vector<std::pair<uint64_t, Counters>> counters_;
  bool finished_;
  std::promise<absl::Status> done_;
};

constexpr size_t kRepairSteps = 1'000;

// What a token says was applied may be among what was lost: the request must be taken for new.
absl::Status ForgetAllRequests(Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  rocksdb::ColumnFamilyHandle* family = view->store()->requests();
  std::vector<RepairUnit::Step> steps;
  absl::Status status;
  ITEMDB_RETURN_IF_ERROR(
      ForEachRecord({engine, *view, nullptr}, family, [&](std::string_view key, std::string_view) {
        steps.push_back({family, std::string(key), std::nullopt});
        if (steps.size() < kRepairSteps || !status.ok()) return;
        status = RepairUnit::Commit(engine, std::move(steps));
        steps.clear();
      }));
  ITEMDB_RETURN_IF_ERROR(status);
  return RepairUnit::Commit(engine, std::move(steps), {{kRequestsStorageId, Counters()}});
}

}  // namespace

absl::Status RebuildDerived(Engine& engine) {
  ITEMDB_RETURN_IF_ERROR(ForgetAllRequests(engine));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  for (const auto& [name, table] : view->catalog().tables()) {
    absl::Status status;
    std::vector<RepairUnit::Step> steps;
    int64_t repaired = 0;
    auto add = [&](RepairUnit::Step step) {
      ++repaired;
      steps.push_back(std::move(step));
      if (steps.size() >= kRepairSteps && status.ok()) {
        status = RepairUnit::Commit(engine, std::move(steps));
        steps.clear();
      }
    };
    Differences differences;
    differences.damaged = [&](const std::string& owner, std::string_view key, const std::string& what) {
      engine.options().log->error("damaged record owner=\"{}\" key={} error=\"{}\"", owner, Hex(key), what);
    };
    differences.missing = [&](const Index& index, const IndexEntry& entry, bool) {
      add({index.family->handle(), entry.key,
           EncodeRecord(index.storage_id, entry.key, entry.item_size, entry.item)});
    };
    differences.orphaned = [&](const Index& index, std::string_view key) {
      add({index.family->handle(), std::string(key), std::nullopt});
    };
    differences.miscounted = [](const std::string&, uint64_t, const Counters&, const Counters&) {};
    differences.wrong_collection = [&](const Table& damaged, std::string_view key, const Counters& counted) {
      std::optional<std::string> record;
      if (counted.items > 0) record = EncodeCounters(damaged.storage_id, key, counted);
      add({view->store()->stats(), std::string(key), std::move(record)});
    };
    Checked checked;
    ITEMDB_RETURN_IF_ERROR(CompareTable({engine, *view, nullptr}, *table, differences, &checked));
    ITEMDB_RETURN_IF_ERROR(status);
    ITEMDB_RETURN_IF_ERROR(RepairUnit::Commit(engine, std::move(steps)));

    // The entries are right now; count again and record it.
    ITEMDB_ASSIGN_OR_RETURN(auto repaired_view, engine.View());
    std::vector<std::pair<uint64_t, Counters>> counters;
    differences.damaged = [](const std::string&, std::string_view, const std::string&) {};
    differences.missing = [](const Index&, const IndexEntry&, bool) {};
    differences.orphaned = [](const Index&, std::string_view) {};
    differences.wrong_collection = [](const Table&, std::string_view, const Counters&) {};
    differences.miscounted = [&counters](const std::string&, uint64_t storage_id, const Counters& counted,
                                         const Counters&) { counters.emplace_back(storage_id, counted); };
    ITEMDB_RETURN_IF_ERROR(CompareTable({engine, *repaired_view, nullptr}, *table, differences, &checked));
    ITEMDB_RETURN_IF_ERROR(RepairUnit::Commit(engine, {}, std::move(counters)));
    engine.options().log->warn("derived data rebuilt table={} items={} repaired_entries={}", name,
                               checked.items / 2, repaired);
  }
  return RepairUnit::Commit(engine, {}, {}, /*finished=*/true);
}

}  // namespace itemdb
