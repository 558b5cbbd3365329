// Where the state of a move is kept: in a file of the mover, replaced as a whole, and in an item of the table
// kMovesTable of the target. A state that is too large for one item goes on in others, of which each run has
// several sets: a state is stored in another set than the one before, and then the item of the move tells by
// its revision which is valid. What was done in the target is counted by the item, so that a target that lost
// its last writes, or was restored, gets them again. Which side writers are sent to is in neither: the fences
// of the source tell that (Move::Open).
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/moving/move_state.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

inline constexpr char kMovesTable[] = "itemdb_moves";

// Thread-safe.
class MoveJournal {
 public:
  // The sides are borrowed; `hurried_target` is the target with less patience.
  MoveJournal(std::string path, const Side& target, const Side& hurried_target)
      : path_(std::move(path)), target_(target), hurried_target_(hurried_target) {}

  const std::string& path() const { return path_; }

  // The state of the move from `source`; nothing if there is none. DATA_LOSS: file or item cannot be read.
  // FAILED_PRECONDITION: file and item are of different moves, or only the file is there: the target is not
  // the one that the move began with.
  absl::StatusOr<std::optional<MoveState>> Load(const std::string& source);
  // The file alone, also if the target cannot be reached.
  absl::StatusOr<std::optional<MoveState>> LoadFile() const;

  // Begins with `state`: makes the table in the target, and stores the state. Replaces the state that was
  // loaded, of a move that is over. ABORTED: another run has changed that, or has begun a move.
  absl::Status Begin(MoveState state);
  // From now on `run` goes on with the loaded move: no other run changes its state any more. ABORTED: another
  // run has changed the state since Load, or has ended the move.
  absl::Status TakeOver(const std::string& run);
  MoveState state() const;
  // Changes the state. Stores it if `now`, or if it was last stored a second ago. ABORTED: another run goes
  // on with the move, or has ended it.
  absl::Status Change(bool now, absl::FunctionRef<void(MoveState&)> change);
  // ABORTED as Change.
  absl::Status CheckIsTheRun() {
    return Change(/*now=*/true, [](MoveState&) {});
  }
  // MoveState::sequence of the state that was stored last, or loaded: what the target is known to have after
  // a crash of the mover.
  uint64_t stored_sequence() const { return stored_sequence_; }
  // From now on the target is not waited for as long as usual, because writers wait.
  void Hurry() { hurries_ = true; }
  // Deletes item and file of the move. ABORTED: another run goes on with it.
  absl::Status Forget();
  // Deletes the file, if it is of this move.
  absl::Status ForgetFile(const std::string& move_id) const;
  // Whether the state that was loaded is in the target. Only its file is left when all else is done.
  bool item_exists() const { return item_exists_; }

 private:
  // The state in the target; nothing if there is none. DATA_LOSS: it cannot be read.
  absl::StatusOr<std::optional<MoveState>> ReadItem(const std::string& source) const;
  // The text of the state; an empty one: the other parts are of another state, because one was just stored.
  absl::StatusOr<std::string> ReadText(const Item& item) const;
  // Stores what the item of the move has no room for, in items of their own.
  absl::Status StoreParts(const MoveState& state, const std::vector<std::string>& parts);
  // Deletes the parts of states of the move's source that other runs have stored; with `all` also of this
  // one.
  absl::Status DeleteParts(const std::string& source, const std::string& run, bool all);
  static Item KeyOfPart(const std::string& source, const std::string& run, uint64_t revision, size_t number);
  struct Condition {
    std::string expression;
    std::map<std::string, Value> values = {};
  };
  // The item is as it was loaded.
  Condition IsAsLoaded(const MoveState& loaded) const;
  // Stores the present state if the target's item is as `condition` says. store_mutex_ is held.
  absl::Status Store(Condition condition);

  absl::Status WriteFile(const MoveState& state) const;
  Item KeyOfMove(const std::string& source) const;

  const std::string path_;
  const Side& target_;
  const Side& hurried_target_;
  std::atomic<bool> hurries_{false};
  std::atomic<bool> item_exists_{false};
  std::atomic<uint64_t> stored_sequence_{0};
  mutable std::mutex mutex_;
  MoveState state_;                                // Guarded by mutex_.
  absl::Time stored_time_ = absl::InfinitePast();  // Guarded by mutex_.
  // Held while the state is stored: an older one must not replace a newer one.
  std::mutex store_mutex_;
  // Parts beside the item that this run has stored, at most: their number does not fall.
  size_t parts_ = 0;  // Guarded by store_mutex_.
};

}  // namespace itemdb::tools
