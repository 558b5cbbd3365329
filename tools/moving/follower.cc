#include "tools/moving/follower.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"
#include "tools/moving/copier.h"

namespace itemdb::tools {
namespace {

// Pages of the log that are applied together, at most.
constexpr int kPagesOfBatch = 8;
// Items read and written together.
constexpr size_t kKeysOfPart = 100;
// How often the log is asked when it has nothing new.
constexpr absl::Duration kPollInterval = absl::Milliseconds(10);

bool IsChangeOfItem(ChangeKind kind) {
  return kind == ChangeKind::kInsert || kind == ChangeKind::kModify || kind == ChangeKind::kRemove;
}

}  // namespace

absl::Status CopyKeys(const Side& source, const Side& target, const std::vector<TableKeys>& keys, Pace& pace,
                      int workers) {
  struct Part {
    const std::string* table_name;
    std::vector<Item> keys;
  };
  std::vector<Part> parts;
  for (const TableKeys& table : keys) {
    for (size_t begin = 0; begin < table.keys.size(); begin += kKeysOfPart) {
      const size_t end = std::min(begin + kKeysOfPart, table.keys.size());
      parts.push_back({.table_name = &table.table_name,
                       .keys = {table.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                table.keys.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
  }
  return InParallel(workers, parts.size(), [&](size_t i) -> absl::Status {
    Part& part = parts[i];
    ITEMDB_ASSIGN_OR_RETURN(std::vector<std::optional<Item>> items,
                            source.GetItems(*part.table_name, part.keys));
    std::vector<BatchWrite> writes;
    for (size_t k = 0; k < part.keys.size(); ++k) {
      if (items[k].has_value()) {
        writes.push_back(BatchPut{*part.table_name, *std::move(items[k])});
      } else {
        writes.push_back(BatchDelete{*part.table_name, std::move(part.keys[k])});
      }
    }
    return target.WriteItems(writes, pace);
  });
}

Follower::Follower(const Side& source, const Side& target, MoveJournal& journal, Pace& pace, int workers)
    : source_(source), target_(target), journal_(journal), pace_(pace), workers_(workers) {
  const MoveState state = journal.state();
  sequence_ = state.sequence;
  for (const MovedTable& table : state.tables) tables_[table.storage_id] = table.name;
}

void Follower::Start() {
  thread_ = std::thread([this] { Run(); });
}

void Follower::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  something_happened_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Follower::Run() {
  absl::Status status;
  while (status.ok()) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stops_) break;
    }
    status = Step();
  }
  if (status.ok())
    status = journal_.Change(/*now=*/true, [&](MoveState& state) { state.sequence = sequence_; });
  {
    std::lock_guard<std::mutex> lock(mutex_);
    failure_ = status.ok() ? absl::CancelledError("following the changes was ended") : status;
    has_failed_ = !status.ok();
  }
  something_happened_.notify_all();
}

absl::Status Follower::Step() {
  std::vector<TableKeys> to_repair;
  int64_t repairs = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    to_repair.swap(to_repair_);
    repairs = repairs_asked_;
  }
  ITEMDB_RETURN_IF_ERROR(Apply(to_repair));
  ITEMDB_ASSIGN_OR_RETURN(Batch batch, ReadBatch());
  std::vector<TableKeys> keys;
  for (auto& [storage_id, of_table] : batch.keys) {
    TableKeys& added = keys.emplace_back(TableKeys{.table_name = tables_[storage_id]});
    for (auto& [digest, key] : of_table) {
      changed_.Add(added.table_name, key);
      added.keys.push_back(std::move(key));
    }
  }
  ITEMDB_RETURN_IF_ERROR(Apply(keys));
  applied_ += batch.changes;
  if (batch.changes > 0) lag_ns_ = absl::ToInt64Nanoseconds(absl::Now() - batch.oldest);
  const bool moved = batch.last_sequence > sequence_;
  if (moved) {
    sequence_ = batch.last_sequence;
    ITEMDB_RETURN_IF_ERROR(
        journal_.Change(/*now=*/false, [&](MoveState& state) { state.sequence = batch.last_sequence; }));
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    repairs_done_ = repairs;
  }
  something_happened_.notify_all();
  if (!moved) WaitForWork(kPollInterval);
  return absl::OkStatus();
}

bool Follower::WaitForWork(absl::Duration longest) {
  std::unique_lock<std::mutex> lock(mutex_);
  return something_happened_.wait_for(lock, absl::ToChronoMilliseconds(longest),
                                      [this] { return stops_ || repairs_asked_ > repairs_done_; });
}

absl::StatusOr<Follower::Batch> Follower::ReadBatch() {
  Batch batch;
  batch.last_sequence = sequence_;
  for (int pages = 0; pages < kPagesOfBatch; ++pages) {
    absl::StatusOr<ReadChangesResult> page = source_.Try([&] {
      return source_.client().ReadChanges({.after_sequence = batch.last_sequence}, source_.call());
    });
    ITEMDB_RETURN_IF_ERROR(page.status());
    if (page->change_sequence < batch.last_sequence) {
      return absl::OutOfRangeError(absl::StrCat(
          "the change log of the source ends with ", page->change_sequence, ", before change ",
          batch.last_sequence, ", which the target has: the source was restored to an earlier time"));
    }
    for (ChangeRecord& record : page->records) {
      batch.last_sequence = record.change_sequence;
      const auto table = tables_.find(record.table_storage_id);
      if (table == tables_.end()) continue;
      if (record.kind == ChangeKind::kDeleteTable)
        return absl::NotFoundError("table " + table->second + " was deleted in the source");
      if (!IsChangeOfItem(record.kind) || !record.key.has_value()) continue;
      ++batch.changes;
      batch.oldest = std::min(batch.oldest, record.commit_time);
      const Digest digest = DigestOf(*record.key);
      batch.keys[record.table_storage_id].emplace(digest, *std::move(record.key));
    }
    behind_ = static_cast<int64_t>(page->change_sequence - batch.last_sequence);
    if (page->records.empty() || behind_ == 0) break;
  }
  return batch;
}

absl::Status Follower::Apply(const std::vector<TableKeys>& keys) {
  return CopyKeys(source_, target_, keys, pace_, workers_);
}

absl::Status Follower::Await(uint64_t sequence, absl::Time deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (sequence_ >= sequence) return absl::OkStatus();
    if (!failure_.ok()) return failure_;
    if (source_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
    if (absl::Now() > deadline)
      return absl::DeadlineExceededError("the last changes are not in the target in time");
    something_happened_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

absl::Status Follower::Repair(std::vector<TableKeys> keys, absl::Time deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (TableKeys& table : keys) to_repair_.push_back(std::move(table));
  const int64_t asked = ++repairs_asked_;
  something_happened_.notify_all();
  while (repairs_done_ < asked) {
    if (!failure_.ok()) return failure_;
    if (absl::Now() > deadline) return absl::DeadlineExceededError("what differs is not written in time");
    something_happened_.wait_for(lock, std::chrono::milliseconds(100));
  }
  return absl::OkStatus();
}

}  // namespace itemdb::tools
