#include "tools/moving/follower.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "common/status_macros.h"
#include "tools/moving/copier.h"

namespace itemdb::tools {
namespace {

// Items read and written together.
constexpr size_t kKeysOfPart = 100;

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

Follower::Follower(const Side& source, const Side& target, std::unique_ptr<ChangeFeed> feed,
                   MoveJournal& journal, Pace& pace, int workers, size_t most_changed)
    : source_(source),
      target_(target),
      feed_(std::move(feed)),
      journal_(journal),
      pace_(pace),
      workers_(workers),
      changed_(most_changed),
      place_(feed_->place()) {}

void Follower::Start() {
  last_change_time_ = absl::Now();
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
  if (status.ok()) status = journal_.Change(/*now=*/true, [&](MoveState& state) { feed_->Save(state); });
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
  bool is_awaited = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++steps_begun_;
    is_awaited = awaits_ > 0;
    to_repair.swap(to_repair_);
    repairs = repairs_asked_;
  }
  ITEMDB_RETURN_IF_ERROR(Apply(to_repair));
  ITEMDB_ASSIGN_OR_RETURN(ChangedBatch batch, feed_->Read(/*checks=*/is_awaited));
  if (batch.changes > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    last_change_time_ = absl::Now();
  }
  std::vector<TableKeys> keys;
  for (auto& [table_name, of_table] : batch.keys) {
    TableKeys& added = keys.emplace_back(TableKeys{.table_name = table_name});
    for (auto& [digest, key] : of_table) {
      changed_.Add(added.table_name, key);
      added.keys.push_back(std::move(key));
    }
  }
  ITEMDB_RETURN_IF_ERROR(Apply(keys));
  applied_ += batch.changes;
  behind_ = feed_->behind();
  if (batch.changes > 0) lag_ns_ = absl::ToInt64Nanoseconds(absl::Now() - batch.oldest);
  if (batch.changes > 0 || !batch.is_idle) {
    ITEMDB_RETURN_IF_ERROR(journal_.Change(/*now=*/false, [&](MoveState& state) { feed_->Save(state); }));
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    place_ = feed_->place();
    repairs_done_ = repairs;
    steps_done_ = steps_begun_;
  }
  something_happened_.notify_all();
  if (batch.is_idle) WaitForWork(feed_->poll_interval());
  return absl::OkStatus();
}

bool Follower::WaitForWork(absl::Duration longest) {
  std::unique_lock<std::mutex> lock(mutex_);
  return something_happened_.wait_for(lock, absl::ToChronoMilliseconds(longest),
                                      [this] { return stops_ || repairs_asked_ > repairs_done_; });
}

absl::Status Follower::Apply(const std::vector<TableKeys>& keys) {
  return CopyKeys(source_, target_, keys, pace_, workers_);
}

absl::Status Follower::Await(uint64_t place, absl::Time deadline) {
  std::unique_lock<std::mutex> lock(mutex_);
  const int64_t begun = steps_begun_;
  ++awaits_;
  const absl::Cleanup ends = [this]() { --awaits_; };
  while (true) {
    if (!failure_.ok()) return failure_;
    if (place_ >= place && steps_done_ > begun) return absl::OkStatus();
    if (source_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
    if (absl::Now() > deadline)
      return absl::DeadlineExceededError("the last changes are not in the target in time");
    something_happened_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

absl::Status Follower::AwaitQuiet(absl::Duration quiet) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (!failure_.ok()) return failure_;
    if (source_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
    if (absl::Now() - last_change_time_ >= quiet) return absl::OkStatus();
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
