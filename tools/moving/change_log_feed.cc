#include "tools/moving/change_log_feed.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_macros.h"

namespace itemdb::tools {
namespace {

// Pages of the log that are one batch, at most.
constexpr int kPagesOfBatch = 8;
// The last change may be large, so it is not read again by each of the calls that find nothing new.
constexpr absl::Duration kLongestBetweenComparisons = absl::Seconds(1);

// One change that is trimmed, or damaged, and those after it may not be.
bool IsUnreadable(const absl::Status& status) {
  return absl::IsOutOfRange(status) || absl::IsDataLoss(status);
}

bool IsChangeOfItem(ChangeKind kind) {
  return kind == ChangeKind::kInsert || kind == ChangeKind::kModify || kind == ChangeKind::kRemove;
}

}  // namespace

absl::StatusOr<ChangedBatch> ChangeLogFeed::Read(bool checks) {
  ChangedBatch batch;
  uint64_t last = place_;
  int64_t last_time_us = place_time_us_;
  for (int pages = 0; pages < kPagesOfBatch; ++pages) {
    absl::StatusOr<ReadChangesResult> page =
        side_.Try([&] { return side_.client().ReadChanges({.after_sequence = last}, side_.call()); });
    ITEMDB_RETURN_IF_ERROR(page.status());
    if (page->change_sequence < last) {
      return absl::OutOfRangeError(absl::StrCat(
          "the change log of ", side_.name(), " ends with ", page->change_sequence, ", before change ", last,
          ", which the other side has: it was restored to an earlier time"));
    }
    // After the page: it is of the log that is compared, or of one before.
    if (checks || !page->records.empty() || absl::Now() - compared_ >= kLongestBetweenComparisons) {
      ITEMDB_RETURN_IF_ERROR(CheckIsTheSame(last, last_time_us));
      compared_ = absl::Now();
    }
    for (ChangeRecord& record : page->records) {
      last = record.change_sequence;
      last_time_us = absl::ToUnixMicros(record.commit_time);
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

absl::Status ChangeLogFeed::CheckIsTheSame(uint64_t sequence, int64_t time_us) const {
  if (time_us == 0) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const bool is_rolled_back, side_.Try([&] {
    return IsRolledBack(side_.client(), sequence, time_us, side_.call());
  }));
  if (!is_rolled_back) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("change ", sequence, " of ", side_.name(),
                                            " is another one than the other side has: it was restored to an "
                                            "earlier time, and written to since"));
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
  if (IsUnreadable(page.status())) return 0;
  ITEMDB_RETURN_IF_ERROR(page.status());
  if (page->records.empty() || page->records.front().change_sequence != sequence) return 0;
  return absl::ToUnixMicros(page->records.front().commit_time);
}

absl::StatusOr<bool> IsRolledBack(const Client& client, uint64_t sequence, int64_t time_us,
                                  const CallOptions& call) {
  if (sequence == 0) return false;
  const absl::StatusOr<ReadChangesResult> page =
      client.ReadChanges({.after_sequence = sequence - 1, .limit = 1}, call);
  if (IsUnreadable(page.status())) return false;
  ITEMDB_RETURN_IF_ERROR(page.status());
  if (page->change_sequence < sequence) return true;
  if (time_us == 0 || page->records.empty()) return false;
  const ChangeRecord& found = page->records.front();
  return found.change_sequence == sequence && absl::ToUnixMicros(found.commit_time) != time_us;
}

}  // namespace itemdb::tools
