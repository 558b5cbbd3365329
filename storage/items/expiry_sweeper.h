// The thread that deletes expired items.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/items/write_action.h"

namespace itemdb::storage {

// Ten times a second the thread checks, in memory, whether the next expiry of any table is due (TtlCursors).
// If so, it reads the expired items, one page per table in turn, and deletes each page by one commit unit.
// The unit reads each item again when it is applied: if a write gave the item more time, the item stays.
//
// At most one such unit is in flight, so other writes wait for one unit at most. Thread-safe.
class ExpirySweeper {
 public:
  explicit ExpirySweeper(Engine& engine);
  // Waits for the unit under way.
  ~ExpirySweeper();
  ExpirySweeper(const ExpirySweeper&) = delete;
  ExpirySweeper& operator=(const ExpirySweeper&) = delete;

  // Number of items deleted from the table with this storage id.
  int64_t Expired(uint64_t table_storage_id) const;

 private:
  using Clock = std::chrono::steady_clock;
  // A table with a time to live that is ENABLED.
  struct SweepState {
    std::string table_name;
    uint64_t table_storage_id;
    uint64_t index_storage_id;
    // A record of the table could not be read, which was logged. Expired items may have been skipped; from
    // `retry_at` on they are read again.
    bool damaged = false;
    // What was logged.
    std::string reported = {};
    Clock::time_point retry_at = {};
    // The next page is read at this time or later.
    Clock::time_point not_before = {};
  };
  // One page of due entries, as items to delete.
  struct Page {
    std::vector<PreparedAction> actions;
    // The entry keys, in the order of `actions`.
    std::vector<std::string> entry_keys;
    // Where the next page starts; empty if the page reached the end of the index.
    std::string next;
    // More entries may be due.
    bool full = false;
    // Not OK: reading stopped early for this reason.
    absl::Status failed;
  };

  void Loop();
  // Sweeps one page of each table. True when more entries are due.
  absl::StatusOr<bool> SweepAll();
  absl::StatusOr<bool> SweepPage(SweepState& state, const KeyRange& due);
  absl::StatusOr<Page> ReadPage(SweepState& state, const std::string& from, const KeyRange& due);
  // The item of an entry, as an action that deletes it. Nothing if the entry does not belong to an item.
  absl::StatusOr<std::optional<PreparedAction>> ReadItem(const ReadView& view,
                                                         const std::shared_ptr<const Table>& table,
                                                         const Index& index, std::string_view entry_key);
  // Updates `tables_` if the catalog has changed.
  void RefreshTables(const ReadView& view);
  // Logs damage of a table, once until `retry_at`.
  void ReportDamageOnce(SweepState& state, const std::string& what);

  Engine& engine_;

  // ---- used by the thread only ----
  std::vector<SweepState> tables_;
  // The catalog that `tables_` was made from, and the store that the TTL cursors belong to. Weak pointers,
  // because the store can be reopened only when nobody holds it.
  std::weak_ptr<const Catalog> catalog_;
  std::weak_ptr<Store> store_;
  // Why nothing can be deleted at present; empty if items can be deleted.
  std::string paused_reason_;

  mutable Mutex mutex_;
  std::map<uint64_t, int64_t> expired_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
