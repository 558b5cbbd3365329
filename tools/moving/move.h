// A move of tables from one database to another, with writers going on: the steps in their order.
//
//   Begin     the plan is checked; the target gets the tables; the change sequence S of the source is noted
//   Copy      all items, in the state that each page's moment has
//   Follow    the changes after S, until the end (follower.h)
//   Verify    both sides are compared whole while changes go on; what differs is written again. Keys that
//             change meanwhile are noted and compared by themselves, until few are left
//   Switch    itemd refuses writes of the tables (TABLE_MOVING); the rest of the changes is applied; the keys
//             that changed since they were compared are compared; then writers are sent to the target
//             (TABLE_MOVED)
//
// From the beginning to the switch a hold keeps the changes that are needed in the source's change log
// (log_hold.h). When it has ended, the move stops.
//
// Each step may be repeated, and the journal says which are done, so a move goes on after a kill of the
// mover, the source or the target where it was. The moment of the switch is the commit in the source that
// sends the writers of the first table to the target: before it the source has everything, and Abort leaves
// it as it was; after it the rest of the switch is done whatever happens.
//
// A run that was taken for dead may wake up after another one has gone on, or has ended the move. It does no
// harm, because each run has a pass:
// - The run in the journal is the only one that changes the state there.
// - While the move goes on the target's tables, if they are itemd's, have a fence that lets only the pass of
//   one run through (WriteFence::pass_sha256).
// - A fence is changed only from the one that the run knows, and no two runs set the same.
// - Writers are sent to the target first, then its fences are lifted. So if a run has set its fences there
//   and then sees that the source does not send writers away, nobody else writes to the target.
// Other targets have no fences: there a run that wakes up may write items as old as its sleep.
//
// A table is taken over (adopt) by the same steps. The source has no fence, so its writers are stopped by
// somebody else: the move ends when no change has come for a while (FinishWhenQuiet). A source whose changes
// cannot be followed is compared again and again instead (CompareUntilEqual).
//
// After a switch the roles can be exchanged: the changes of the target are followed and applied to the
// source, which goes on sending its writers to the target (StartFollowingBack). Then GoBack applies only the
// rest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/progress.h"
#include "tools/moving/comparison.h"
#include "tools/moving/fences.h"
#include "tools/moving/follower.h"
#include "tools/moving/full_export.h"
#include "tools/moving/log_hold.h"
#include "tools/moving/move_journal.h"
#include "tools/moving/move_plan.h"

namespace itemdb::tools {

struct MoveOptions {
  std::string state_path;
  // Empty: all tables.
  std::vector<std::string> table_names = {};
  bool overwrite = false;
  // The tables of a finished move are to be brought back.
  bool back = false;
  // The source is not told where its writers go: it may be an engine that has no fences.
  bool adopts = false;
  // What the tables are copied from that are taken over; then of each table. Empty: the source is scanned.
  FullExports exports = {};
  // Tables without a DynamoDB Stream get one where it is needed to follow their changes.
  bool enable_streams = false;
  // Where the streams of the other side than the command's own are, if not at its endpoint.
  std::optional<Client> other_streams = std::nullopt;
  // The most pages and parts under way at a time.
  int workers = 16;
  // Keys that changed since they were compared, at most: more are not noted, and all is compared instead.
  size_t most_changed_keys = ChangedKeys::kMax;
  // 0: no bound.
  double max_items_per_second = 0;
  // How long an itemd keeps the changes that the move needs after the move was last heard of; 0: no longer
  // than others.
  absl::Duration hold = absl::Hours(72);
  // Without a success for so long, a call fails and the move stops.
  absl::Duration patience = absl::Minutes(5);
  // The same while writers wait: then the switch is given up, and writers go on at the source.
  absl::Duration switch_patience = absl::Seconds(20);
  CancelToken cancel = {};
  // Gets lines about what is done and waited for, also from several threads at a time.
  std::function<void(const std::string&)> say = nullptr;
  ProgressTerminal progress = nullptr;
};

// What was done, for the report at the end.
struct MoveReport {
  int64_t items_copied = 0;
  absl::Duration copy_time;
  int64_t changes_applied = 0;
  int64_t items_compared = 0;
  // Differences that a comparison found and that were written again. Not those of items that were changing.
  std::vector<Difference> repaired;
  // The time from the commit of a change to its being in the target, of the last changes before the switch.
  absl::Duration lag;
  // How long itemd refused writes.
  std::optional<absl::Duration> pause;
};

class Move {
 public:
  Move(Client source, Client target, MoveOptions options);

  // Asks both sides; changes nothing.
  absl::StatusOr<MovePlan> Plan() const;

  // Finds the move that was begun before, or begins one. FAILED_PRECONDITION: a problem of the plan; both
  // sides are one database; other tables are being moved; a table was made anew.
  absl::Status Open();
  MoveStep step() const { return journal_.state().step; }

  // Each goes on where it was; at once if it is done.
  absl::Status Copy();
  absl::Status StartFollowing();
  // Compares everything and leaves few keys to be compared by Switch. Writers that an earlier run has stopped
  // go on meanwhile.
  absl::Status Verify();
  // The last part of Verify, once more: keys go on changing while a person is asked.
  absl::Status CompareUntilFew();
  absl::Status Switch();

  // For a source without change log: compares everything and writes what differs, until a comparison finds
  // nothing, or `passes` times. True: nothing differs. At its end the target takes other writes again.
  absl::StatusOr<bool> CompareUntilEqual(int passes);

  // Whether StartFollowing can be called: the source is itemd, or all tables have a DynamoDB Stream, which
  // they get if the options say so. Otherwise says which have none.
  absl::StatusOr<bool> CanFollow();
  // After Verify, for a source without fences: goes on until no change has come for so long and nothing
  // differs. Then the target takes other writes. Writers of the source must have stopped.
  // FAILED_PRECONDITION: each of many comparisons has found something.
  absl::Status FinishWhenQuiet(absl::Duration quiet);

  // After the switch: applies the changes of the target to the source from now on. Then Verify and
  // CompareUntilFew, of exchanged sides. FAILED_PRECONDITION: as GoBack, or a table has no stream.
  absl::Status StartFollowingBack();
  // Whether StartFollowingBack makes GoBack short: the target has no fences, and its tables have streams.
  absl::StatusOr<bool> GoesBackByStreams();
  // Waits until no change has come for so long.
  absl::Status AwaitQuiet(absl::Duration quiet) { return follower_->AwaitQuiet(quiet); }

  // The changes are not in the log any more, or the source is another than it was: compares everything and
  // follows from now on.
  absl::Status BeginAgainByComparison();

  // Lifts the fence and forgets the move. FAILED_PRECONDITION: writers were sent to the target.
  absl::Status Abort();
  // After the switch: brings the tables back. The source refuses writes but those of this run meanwhile, and
  // so does the target if it is itemd; writers of another target must have been stopped. FAILED_PRECONDITION
  // also: the source has no fence, because somebody lifted it, and `overwrite` is not set. After
  // StartFollowingBack and Verify only the rest is applied and compared.
  absl::Status GoBack();

  // `status`, or what has ended the calls that failed with it: the source does not keep the changes any more.
  absl::Status Explained(absl::Status status) const;

  const Follower* follower_or_null() const { return follower_.get(); }
  MoveReport report() const;

 private:
  // Parts of the scans of a comparison of whole tables.
  static constexpr int kSegmentsOfComparison = 16;
  // Comparisons, each of what the one before has written again.
  static constexpr int kMostRounds = 10;

  absl::StatusOr<std::string> IdOf(const Side& side) const;
  // FAILED_PRECONDITION: source and target are one database. Returns the source's id.
  absl::StatusOr<std::string> CheckAreTwo() const;
  absl::Status BeginMove(const std::string& source_id);
  // How the copy of a table begins.
  MovedTable BeginTable(const TableDescription& table) const;
  // The copy goes on from what it was begun from.
  absl::Status CheckCopiedFrom(const MoveState& state) const;
  // The source keeps the changes after `sequence` for the move, unless it knows no holds, or its disk is
  // full. OUT_OF_RANGE: they are gone.
  absl::Status TakeHold(const std::string& move_id, uint64_t sequence);
  // The last change of the source, after which it keeps the changes for the move.
  absl::StatusOr<uint64_t> HoldFromNow(const std::string& move_id);
  // The same, after the oldest change that the source has: an export may be as old.
  absl::StatusOr<uint64_t> HoldFromOldest(const std::string& move_id);
  absl::StatusOr<uint64_t> HoldFrom(const std::string& move_id,
                                    absl::FunctionRef<absl::StatusOr<uint64_t>()> find_sequence);
  void StartHold();
  // Says which holds of moves the source has, when no move is known.
  void SayWhatIsHeld() const;
  // Changes of the source are not needed any more.
  void ReleaseHold();
  absl::Status CheckTables(const MoveState& state);
  absl::Status ReadDefinitions();
  absl::Status CheckTargetName(const MoveState& state) const;
  absl::Status CheckIsSwitched(const MoveState& state);
  absl::StatusOr<bool> BeginsAnother(const MoveState& done);
  // Or all of the source, without the records of moves.
  absl::StatusOr<std::vector<std::string>> TablesAskedFor() const;
  absl::StatusOr<std::vector<std::string>> UnfencedTables() const;
  absl::StatusOr<std::vector<std::string>> TablesWithoutStream(const Side& side) const;
  absl::Status EnableStreams(const Side& side, const std::vector<std::string>& tables);
  absl::StatusOr<std::unique_ptr<ChangeFeed>> OpenFeed() const;
  absl::Status BeginFollowing();
  // The target's definitions are still those of the source.
  absl::Status CheckDefinitions() const;
  absl::Status CheckFencesToGoBack();
  absl::Status CompareAllToGoBack();
  absl::Status ApplyRestToGoBack();
  absl::Status CheckSourceIsFenced() const;
  absl::Status CheckTargetHasNotMovedOn() const;
  // The end of GoBack has begun: writers of at least one table may be sent to the source.
  bool WritersAreSentBack() const;
  absl::Status FinishGoingBack();
  // The step, corrected by the fences of the source.
  MoveStep StepByFences(const MoveState& state) const;
  // Only this run writes to the target from now on.
  absl::Status FenceTarget();
  absl::StatusOr<bool> CompareAndWriteUntilEqual(int passes);
  absl::Status CheckedForOtherRuns(const absl::Status& written);
  // What this run answers with, that was to go on in the source but whose writers are in the target.
  absl::Status SentAlready(const std::string& writers) const;
  // The tables that were asked for, or all of the source.
  absl::StatusOr<std::set<std::string>> NamesAskedFor() const;
  absl::Status AbortWithoutTarget();
  absl::Status LiftFencesOfSource(const std::set<std::string>& names);
  absl::Status DrainFenced();
  absl::Status SendWritersToTarget();
  // Writes what differs again, and compares it. Keys that change meanwhile are left to a later comparison.
  absl::Status RepairAndCheck(const std::vector<Difference>& differences, bool may_change);
  absl::Status CompareChanged(bool may_change);
  absl::Status CompareAll(bool may_change);
  // Compares what changed since it was last compared, and everything if those keys were too many to note.
  // Both sides may change.
  absl::Status CompareNoted();
  // A round of the end, after writers have stopped: compares what changed, and if nothing did and the changes
  // may be late, everything. True: nothing differed or changed.
  absl::StatusOr<bool> CompareRest();
  // The end of FinishWhenQuiet.
  absl::Status Finish();
  absl::StatusOr<uint64_t> SourceSequence() const;
  // Nothing is to be followed or compared any more.
  bool is_over() const { return !is_back_ && step() >= MoveStep::kSwitched; }
  const Side& from(bool hurried = false) const {
    return is_back_ ? (hurried ? hurried_target_ : target_) : (hurried ? hurried_source_ : source_);
  }
  const Side& to(bool hurried = false) const {
    return is_back_ ? (hurried ? hurried_source_ : source_) : (hurried ? hurried_target_ : target_);
  }
  void Say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  MoveOptions options_;
  // Secret, of this run; and its SHA-256, which names the run.
  const std::string pass_;
  const std::string run_;
  const Side source_;
  const Side target_;
  // The same with less patience, for calls while writers wait.
  const Side hurried_source_;
  const Side hurried_target_;
  // For calls that an interruption must not keep from being made.
  const Side steadfast_source_;
  const Side steadfast_target_;
  MoveJournal journal_;
  // Changes go from the target to the source.
  bool is_back_ = false;
  Pace pace_;
  std::unique_ptr<Follower> follower_;
  // Null: nothing is held.
  std::unique_ptr<LogHold> hold_;
  Fences source_fences_;
  Fences target_fences_;
  // As of the source, in the order of the journal's tables.
  std::vector<TableDefinition> definitions_;
  std::vector<std::string> time_to_live_;
  MoveReport report_;
  int64_t applied_before_ = 0;
  absl::Duration compare_time_ = absl::InfiniteDuration();
  absl::Time paused_since_ = absl::InfinitePast();
};

// A connection-independent random id.
std::string NewMoveId();

}  // namespace itemdb::tools
