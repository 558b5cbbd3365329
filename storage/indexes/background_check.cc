#include "storage/indexes/background_check.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "spdlog/spdlog.h"
#include "storage/base/wall_clock.h"
#include "storage/indexes/content_check.h"

namespace itemdb::storage {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(100);
// Records that are compared in one view.
constexpr int64_t kMaxChunk = 1'024;
// Comparing a record with its entries costs about so many times as much as reading it.
constexpr int64_t kContentsPerComparison = 100;
constexpr int64_t kMaxContentsPerSecond = 100'000;
constexpr int64_t kMaxContentSeconds = 60;
constexpr std::chrono::milliseconds kMaxPause(100);

// The keyspaces of a table in the order of the check: the table itself, then its active indexes.
struct Part {
  uint64_t storage_id;
  // Null: the table itself.
  const Index* index;
};
std::vector<Part> PartsOf(const Table& table) {
  std::vector<Part> parts = {{table.storage_id, nullptr}};
  for (const Index& index : table.indexes) {
    if (index.state == IndexState::kActive) parts.push_back({index.storage_id, &index});
  }
  return parts;
}

}  // namespace

BackgroundCheck::BackgroundCheck(Engine& engine) : engine_(engine) {
  const int64_t rate = engine.options().background_check_rate;
  if (rate == 0) return;
  figures_.set_rate(rate);
  thread_.Start([this] { Loop(); });
}

BackgroundCheck::~BackgroundCheck() {
  cancellation_->Cancel();
  thread_.Stop();
}

void BackgroundCheck::Describe(v1::GetStatusReply* reply) const {
  MutexLock lock(mutex_);
  if (figures_.rate() > 0) *reply->mutable_background_check() = figures_;
}

void BackgroundCheck::Loop() {
  const double per_tick = static_cast<double>(engine_.options().background_check_rate) *
                          std::chrono::duration<double>(kTick).count();
  // Reads only those tables and indexes whose sums are not whole.
  CompareContents(/*max_seconds=*/0);
  auto round_begin = Clock::now();
  // Records that may be compared now.
  double allowed = 0;
  while (thread_.WaitFor(kTick)) {
    allowed = std::min(allowed + per_tick, std::max(per_tick, 1.0));
    bool done = false;
    while (allowed >= 1 && !done) {
      const auto limit = std::min(kMaxChunk, static_cast<int64_t>(allowed));
      const std::optional<int64_t> compared = CompareSome(limit);
      if (!compared.has_value()) break;
      // An empty keyspace counts as one record: there may be many of them.
      allowed -= static_cast<double>(std::max<int64_t>(*compared, 1));
      done = place_.table_name.empty();
    }
    if (!done) continue;
    CompareContents(kMaxContentSeconds);
    EndRound();
    if (!thread_.WaitUntil(round_begin + engine_.options().check_interval)) return;
    round_begin = Clock::now();
  }
}

std::optional<int64_t> BackgroundCheck::CompareSome(int64_t limit) {
  const auto view = engine_.View();
  if (!view.ok()) return std::nullopt;
  const Catalog& catalog = (*view)->catalog();
  const auto found = catalog.LowerBound(place_.table_name);
  if (found == catalog.end()) {
    place_ = Place();
    return 0;
  }
  const Table& table = **found;
  const std::vector<Part> parts = PartsOf(table);
  if (table.name != place_.table_name) place_ = {table.name, table.storage_id, ""};
  const auto part = std::find_if(parts.begin(), parts.end(),
                                 [this](const Part& one) { return one.storage_id == place_.storage_id; });
  Place behind = {table.name + '\0', 0, ""};
  if (part == parts.end()) {
    // The index was deleted, or the table replaced by a new one of this name, which the next round checks.
    place_ = std::move(behind);
    return 0;
  }
  if (part + 1 != parts.end()) behind = {table.name, (part + 1)->storage_id, ""};

  v1::CheckDatabaseReply so_far = found_;
  Findings findings(&so_far);
  const Differences differences = findings.Report(table);
  const Walk walk{engine_, **view, cancellation_};
  Checked checked;
  SizeStatistics counted;
  std::string from = place_.from;
  absl::Status failed;
  // Known to the register of damage, which logs it once, not in each round.
  absl::Status damage;
  absl::StatusOr<int64_t> compared;
  if (part->index == nullptr) {
    auto count_item = [](std::string_view, const StoredRecord&) {};
    auto count_entry = [](size_t, const IndexEntry&) {};
    compared = ForSomeRecords(walk, ItemsOf(*walk.view.store(), table), limit, &from, &damage,
                              [&](std::string_view key, std::string_view record) {
                                failed.Update(CompareItem(walk, table, nullptr, key, record, differences,
                                                          &checked, {count_item, count_entry}));
                              });
  } else {
    compared = ForSomeRecords(walk, EntriesOf(*walk.view.store(), *part->index), limit, &from, &damage,
                              [&](std::string_view key, std::string_view record) {
                                failed.Update(CompareEntry(walk, table, *part->index, key, record,
                                                           differences, &checked, &counted));
                              });
  }
  // The store has failed, or the check must stop: ignore the results and errors of this chunk; read it again.
  if (!walk.CheckForInterrupts().ok()) return std::nullopt;
  failed.Update(compared.status());
  if (!damage.ok()) error_ = MessageOf(damage);
  if (absl::IsDataLoss(failed)) {
    error_ = MessageOf(failed);
  } else if (!failed.ok()) {
    error_ = MessageOf(failed);
    engine_.options().log->error("the background check could not read records error={}", error_);
  }
  if (so_far.finding_count() > found_.finding_count()) tables_with_findings_.insert(table.name);
  TakeFindings(std::move(so_far));
  if (compared.ok() && *compared == limit) {
    place_.from = std::move(from);
  } else {
    place_ = std::move(behind);
  }
  compared_.fetch_add(compared.value_or(0), std::memory_order_relaxed);
  return compared.value_or(0);
}

void BackgroundCheck::CompareContents(int64_t max_seconds) {
  const int64_t per_second =
      std::min(engine_.options().background_check_rate * kContentsPerComparison, kMaxContentsPerSecond);
  const auto pace = [&](int64_t records) {
    (void)thread_.WaitFor(std::min(std::chrono::milliseconds(records * 1'000 / per_second), kMaxPause));
  };
  v1::CheckDatabaseReply so_far = found_;
  const absl::Status compared = CheckContents(
      engine_, cancellation_,
      {.max_records = per_second * max_seconds, .pace = pace, .without = tables_with_findings_}, &so_far);
  if (!compared.ok() && !absl::IsCancelled(compared)) {
    error_ = MessageOf(compared);
    engine_.options().log->error("the background check could not compare content sums error={}", error_);
  }
  TakeFindings(std::move(so_far));
}

void BackgroundCheck::TakeFindings(v1::CheckDatabaseReply so_far) {
  for (int i = found_.findings_size(); i < so_far.findings_size(); ++i)
    engine_.options().log->error("the background check found an error finding={}", so_far.findings(i));
  found_ = std::move(so_far);
}

void BackgroundCheck::EndRound() {
  compared_ = 0;
  tables_with_findings_.clear();
  MutexLock lock(mutex_);
  figures_.set_rounds(figures_.rounds() + 1);
  figures_.set_last_end_time_us(NowMicros());
  *figures_.mutable_findings() = std::move(*found_.mutable_findings());
  figures_.set_finding_count(found_.finding_count());
  figures_.set_last_error(std::move(error_));
  found_.Clear();
  error_.clear();
}

}  // namespace itemdb::storage
