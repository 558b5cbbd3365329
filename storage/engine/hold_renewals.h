// What holds of the change log (storage/changes/change_holds.h) are beyond their records: a renewal that asks
// for no more than the record keeps is noted here, without a commit, so that a reader that may only read
// cannot make the database write without bound. The next round of trimming stores what was noted, in one
// commit.
//
// Nothing that a reader was promised is lost with the process: the record keeps the changes of an earlier
// position, so more; its lease is as long or longer; and after a start each hold has a whole lease. A call
// that fails loses nothing either: what was noted stays until the commit of what replaces it has succeeded.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "itemdb/v1/changes.pb.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {

// Thread-safe.
class HoldRenewals {
 public:
  // The hold whose record is `stored`, as it was last renewed.
  v1::ChangeHold Apply(v1::ChangeHold stored) const;
  // The hold has a durable record, and is so now.
  void Note(const v1::ChangeHold& hold);
  // The record is about to be written, and may not be durable until Note or Forget.
  void Doubt(const std::string& name);
  // There is no such hold any more.
  void Forget(const std::string& name);
  // Whether the hold of this record was noted, and not doubted since.
  bool Knows(const v1::ChangeHold& stored) const;

  // Whether a caller may make a hold now, or change its record, which is a commit: kHoldCommitsBurst at once,
  // and after them kHoldCommitsPerSecond. Counts the commit. `now_us`: TimeOfDay::SteadyMicros.
  bool TakeCommit(int64_t now_us);

 private:
  struct Noted {
    v1::ChangeHold hold;
    // The record, as far as is known.
    bool is_durable = true;
  };

  mutable Mutex mutex_;
  // Holds that have not ended, so at most kMaxChangeHolds.
  std::map<std::string, Noted> by_name_ ABSL_GUARDED_BY(mutex_);
  // When the commits that were taken are paid for.
  int64_t paid_until_us_ ABSL_GUARDED_BY(mutex_) = INT64_MIN / 2;
};

}  // namespace itemdb::storage
