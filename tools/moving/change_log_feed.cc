#include "tools/moving/change_log_feed.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace itemdb::tools {
namespace {

// Pages of the log that are one batch, at most.
constexpr int kPagesOfBatch = 8;

bool IsChangeOfItem(ChangeKind kind) {
  return kind == ChangeKind::kInsert || kind == ChangeKind::kModify || kind == ChangeKind::kRemove;
}

}  // namespace

absl::StatusOr<ChangedBatch> ChangeLogFeed::Read() {
  ChangedBatch batch;
  uint64_t last = place_;
  int64_t last_time_us = place_time_us_;
  const auto read_after = [&](uint64_t sequence) {
    return side_.Try([&] { return side_.client().ReadChanges({.after_sequence = sequence}, side_.call()); });
  };
  for (int pages = 0; pages < kPagesOfBatch; ++pages) {
    const bool compares = pages == 0 && place_ > 0 && place_time_us_ != 0;
    absl::StatusOr<ReadChangesResult> page = read_after(compares ? last - 1 : last);
    // The last one may be trimmed, and those after it not.
    if (compares && absl::IsOutOfRange(page.status())) page = read_after(last);
    ITEMDB_RETURN_IF_ERROR(page.status());
    if (page->change_sequence < last) {
      return absl::OutOfRangeError(absl::StrCat(
          "the change log of ", side_.name(), " ends with ", page->change_sequence, ", before change ", last,
          ", which the other side has: it was restored to an earlier time"));
    }
    for (ChangeRecord& record : page->records) {
      const int64_t time_us = absl::ToUnixMicros(record.commit_time);
      if (compares && record.change_sequence == place_) {
        if (time_us == place_time_us_) continue;
        return absl::OutOfRangeError(absl::StrCat("change ", place_, " of ", side_.name(),
                                                  " is another one than the other side has: it was restored "
                                                  "to an earlier time, and written to since"));
      }
      last = record.change_sequence;
      last_time_us = time_us;
      const auto table = options_.tables.find(record.table_storage_id);
      if (table == options_.tables.end()) continue;
      if (record.kind == ChangeKind::kDeleteTable)
        return absl::NotFoundError("table " + table->second + " was deleted in " + side_.name());
      if (!IsChangeOfItem(record.kind) || !record.key.has_value()) continue;
      ++batch.changes;
      batch.oldest = std::min(batch.oldest, record.commit_time);
      const Digest digest = DigestOf(*record.key);
      batch.keys[table->second].emplace(digest, *std::move(record.key));
    }
    behind_ = static_cast<int64_t>(page->change_sequence - last);
    if (page->records.empty() || behind_ == 0) break;
  }
  batch.is_idle = last == place_;
  place_ = last;
  place_time_us_ = last_time_us;
  return batch;
}

absl::StatusOr<uint64_t> ChangeLogFeed::Mark() const {
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          side_.Try([&] { return side_.client().GetStatus({}, side_.call()); }));
  return status.change_sequence;
}

absl::StatusOr<int64_t> CommitTimeOf(const Side& side, uint64_t sequence) {
  if (sequence == 0 || !side.is_itemd()) return 0;
  const absl::StatusOr<ReadChangesResult> page = side.Try(
      [&] { return side.client().ReadChanges({.after_sequence = sequence - 1, .limit = 1}, side.call()); });
  if (absl::IsOutOfRange(page.status())) return 0;
  ITEMDB_RETURN_IF_ERROR(page.status());
  if (page->records.empty() || page->records.front().change_sequence != sequence) return 0;
  return absl::ToUnixMicros(page->records.front().commit_time);
}

absl::StatusOr<bool> IsRolledBack(const Client& client, uint64_t sequence, int64_t time_us,
                                  const CallOptions& call) {
  if (sequence == 0) return false;
  const absl::StatusOr<ReadChangesResult> page =
      client.ReadChanges({.after_sequence = sequence - 1, .limit = 1}, call);
  if (absl::IsOutOfRange(page.status())) return false;
  ITEMDB_RETURN_IF_ERROR(page.status());
  if (page->change_sequence < sequence) return true;
  if (time_us == 0 || page->records.empty()) return false;
  const ChangeRecord& found = page->records.front();
  return found.change_sequence == sequence && absl::ToUnixMicros(found.commit_time) != time_us;
}

}  // namespace itemdb::tools
