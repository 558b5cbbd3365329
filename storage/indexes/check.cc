#include "storage/indexes/check.h"

#include "storage/base/limits.h"
#include "storage/engine/table_changes.h"
#include "storage/indexes/differences.h"
#include "storage/values/stored_record.h"

namespace itemdb {
namespace {

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
  differences.wrong_collection = [&report](const Table& table, std::string_view key,
                                           const Counters& counted) {
    report("table " + table.name + ": the record of an item collection, key " + Hex(key) +
           ", is wrong: counted " + std::to_string(counted.items) + " items of " +
           std::to_string(counted.bytes) + " bytes with their entries in local indexes");
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

}  // namespace

void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation) {
  // Before the view: what the view has must not be trimmed while it is read.
  std::shared_ptr<LogStart::Pin> pin = engine.log_start().KeepAll();
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
  IoPool::Task task = [&engine, view = *std::move(view), pin = std::move(pin), name = request.table_name(),
                       shared_done, cancellation = std::move(cancellation)]() mutable {
    absl::StatusOr<v1::CheckDatabaseReply> reply =
        Check({engine, *view, cancellation}, pin->oldest_needed(), name);
    view.reset();
    pin.reset();
    engine.EndCheck();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.io().Submit(task)) return;
  engine.EndCheck();
  std::move (*shared_done)(IoPoolFullError());
}

}  // namespace itemdb
