// The thread that deletes items whose time has come.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/items/write_action.h"

namespace itemdb {

// Looks a few times a second, in memory, whether the next expiry of any table is due (ExpiryMarks); reads
// then what is, a page of each table in turn, and has the commit pipeline delete it. What is decided on is
// the item as it is at its turn there, so a write that came before it and gave the item more time is not
// undone.
//
// One unit at a time is under way, so other writes wait for that one at most. Thread-safe.
class ExpirySweeper {
 public:
  explicit ExpirySweeper(Engine& engine);
  // Waits for the unit under way.
  ~ExpirySweeper();
  ExpirySweeper(const ExpirySweeper&) = delete;
  ExpirySweeper& operator=(const ExpirySweeper&) = delete;

  // Items deleted of the table with this storage id.
  int64_t Expired(uint64_t table_storage_id) const;

 private:
  using Clock = std::chrono::steady_clock;
  // A table with a time to live that is ENABLED.
  struct Swept {
    std::string table_name;
    uint64_t table_storage_id;
    uint64_t index_storage_id;
    // Something of it could not be read, which was logged; items may have been left because of that until
    // they are looked at again.
    bool damaged = false;
    Clock::time_point look_again = {};
    // When the next page is to be read.
    Clock::time_point not_before = {};
  };
  // Entries that are due, as items to delete.
  struct Page {
    std::vector<PreparedAction> actions;
    // Of their entries.
    std::vector<std::string> entry_keys;
    // From where on nothing was looked at; empty: from nowhere on.
    std::string next;
    // More may be due.
    bool full = false;
    // Why there is no more of it.
    absl::Status failed;
  };

  void Loop();
  // A page of each table. True when more is due.
  absl::StatusOr<bool> SweepAll();
  absl::StatusOr<bool> SweepPage(Swept& swept, const KeyRange& due);
  absl::StatusOr<Page> ReadPage(Swept& swept, const std::string& from, const KeyRange& due);
  // The page's next item: nothing when the entry is not that of an item.
  absl::StatusOr<std::optional<PreparedAction>> ReadItem(const ReadView& view,
                                                         const std::shared_ptr<const Table>& table,
                                                         const Index& index, std::string_view entry_key);
  void LookForTables(const ReadView& view);
  // Logs, once until they are looked at again.
  void Complain(Swept& swept, const std::string& what);

  Engine& engine_;

  // ---- of the thread ----
  std::vector<Swept> tables_;
  // What `tables_` and the marks are of. Weak: the store can only be reopened when nobody holds it.
  std::weak_ptr<const Catalog> catalog_;
  std::weak_ptr<Store> store_;
  // Why nothing could be deleted lately; empty when it could.
  std::string paused_reason_;

  mutable Mutex mutex_;
  std::map<uint64_t, int64_t> expired_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb
