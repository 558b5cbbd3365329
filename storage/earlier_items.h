// Single items as they were after an earlier commit, for UndoChanges without old images.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "storage/base/background_thread.h"
#include "storage/base/cancellation.h"
#include "storage/base/mutex.h"
#include "storage/earlier_database.h"
#include "storage/engine/engine.h"
#include "storage/items/undo_changes.h"

namespace itemdb::storage {

// A thread that restores the database to the commit that is asked for, and keeps it for a minute after its
// last use: the pages of one UndoChanges ask for the same commit. The thread starts with the first task.
// Thread-safe, but for Stop.
//
// A restore reads a backup of the whole database, and a key that may write one table may ask for it. So only
// a few are begun in an hour, fewer if they take long. A restore goes on when its caller goes away: the call
// may be repeated, and then finds the database.
class EarlierItems {
 public:
  // Restores that may begin within kRestoresPeriod. If they took kMaxRestoring together, not even these, but
  // kMinRestores.
  static constexpr size_t kMaxRestores = 10;
  static constexpr size_t kMinRestores = 2;
  static constexpr std::chrono::minutes kMaxRestoring{10};
  static constexpr std::chrono::hours kRestoresPeriod{1};

  explicit EarlierItems(const Engine& engine) : engine_(engine) {}
  ~EarlierItems() { Stop(); }

  // Runs `task` on the thread, with the items as they were after the commit whose last change is
  // `change_sequence`, or with the error that EarlierDatabase::Restore returned. RESOURCE_EXHAUSTED
  // (QUEUE_FULL): 16 tasks wait, or there were too many restores. UNAVAILABLE: the database is being closed.
  void Run(uint64_t change_sequence, CancellationPtr cancellation, EarlierItemsTask task);
  // Ends a restore that has begun and the waits of the thread, and joins it.
  void Stop();

 private:
  struct Waiting {
    uint64_t change_sequence = 0;
    CancellationPtr cancellation;
    EarlierItemsTask task;
  };

  // On an error `waiting` stays with the caller.
  absl::Status Queue(Waiting& waiting);
  void Loop();
  std::optional<Waiting> TakeFirst();
  void RunTask(Waiting waiting);
  absl::Status Prepare(const Waiting& waiting);
  // RESOURCE_EXHAUSTED (QUEUE_FULL): another restore may begin later.
  absl::Status CheckMayRestore();

  const Engine& engine_;
  Mutex mutex_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
  bool has_started_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_stopped_ ABSL_GUARDED_BY(mutex_) = false;
  // Ends a restore.
  Cancellation stop_;
  // Only the thread uses these.
  struct Restored {
    BackgroundThread::Clock::time_point begin;
    BackgroundThread::Clock::duration took{0};
  };
  // Those of the last kRestoresPeriod, also those that failed.
  std::deque<Restored> restores_;
  std::unique_ptr<EarlierDatabase> database_;
  uint64_t restored_to_ = 0;
  BackgroundThread thread_;
};

}  // namespace itemdb::storage
