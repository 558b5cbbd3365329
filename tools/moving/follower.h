// Applies the source's changes to the target, from a place in its change feed on, on a thread of its own.
//
// A change names a key. The follower reads the item of each changed key from the source, and puts or
// deletes it in the target: as many at a time as the feed has. It does not use the images of changes, because
// a feed has them only if the table's stream asks for them, and not from before that. The result is the same:
// each key's last change is followed by a read of the item, which has that change or a later one; and a key
// is in a batch once, with the batches one after the other, so no older write of it comes later.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/moving/change_feed.h"
#include "tools/moving/changed_keys.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/pace.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

// Keys of one table.
struct TableKeys {
  std::string table_name;
  std::vector<Item> keys = {};
};

class Follower {
 public:
  // All but the feed are borrowed. `feed`: of the source. `most_changed`: keys that changed() keeps.
  Follower(const Side& source, const Side& target, std::unique_ptr<ChangeFeed> feed, MoveJournal& journal,
           Pace& pace, int workers, size_t most_changed = ChangedKeys::kMax);
  ~Follower() { Stop(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  void Start();
  // Ends the thread and stores how far it has come.
  void Stop();

  // What the feed had at this call is in the target after Await of the result: if the feed is exact, every
  // change that was acknowledged before.
  absl::StatusOr<uint64_t> Mark() const { return feed_->Mark(); }
  bool is_exact() const { return feed_->is_exact(); }
  // Waits until each change up to this place of the feed is in the target, and until the feed was read since
  // the call: of a source that was restored to an earlier time, a place may be behind what was read. The
  // failure that ended the thread: OUT_OF_RANGE: the changes cannot be read any more: compare all items, then
  // begin at a place of now. NOT_FOUND: a table was deleted. DEADLINE_EXCEEDED: not until `deadline`.
  absl::Status Await(uint64_t place, absl::Time deadline = absl::InfiniteFuture());
  // Waits until no change has come for so long. The failures of Await.
  absl::Status AwaitQuiet(absl::Duration quiet);
  // Reads these items from the source and writes them to the target, between two batches of changes.
  absl::Status Repair(std::vector<TableKeys> keys, absl::Time deadline = absl::InfiniteFuture());

  // Keys that changed since the follower began, or since they were taken.
  ChangedKeys& changed() { return changed_; }
  const ChangedKeys& changed() const { return changed_; }
  // The place in the feed up to which all is in the target, and how many changes follow it; -1: not known.
  uint64_t place() const { return place_; }
  int64_t behind() const { return behind_; }
  int64_t applied() const { return applied_; }
  // The time from the commit of a change to its being in the target, of the last batch.
  absl::Duration lag() const { return absl::Nanoseconds(lag_ns_.load()); }
  bool has_failed() const { return has_failed_; }

 private:
  void Run();
  absl::Status Step();
  absl::Status Apply(const std::vector<TableKeys>& keys);
  bool WaitForWork(absl::Duration longest);

  const Side& source_;
  const Side& target_;
  const std::unique_ptr<ChangeFeed> feed_;
  MoveJournal& journal_;
  Pace& pace_;
  const int workers_;
  ChangedKeys changed_;
  std::atomic<uint64_t> place_;
  std::atomic<int64_t> behind_{0};
  std::atomic<int64_t> applied_{0};
  std::atomic<int64_t> lag_ns_{0};
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  std::condition_variable something_happened_;
  // The rest is guarded by mutex_.
  bool stops_ = false;
  absl::Status failure_;
  // When the last batch with changes was read; at first when the follower began.
  absl::Time last_change_time_ = absl::InfiniteFuture();
  std::vector<TableKeys> to_repair_;
  // Count batches; `steps_done_` are in the target.
  int64_t steps_begun_ = 0;
  int64_t steps_done_ = 0;
  // Calls of Await that wait.
  int awaits_ = 0;
  // Counts calls of Repair, and those that are done.
  int64_t repairs_asked_ = 0;
  int64_t repairs_done_ = 0;
  std::thread thread_;
};

// Reads the items of `keys` from the source and writes them to the target, `workers` pages at a time.
absl::Status CopyKeys(const Side& source, const Side& target, const std::vector<TableKeys>& keys, Pace& pace,
                      int workers);

}  // namespace itemdb::tools
