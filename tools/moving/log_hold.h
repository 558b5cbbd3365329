// Keeps the changes that a move still needs in the change log of an itemd, also while the mover is away: by a
// hold of that log (Client::HoldChanges), which this renews.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "itemdb/cancel_token.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

class LogHold {
 public:
  // Both are borrowed. The hold ends when nobody has renewed it for `lease`.
  LogHold(const Side& side, MoveJournal& journal, std::string move_id, absl::Duration lease);
  ~LogHold() { Stop(); }
  LogHold(const LogHold&) = delete;
  LogHold& operator=(const LogHold&) = delete;

  // Holds the changes after this one, and it itself if it is in the log; also if the hold has ended before.
  // OUT_OF_RANGE: they are not in the log any more. UNIMPLEMENTED: the side knows no holds.
  // RESOURCE_EXHAUSTED (DISK_FULL), at once: the disk of the side is full, and may stay so until the move has
  // made room.
  absl::Status Take(uint64_t after_sequence);
  // From now on a thread renews the hold, with the change up to which the journal has stored all. If the hold
  // has ended, it calls `on_ended`, and ends.
  void Start(std::function<void()> on_ended);
  void Stop();
  // Not OK: the hold has ended, for this reason, as far as is known.
  absl::Status failure() const;
  // Renews it at once. The failure; OK also if the side cannot be reached, or was restored to an earlier
  // time: then take another one.
  absl::Status Renew();
  // Stops, and ends the hold. Errors are not told: it ends by itself.
  void Release();

  // The names of the holds of moves that `side` is the source of; none if they cannot be read.
  static std::vector<std::string> NamesIn(const Side& side);
  // Ends the hold of a move that `side` is the source of.
  static void Release(const Side& side, const std::string& move_id);

 private:
  absl::Status TakeAfter(uint64_t after_sequence);
  void Run();

  const Side& side_;
  MoveJournal& journal_;
  const std::string name_;
  const absl::Duration lease_;
  const CancelToken cancel_;
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  // Guarded by mutex_.
  uint64_t taken_after_ = 0;
  // What the journal had stored then. The same number later says nothing: the source may have been restored
  // to an earlier time since it was stored.
  uint64_t stored_before_ = 0;
  bool stops_ = false;
  absl::Status failure_;
  // Constant while the thread runs.
  std::function<void()> on_ended_;
  std::thread thread_;
};

}  // namespace itemdb::tools
