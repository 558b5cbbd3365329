// Requests and results about the change log: reading, watching, holding and undoing changes. The operations
// are in client.h.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "itemdb/lazy_range.h"
#include "itemdb/table.h"
#include "itemdb/value.h"

namespace itemdb {

enum class ChangeKind { kUnknown, kInsert, kModify, kRemove, kCreateTable, kDeleteTable, kUpdateTable };

// One committed change.
struct ChangeRecord {
  uint64_t change_sequence = 0;
  // Never decreases from one record to the next.
  absl::Time commit_time;
  // TableDescription.storage_id of the table concerned.
  uint64_t table_storage_id = 0;
  ChangeKind kind = ChangeKind::kUnknown;
  // The item's key attributes; empty for table changes.
  std::optional<Item> key;
  // The item before and after the change, if the table's stream view type includes them.
  std::optional<Item> old_image;
  std::optional<Item> new_image;
  // First and last change of the commit that contains this change.
  uint64_t commit_first_sequence = 0;
  uint64_t commit_last_sequence = 0;
  // For table changes: the table's description.
  std::optional<TableDescription> table;
  // True when the daemon deleted the item because its time to live had ended.
  bool expired = false;
  // The item could not be read, and an operator discarded it (DiscardDamagedItem): there is no old image.
  bool discarded = false;
};

// Changes as they are committed; see Client::Watch.
using ChangeRange = LazyRange<ChangeRecord>;

// How far a watch has read. A later watch can continue from here, also in another process.
struct WatchPosition {
  // The program has used every requested change up to this one.
  uint64_t change_sequence = 0;
  // The watched table's TableDescription.storage_id; 0: every table.
  uint64_t table_storage_id = 0;
};

struct WatchRequest {
  // Returns changes with a greater sequence. To continue a watch, pass the `change_sequence` of the last used
  // record or of the last position, whichever is greater. 0: from the first change ever made. Default: the
  // changes from now on.
  std::optional<uint64_t> after_sequence = std::nullopt;
  // Only this table's changes, those of its definition included. Default: of every table.
  std::string table_name = "";
  // The `table_storage_id` of the position to continue from; the table may have been deleted since. Default:
  // the table that has this name now.
  uint64_t table_storage_id = 0;
  // Called when the position has moved and all received changes are used, and every few seconds while no
  // change comes (CallOptions::timeout / 4, 5 s at most). A program that stores each position can continue
  // even if the table did not change for longer than changes are kept. Runs on the range's thread.
  std::function<void(const WatchPosition&)> on_progress = nullptr;
};

struct ReadChangesRequest {
  // Returns changes with a greater sequence. Default: from the first.
  uint64_t after_sequence = 0;
  // 1 to 1,000. Default 1,000. The records of one commit are never split, so a page may be longer.
  std::optional<int32_t> limit = std::nullopt;
};

struct ReadChangesResult {
  // The last change that existed when the page was read.
  uint64_t change_sequence = 0;
  std::vector<ChangeRecord> records;
  // The oldest change that is kept; `change_sequence` + 1 when none is kept.
  uint64_t oldest_sequence = 0;
};

struct HoldChangesRequest {
  // Who holds the changes: 1 to 255 of the characters a-z, A-Z, 0-9, '_', '-', '.'.
  std::string name;
  // Changes with a greater sequence are kept: `after_sequence` of the next ReadChanges.
  uint64_t after_sequence = 0;
  // Without another call for so long the hold ends. 1 s to 30 days.
  absl::Duration lease = absl::Hours(24);
  // Only renews a hold that has not ended. Otherwise makes it if it is not there.
  bool renews = false;
};

enum class ChangeHoldState {
  // The changes are kept.
  kHeld,
  // The hold was not renewed in time.
  kExpired,
  // It ended because free space was below twice the floor.
  kDiskFull,
};

// Changes that are kept for a reader.
struct ChangeHold {
  std::string name = {};
  // Changes with a greater sequence are kept.
  uint64_t after_sequence = 0;
  ChangeHoldState state = ChangeHoldState::kHeld;
  absl::Duration lease = absl::ZeroDuration();
  absl::Time creation_time = absl::UnixEpoch();
  absl::Time renewed_time = absl::UnixEpoch();
  // 1970 while it is held.
  absl::Time ended_time = absl::UnixEpoch();
  // Bytes on disk of its first change and all after it, about; only of ListChangeHolds.
  int64_t held_bytes = 0;
};

// What became of an item, or would become of it.
enum class UndoOutcome {
  // The item was written as it was before.
  kPut,
  // The item did not exist before and was deleted.
  kDeleted,
  // The item is as it was before.
  kUnchanged,
  // The item was changed after the stretch and left as it is.
  kChangedSince,
};

struct UndoneItem {
  Item key;
  UndoOutcome outcome = UndoOutcome::kUnchanged;
  // kChangedSince: the last change of the item; 0 if it was changed during the call.
  uint64_t changed_sequence = 0;
};

struct UndoChangesRequest {
  std::string table_name;
  // The first and the last change of the stretch.
  uint64_t from_sequence = 0;
  uint64_t to_sequence = 0;
  // Only these items, at most 100. Default: all.
  std::vector<Item> keys = {};
  // Only reports what would be written.
  bool dry_run = false;
  // UndoChangesResult.last_evaluated_key of the page before.
  std::optional<Item> exclusive_start_key = std::nullopt;
};

struct UndoChangesResult {
  uint64_t change_sequence = 0;
  // At most 1,000.
  std::vector<UndoneItem> items;
  // Set if items remain.
  std::optional<Item> last_evaluated_key;
};

}  // namespace itemdb
