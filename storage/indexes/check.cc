#include "storage/indexes/check.h"

#include <functional>
#include <future>

#include "absl/strings/escaping.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/engine/table_changes.h"
#include "storage/indexes/index_entry.h"
#include "storage/values/item_size.h"
#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

// Records visited between two looks at whether to stop.
constexpr int64_t kVisitsBetweenLooks = 64;

// What a walk over the database goes by: the state it reads, and when to stop.
struct Walk {
  const Engine& engine;
  const ReadView& view;
  CancellationPtr cancellation;

  // UNAVAILABLE: the store has to be closed. CANCELLED, DEADLINE_EXCEEDED: nobody waits for the result.
  absl::Status CheckGoesOn() const {
    if (engine.IsFailed()) {
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                       "the check was stopped: a write failed and the database is reopening", 1000);
    }
    return CheckWanted(cancellation);
  }
};

std::string Hex(std::string_view key) {
  return absl::BytesToHexString(absl::string_view(key.data(), key.size()));
}

// Where a table's derived data differs from its items. Each callback may be called any number of times.
struct Differences {
  // An item or entry that does not decode, or whose key is not that of its item.
  std::function<void(const std::string& owner, std::string_view key, const std::string& what)> damaged;
  // An entry that should be there but is not, or differs.
  std::function<void(const Index&, const IndexEntry&, bool stale)> missing;
  // An entry that no item has.
  std::function<void(const Index&, std::string_view key)> orphaned;
  std::function<void(const std::string& owner, uint64_t storage_id, const Counters& counted,
                     const Counters& stored)>
      miscounted;
};

struct Checked {
  int64_t items = 0;
  int64_t entries = 0;
  int64_t records = 0;
};

// The stored record under `key` in a family; nothing when there is none or it does not decode.
std::optional<std::string> FindPayload(const ReadView& view, const Family& family, std::string_view key) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  std::string record;
  if (!view.store()->db()->Get(options, family.handle(), ToSlice(key), &record).ok()) return std::nullopt;
  std::optional<StoredRecord> stored = DecodeRecord(family.storage_id(), key, record);
  if (!stored.has_value()) return std::nullopt;
  return std::string(stored->payload);
}

// Calls `visit` for every record of a family.
absl::Status ForEachRecord(const Walk& walk, rocksdb::ColumnFamilyHandle* family,
                           const std::function<void(std::string_view key, std::string_view record)>& visit) {
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  options.total_order_seek = true;
  options.fill_cache = false;
  std::unique_ptr<rocksdb::Iterator> it(walk.view.store()->db()->NewIterator(options, family));
  int64_t visited = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    visit(ToView(it->key()), ToView(it->value()));
    if (++visited % kVisitsBetweenLooks == 0) ITEMDB_RETURN_IF_ERROR(walk.CheckGoesOn());
  }
  if (!it->status().ok()) return FromRocksDB("cannot read column family " + family->GetName(), it->status());
  return absl::OkStatus();
}

absl::Status CompareCounters(const ReadView& view, const std::string& owner, uint64_t storage_id,
                             const Counters& counted, const Differences& differences) {
  ITEMDB_ASSIGN_OR_RETURN(Counters stored, ReadCounters(view, storage_id));
  if (stored.items != counted.items || stored.bytes != counted.bytes) {
    differences.miscounted(owner, storage_id, counted, stored);
  }
  return absl::OkStatus();
}

// From the items to their entries.
absl::Status CompareItems(const Walk& walk, const Table& table, const Differences& differences,
                          Checked* checked) {
  std::string owner = "table " + table.name;
  Counters counted;
  ITEMDB_RETURN_IF_ERROR(
      ForEachRecord(walk, table.family->handle(), [&](std::string_view key, std::string_view record) {
        ++checked->items;
        std::optional<StoredRecord> stored = DecodeRecord(table.storage_id, key, record);
        if (!stored.has_value()) return differences.damaged(owner, key, "the record does not decode");
        ItemView item(stored->payload);
        ++counted.items;
        counted.bytes += static_cast<int64_t>(stored->item_size);
        auto own_key = EncodePrimaryKey(table, item);
        if (!own_key.ok() || *own_key != key)
          return differences.damaged(owner, key, "the key is not that of the item");
        if (ItemSizeBytes(item) != stored->item_size)
          differences.damaged(owner, key, "the recorded item size is wrong");
        for (const Index& index : table.indexes) {
          auto entry = MakeIndexEntry(index, item, key);
          if (!entry.ok()) {
            differences.damaged(owner, key, MessageOf(entry.status()));
          } else if (entry->has_value()) {
            std::optional<std::string> payload = FindPayload(walk.view, *index.family, (*entry)->key);
            if (payload != (*entry)->item) differences.missing(index, **entry, payload.has_value());
          }
        }
      }));
  return CompareCounters(walk.view, owner, table.storage_id, counted, differences);
}

// From an index's entries to their items.
absl::Status CompareEntries(const Walk& walk, const Table& table, const Index& index,
                            const Differences& differences, Checked* checked) {
  std::string owner = "index " + index.name + " of table " + table.name;
  Counters counted;
  ITEMDB_RETURN_IF_ERROR(
      ForEachRecord(walk, index.family->handle(), [&](std::string_view key, std::string_view record) {
        ++checked->entries;
        std::optional<StoredRecord> stored = DecodeRecord(index.storage_id, key, record);
        if (!stored.has_value()) {
          differences.damaged(owner, key, "the record does not decode");
          return differences.orphaned(index, key);
        }
        ++counted.items;
        counted.bytes += static_cast<int64_t>(stored->item_size);
        auto base_key = EncodePrimaryKey(table, ItemView(stored->payload));
        if (!base_key.ok()) return differences.orphaned(index, key);
        std::optional<std::string> item = FindPayload(walk.view, *table.family, *base_key);
        if (!item.has_value()) return differences.orphaned(index, key);
        auto expected = MakeIndexEntry(index, ItemView(*item), *base_key);
        if (!expected.ok() || !expected->has_value() || (*expected)->key != key)
          return differences.orphaned(index, key);
      }));
  return CompareCounters(walk.view, owner, index.storage_id, counted, differences);
}

absl::Status CompareTable(const Walk& walk, const Table& table, const Differences& differences,
                          Checked* checked) {
  // Entries first: a rebuild deletes a damaged entry and then puts what its item says.
  for (const Index& index : table.indexes) {
    ITEMDB_RETURN_IF_ERROR(CompareEntries(walk, table, index, differences, checked));
  }
  return CompareItems(walk, table, differences, checked);
}

using Report = std::function<void(std::string finding)>;

// Dense, every record decodes and agrees with its key, commits are whole, times never decrease.
absl::Status CheckChangeLog(const Walk& walk, uint64_t start, const Report& report, Checked* checked) {
  uint64_t expected = start;
  int64_t last_time = 0;
  uint64_t commit_end = 0;
  ITEMDB_RETURN_IF_ERROR(
      ForEachRecord(walk, walk.view.store()->changes(), [&](std::string_view key, std::string_view value) {
        std::optional<uint64_t> sequence = ParseSequenceKey(key);
        if (sequence.has_value() && *sequence < start) return;  // Trimmed, or lost by a recovery.
        ++checked->records;
        std::optional<StoredRecord> stored = DecodeRecord(kChangesStorageId, key, value);
        v1::ChangeRecord record;
        if (!sequence.has_value() || !stored.has_value() ||
            !record.ParseFromArray(stored->payload.data(), static_cast<int>(stored->payload.size()))) {
          return report("change log: the record under the key " + Hex(key) + " does not decode");
        }
        if (*sequence != expected) {
          report("change log: change " + std::to_string(expected) + " is missing before " +
                 std::to_string(*sequence));
        }
        if (record.change_sequence() != *sequence)
          report("change log: change " + std::to_string(*sequence) + " names another sequence");
        if (record.commit_time_us() < last_time)
          report("change log: change " + std::to_string(*sequence) + " is older than the one before");
        if (*sequence > commit_end && record.commit_first_sequence() != *sequence) {
          report("change log: the commit of change " + std::to_string(*sequence) + " lacks its beginning");
        }
        commit_end = record.commit_last_sequence();
        last_time = record.commit_time_us();
        expected = *sequence + 1;
      }));
  if (commit_end >= expected)
    report("change log: the last commit lacks its end, change " + std::to_string(commit_end));
  if (walk.view.change_sequence() + 1 != std::max(expected, start)) {
    report("change log: it ends at change " + std::to_string(expected - 1) + ", the database is at " +
           std::to_string(walk.view.change_sequence()));
  }
  return absl::OkStatus();
}

// Every token has its place in the order of expiry and the other way round, and they were counted.
absl::Status CheckRequestTokens(const Walk& walk, const Report& report) {
  rocksdb::ColumnFamilyHandle* family = walk.view.store()->requests();
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  Counters counted;
  int64_t expiries = 0;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(walk, family, [&](std::string_view key, std::string_view value) {
    if (key.starts_with('e')) return (void)++expiries;
    std::string_view token = key.substr(1);
    ++counted.items;
    counted.bytes += static_cast<int64_t>(value.size());
    std::optional<AppliedRequest> request = DecodeRequest(token, value);
    std::string expiry;
    if (!request.has_value()) {
      report("client request tokens: the record under the key " + Hex(key) + " does not decode");
    } else if (!walk.view.store()
                    ->db()
                    ->Get(options, family, RequestExpiryKey(request->time_us, token), &expiry)
                    .ok()) {
      report("client request tokens: the token " + Hex(token) + " would never expire");
    }
  }));
  if (expiries != counted.items) {
    report("client request tokens: there are " + std::to_string(counted.items) + " tokens, but " +
           std::to_string(expiries) + " expire");
  }
  ITEMDB_ASSIGN_OR_RETURN(Counters stored, ReadCounters(walk.view, kRequestsStorageId));
  if (stored.items != counted.items || stored.bytes != counted.bytes) {
    report("client request tokens: counted " + std::to_string(counted.items) + " of " +
           std::to_string(counted.bytes) + " bytes, recorded are " + std::to_string(stored.items) + " of " +
           std::to_string(stored.bytes));
  }
  return absl::OkStatus();
}

absl::StatusOr<v1::CheckDatabaseReply> Check(const Walk& walk, uint64_t changes_start,
                                             const std::string& table_name) {
  v1::CheckDatabaseReply reply;
  reply.set_change_sequence(walk.view.change_sequence());
  Report report = [&reply](std::string finding) {
    if (reply.findings_size() < kMaxFindings) reply.add_findings(std::move(finding));
    reply.set_finding_count(reply.finding_count() + 1);
  };
  std::string table_in_hand;
  Differences differences;
  differences.damaged = [&report](const std::string& owner, std::string_view key, const std::string& what) {
    report(owner + ": key " + Hex(key) + ": " + what);
  };
  differences.missing = [&](const Index& index, const IndexEntry& entry, bool stale) {
    report("index " + index.name + " of table " + table_in_hand + ": the entry " + Hex(entry.key) +
           (stale ? " is stale: it differs from its item" : " of an item is missing"));
  };
  differences.orphaned = [&](const Index& index, std::string_view key) {
    report("index " + index.name + " of table " + table_in_hand + ": the entry " + Hex(key) +
           " belongs to no item");
  };
  differences.miscounted = [&report](const std::string& owner, uint64_t, const Counters& counted,
                                     const Counters& stored) {
    report(owner + ": counted " + std::to_string(counted.items) + " items of " +
           std::to_string(counted.bytes) + " bytes, recorded are " + std::to_string(stored.items) + " of " +
           std::to_string(stored.bytes));
  };

  Checked checked;
  for (const auto& [name, table] : walk.view.catalog().tables()) {
    if (!table_name.empty() && name != table_name) continue;
    table_in_hand = name;
    ITEMDB_RETURN_IF_ERROR(CompareTable(walk, *table, differences, &checked));
  }
  ITEMDB_RETURN_IF_ERROR(CheckChangeLog(walk, changes_start, report, &checked));
  ITEMDB_RETURN_IF_ERROR(CheckRequestTokens(walk, report));
  reply.set_items_checked(checked.items);
  reply.set_index_entries_checked(checked.entries);
  reply.set_change_records_checked(checked.records);
  return reply;
}

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

}  // namespace

void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation) {
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  if (!request.table_name().empty()) {
    if (auto table = (*view)->catalog().Find(request.table_name()); !table.ok())
      return std::move(done)(table.status());
  }
  auto shared_done = std::make_shared<Done<v1::CheckDatabaseReply>>(std::move(done));
  if (!engine.TryBeginCheck()) {
    return std::move(*shared_done)(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                             "another check is running; try again when it is done", 1000));
  }
  IoPool::Task task = [&engine, view = *std::move(view), start = engine.changes_start(),
                       name = request.table_name(), shared_done,
                       cancellation = std::move(cancellation)]() mutable {
    absl::StatusOr<v1::CheckDatabaseReply> reply = Check({engine, *view, cancellation}, start, name);
    view.reset();
    engine.EndCheck();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.io().Submit(task)) return;
  engine.EndCheck();
  std::move (*shared_done)(IoPoolFullError());
}

namespace {

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
