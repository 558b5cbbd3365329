#include "storage/indexes/check.h"

#include <map>
#include <set>

#include "storage/base/xxh3.h"
#include "storage/commit/table_runs.h"
#include "storage/indexes/findings.h"
#include "storage/indexes/repair.h"
#include "storage/keys/storage_id.h"
#include "storage/schema/table_changes.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

using Report = std::function<void(std::string finding)>;

// A set of changes of one table. Two sets count as equal when their sizes and sums of hashes are equal.
struct ChangeSum {
  int64_t changes = 0;
  uint64_t hashes = 0;

  void Add(uint64_t sequence) {
    ++changes;
    hashes += XXH3_64bits(&sequence, sizeof(sequence));
  }
  bool operator==(const ChangeSum&) const = default;
};
// By storage id of the table.
using ChangeSums = std::map<uint64_t, ChangeSum>;

// Checks that no change is missing, every record decodes and matches its key, commits are complete, and
// commit times never decrease.
absl::Status CheckChangeLog(const Walk& walk, uint64_t start, const Report& report, Checked* checked,
                            ChangeSums* sums) {
  uint64_t expected = start;
  int64_t last_time = 0;
  uint64_t commit_end = 0;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk.Uncounted(), Keyspace(walk.view.store()->changes()),
      [&](std::string_view key, std::string_view value) {
        std::optional<uint64_t> sequence = ParseSequenceKey(key);
        if (sequence.has_value() && *sequence < start) return;  // Trimmed, or lost in a recovery with losses.
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
        (*sums)[record.table_storage_id()].Add(*sequence);
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

// Checks that every change from `start` on is in the runs of its table only. `sums`: those of the change log.
absl::Status CheckTableRuns(const Walk& walk, uint64_t start, const ChangeSums& sums, const Report& report) {
  ChangeSums found;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord(
      walk.Uncounted(), Keyspace(walk.view.store()->table_runs()),
      [&](std::string_view key, std::string_view value) {
        const auto runs = DecodeTableRuns(key, value);
        if (!runs.has_value())
          return report("change log: the table runs under the key " + Hex(key) + " do not decode");
        for (const TableRun& run : *runs) {
          for (uint64_t sequence = std::max(run.first, start); sequence < run.end(); ++sequence)
            found[run.storage_id].Add(sequence);
        }
      }));
  for (const auto& [storage_id, sum] : sums) {
    if (found[storage_id] == sum) continue;
    report("change log: it has " + std::to_string(sum.changes) +
           " changes of the table with the storage id " + std::to_string(storage_id) +
           ", the runs of that table name " + std::to_string(found[storage_id].changes) + ", or others");
  }
  for (const auto& [storage_id, sum] : found) {
    if (sum.changes > 0 && !sums.contains(storage_id)) {
      report("change log: it has no change of the table with the storage id " + std::to_string(storage_id) +
             ", the runs of that table name " + std::to_string(sum.changes));
    }
  }
  return absl::OkStatus();
}

// Checks that each token has its 'e' key (request_tokens.h) and vice versa, and that size statistics match.
absl::Status CheckRequestTokens(const Walk& walk, const Report& report) {
  rocksdb::ColumnFamilyHandle* family = walk.view.store()->requests();
  rocksdb::ReadOptions options;
  options.snapshot = walk.view.snapshot();
  SizeStatistics counted;
  int64_t expiries = 0;
  ITEMDB_RETURN_IF_ERROR(
      ForEachRecord(walk.Uncounted(), Keyspace(family), [&](std::string_view key, std::string_view value) {
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
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics stored, ReadStatistics(walk.view, kRequestsStorageId));
  if (stored.items != counted.items || stored.bytes != counted.bytes) {
    report("client request tokens: counted " + std::to_string(counted.items) + " of " +
           std::to_string(counted.bytes) + " bytes, recorded are " + std::to_string(stored.items) + " of " +
           std::to_string(stored.bytes));
  }
  return absl::OkStatus();
}

// The part of the database that is checked.
struct Subject {
  // Null: all tables, the change log and the tokens.
  std::shared_ptr<const Table> table;
  // An index of `table`; null: the whole table.
  const Index* index = nullptr;
};

absl::StatusOr<Subject> SubjectOf(const v1::CheckDatabaseRequest& request, const Catalog& catalog) {
  Subject subject;
  if (request.table_name().empty()) {
    if (request.index_name().empty()) return subject;
    return ValidationError("IndexName needs the TableName that it belongs to");
  }
  ITEMDB_ASSIGN_OR_RETURN(subject.table, catalog.Find(request.table_name()));
  if (request.index_name().empty()) return subject;
  subject.index = subject.table->FindIndex(request.index_name());
  if (subject.index == nullptr) {
    return ValidationError("SEM-039", "The table does not have the specified index: " + request.index_name());
  }
  if (subject.index->state == IndexState::kActive) return subject;
  return ValidationError(
      "SEM-097", "index " + request.index_name() + " is being created; it can be checked when it is ACTIVE");
}

// The number of records that a check of `table` visits.
absl::StatusOr<int64_t> RecordsOf(const ReadView& view, const Table& table, const Index* only_index) {
  ITEMDB_ASSIGN_OR_RETURN(SizeStatistics items, ReadStatistics(view, table.storage_id));
  int64_t records = items.items;
  for (const Index& index : table.indexes) {
    if (index.state != IndexState::kActive || (only_index != nullptr && only_index != &index)) continue;
    ITEMDB_ASSIGN_OR_RETURN(SizeStatistics entries, ReadStatistics(view, index.storage_id));
    records += entries.items;
  }
  return records;
}

// `differences` without those of numbers and sizes, once the walk has met damage: what cannot be read was not
// counted.
Differences WithoutCountsAfterDamage(Differences differences, const std::set<std::string>& damaged_after) {
  const Differences all = differences;
  differences.miscounted = [all, &damaged_after](const std::string& owner, uint64_t storage_id,
                                                 const SizeStatistics& counted,
                                                 const SizeStatistics& stored) {
    if (damaged_after.empty()) all.miscounted(owner, storage_id, counted, stored);
  };
  differences.expected = [all, &damaged_after](uint64_t storage_id, const SizeStatistics& expected) {
    if (damaged_after.empty() && all.expected) all.expected(storage_id, expected);
  };
  differences.wrong_collection = [all, &damaged_after](const Table& owner, std::string_view key,
                                                       const SizeStatistics& counted) {
    if (damaged_after.empty()) all.wrong_collection(owner, key, counted);
  };
  return differences;
}

// Reports the places of a table or its indexes that cannot be read.
void ReportDamage(const Table& table, const std::set<std::string>& damaged_after, const Report& report) {
  for (const std::string& stored_key : damaged_after) {
    std::string_view key = stored_key;
    const std::optional<uint64_t> storage_id = ConsumeStorageId(&key);
    const Index* index = storage_id.has_value() ? table.FindIndexByStorageId(*storage_id) : nullptr;
    report((index != nullptr ? "index " + index->name + " of table " : "table ") + table.name +
           (key.empty() ? ": the first records cannot be read"
                        : ": records behind the key " + Hex(key) + " cannot be read") +
           "; numbers and sizes were not checked");
  }
}

absl::StatusOr<v1::CheckDatabaseReply> Check(Engine& engine, const Walk& walk, uint64_t trim_horizon,
                                             const Subject& subject, bool repairs) {
  v1::CheckDatabaseReply reply;
  reply.set_change_sequence(walk.view.change_sequence());
  Findings findings(&reply);
  std::vector<std::shared_ptr<const Table>> tables;
  if (subject.table != nullptr) {
    tables.push_back(subject.table);
  } else {
    for (const auto& table : walk.view.catalog()) tables.push_back(table);
  }
  int64_t total = 0;
  for (const auto& table : tables) {
    ITEMDB_ASSIGN_OR_RETURN(int64_t records, RecordsOf(walk.view, *table, subject.index));
    total += records;
  }
  engine.check_progress().done = 0;
  engine.check_progress().total = total;

  const Report report_text = [&findings](std::string finding) { findings.Add(std::move(finding)); };
  Checked checked;
  int64_t left = 0;
  for (const auto& table : tables) {
    Repair repair(engine, walk.view, *table);
    const Differences report = findings.Report(*table);
    std::set<std::string> damaged_after;
    ITEMDB_RETURN_IF_ERROR(CompareTable(
        {engine, walk.view, walk.cancellation, walk.figures, &damaged_after}, *table, subject.index,
        WithoutCountsAfterDamage(repairs ? Repairing(report, repair) : report, damaged_after), &checked));
    ITEMDB_RETURN_IF_ERROR(repair.Finish());
    left += repair.left();
    ReportDamage(*table, damaged_after, report_text);
  }
  if (repairs) reply.set_repaired_count(findings.reparable() - left);
  reply.set_skipped_items(checked.skipped_items);
  if (subject.index == nullptr) {
    std::set<std::string> damaged_after;
    const Walk rest{engine, walk.view, walk.cancellation, walk.figures, &damaged_after};
    ChangeSums sums;
    ITEMDB_RETURN_IF_ERROR(CheckChangeLog(rest, trim_horizon, report_text, &checked, &sums));
    // A change that cannot be read is missing from the sums. It is a finding already.
    if (damaged_after.empty()) ITEMDB_RETURN_IF_ERROR(CheckTableRuns(rest, trim_horizon, sums, report_text));
    ITEMDB_RETURN_IF_ERROR(CheckRequestTokens(rest, report_text));
  }
  reply.set_items_checked(checked.items);
  reply.set_index_entries_checked(checked.entries);
  reply.set_change_records_checked(checked.records);
  return reply;
}

}  // namespace

void CheckDatabase(Engine& engine, const v1::CheckDatabaseRequest& request, Done<v1::CheckDatabaseReply> done,
                   CancellationPtr cancellation) {
  // The pin comes before the view, so that no change of the view is trimmed while it is read.
  std::shared_ptr<TrimHorizon::PinnedChanges> pin = engine.trim_horizon().PinAll();
  auto view = engine.View();
  if (!view.ok()) return std::move(done)(view.status());
  auto subject = SubjectOf(request, (*view)->catalog());
  if (!subject.ok()) return std::move(done)(subject.status());
  auto shared_done = std::make_shared<Done<v1::CheckDatabaseReply>>(std::move(done));
  if (!engine.TryBeginCheck()) {
    return std::move(*shared_done)(MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                                             "another check is running; try again when it is done", 1000));
  }
  IoPool::Task task = [&engine, view = *std::move(view), pin = std::move(pin), subject = *std::move(subject),
                       repairs = request.repair(), shared_done,
                       cancellation = std::move(cancellation)]() mutable {
    absl::StatusOr<v1::CheckDatabaseReply> reply =
        Check(engine, {engine, *view, cancellation, &engine.check_progress()}, pin->oldest_needed(), subject,
              repairs);
    view.reset();
    pin.reset();
    subject = {};
    engine.EndCheck();
    std::move (*shared_done)(std::move(reply));
  };
  if (engine.io().Submit(task, IoPriority::kLong)) return;
  engine.EndCheck();
  std::move (*shared_done)(IoPoolFullError());
}

}  // namespace itemdb::storage
