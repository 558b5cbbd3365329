// The background check: runs slowly and without end while the database is used.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"
#include "storage/indexes/findings.h"

namespace itemdb::storage {

// Compares the items and index entries of all tables, round after round, at
// DatabaseOptions::background_check_rate records a second: each item with its entries, each entry with its
// item. At the end of a round it compares the content sums (content_check.h), a hundred times as fast, but at
// most 100,000 records a second. Findings are logged and shown by GetStatus. Nothing is repaired, but content
// sums that are not whole are completed.
//
// Each chunk of records is read in a new view, so that no snapshot gets old. Size statistics need one view
// for all records of a table or an index: they are compared where reading them so slowly takes about a minute
// at most. CheckDatabase compares all of them, the sizes of item collections and the change log. After a
// restart a new round begins. Thread-safe.
class BackgroundCheck {
 public:
  // Does nothing at a rate of 0.
  explicit BackgroundCheck(Engine& engine);
  ~BackgroundCheck();
  BackgroundCheck(const BackgroundCheck&) = delete;
  BackgroundCheck& operator=(const BackgroundCheck&) = delete;

  // Adds the progress and the findings of the last round to `*reply`; nothing at a rate of 0.
  void Describe(v1::GetStatusReply* reply) const;
  // Records that the round under way has compared; after a round 0 until the next one begins.
  int64_t compared() const { return compared_.load(std::memory_order_relaxed); }

 private:
  // The position of the round: the next record to compare.
  struct Place {
    // Empty: the round has not begun.
    std::string table_name;
    // The table's own storage id, or that of one of its indexes.
    uint64_t storage_id = 0;
    // The key from which to go on.
    std::string from;
  };

  void Loop();
  // Compares at most `limit` records from place_ on and moves place_ after them; a part that cannot be read
  // is skipped. Returns the number of records. nullopt, and place_ stays: the store is being reopened, or the
  // check must stop.
  std::optional<int64_t> CompareSome(int64_t limit);
  // Compares content sums, of the tables in which this round has found nothing, where reading takes at most
  // `max_seconds`. Completes all that are not whole.
  void CompareContents(int64_t max_seconds);
  // Logs the findings of `so_far` that are not in found_, and moves it there.
  void TakeFindings(v1::CheckDatabaseReply so_far);
  void EndRound();

  Engine& engine_;
  const std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();

  // Only for the thread.
  Place place_;
  // The findings of this round, and the last error while reading.
  v1::CheckDatabaseReply found_;
  std::string error_;
  std::set<std::string> tables_with_findings_;

  std::atomic<int64_t> compared_ = 0;
  mutable Mutex mutex_;
  v1::BackgroundCheck figures_ ABSL_GUARDED_BY(mutex_);
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
