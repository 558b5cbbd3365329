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
  for (int pages = 0; pages < kPagesOfBatch; ++pages) {
    absl::StatusOr<ReadChangesResult> page =
        side_.Try([&] { return side_.client().ReadChanges({.after_sequence = last}, side_.call()); });
    ITEMDB_RETURN_IF_ERROR(page.status());
    if (page->change_sequence < last) {
      return absl::OutOfRangeError(absl::StrCat(
          "the change log of ", side_.name(), " ends with ", page->change_sequence, ", before change ", last,
          ", which the other side has: it was restored to an earlier time"));
    }
    for (ChangeRecord& record : page->records) {
      last = record.change_sequence;
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
  return batch;
}

absl::StatusOr<uint64_t> ChangeLogFeed::Mark() const {
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          side_.Try([&] { return side_.client().GetStatus({}, side_.call()); }));
  return status.change_sequence;
}

}  // namespace itemdb::tools
