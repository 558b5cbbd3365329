#include "storage/indexes/rebuild.h"

#include "spdlog/spdlog.h"
#include "storage/indexes/build_state.h"
#include "storage/indexes/repair.h"
#include "storage/schema/table_changes.h"
#include "storage/store/catalog_records.h"

namespace itemdb::storage {
namespace {

constexpr size_t kDeletedAtOnce = 1'000;

// Deletes all client request tokens: their writes may be lost, so a repeated request must be applied again.
absl::Status DeleteAllTokens(Engine& engine) {
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  std::vector<std::string> keys;
  auto delete_tokens = [&](bool all) {
    return CommitAndWait(engine,
                         [&](CommitGroup& group) {
                           for (const std::string& key : keys) group.DeleteRequest(key);
                           if (all) group.size_statistics().Set(kRequestsStorageId, SizeStatistics());
                           keys.clear();
                           return absl::OkStatus();
                         },
                         {.origin = WriteOrigin::kUpkeep})
        .status();
  };
  absl::Status status;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord({engine, *view, nullptr}, Keyspace(view->store()->requests()),
                                       [&](std::string_view key, std::string_view) {
                                         keys.emplace_back(key);
                                         if (keys.size() >= kDeletedAtOnce && status.ok())
                                           status = delete_tokens(/*all=*/false);
                                       }));
  ITEMDB_RETURN_IF_ERROR(status);
  return delete_tokens(/*all=*/true);
}

}  // namespace

absl::Status RebuildDerived(Engine& engine) {
  // The saved state of a backfill may have entries of lost items.
  ITEMDB_RETURN_IF_ERROR(DeleteBuildState(engine.env(), BuildDirectory(engine.options())));
  ITEMDB_RETURN_IF_ERROR(DeleteAllTokens(engine));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  for (const auto& table : view->catalog()) {
    int64_t repaired = 0;
    Differences report;
    report.damaged = [&](const std::string& owner, std::string_view key, const std::string& what) {
      engine.options().log->error("damaged record owner={} key={} error={}", owner, Hex(key), what);
    };
    report.damaged_entry = [&](const Index&, std::string_view) { ++repaired; };
    report.missing = [&](const Index&, const IndexEntry&, bool) { ++repaired; };
    report.orphaned = [&](const Index&, std::string_view) { ++repaired; };
    report.miscounted = [](const std::string&, uint64_t, const SizeStatistics&, const SizeStatistics&) {};
    report.wrong_collection = [](const Table&, std::string_view, const SizeStatistics&) {};
    Repair repair(engine, *view, *table);
    Checked checked;
    // Before the recovery, as far as it is known.
    ITEMDB_ASSIGN_OR_RETURN(const SizeStatistics before, ReadStatistics(*view, table->storage_id));
    std::set<std::string> damaged_after;
    ITEMDB_RETURN_IF_ERROR(CompareTable({engine, *view, nullptr, nullptr, &damaged_after}, *table,
                                        /*only_index=*/nullptr, Repairing(report, repair), &checked));
    ITEMDB_RETURN_IF_ERROR(repair.Finish());
    engine.options().log->warn(
        "derived data rebuilt table={} items={} items_before={} damaged_blocks={} repaired_entries={}",
        table->name, checked.items, before.items, damaged_after.size(), repaired);
  }
  return CommitAndWait(engine,
                       [](CommitGroup& group) {
                         group.DeleteCatalog(kNeedsRebuildKey);
                         return absl::OkStatus();
                       },
                       {.origin = WriteOrigin::kUpkeep})
      .status();
}

}  // namespace itemdb::storage
