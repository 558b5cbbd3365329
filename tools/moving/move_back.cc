// The ways back of a move: giving it up before the switch, and bringing the tables back after it.
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/exit_codes.h"
#include "tools/base/number_text.h"
#include "tools/moving/move.h"

namespace itemdb::tools {

absl::Status Move::SentAlready(const std::string& writers) const {
  return absl::FailedPreconditionError(writers +
                                       " were sent to the target already, so the source may lack what they "
                                       "wrote there: bring it back with --back");
}

absl::StatusOr<std::set<std::string>> Move::NamesAskedFor() const {
  std::set<std::string> names(options_.table_names.begin(), options_.table_names.end());
  if (!names.empty()) return names;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> all, source_.TableNames());
  names.insert(all.begin(), all.end());
  return names;
}

void Move::SayWhatIsHeld() const {
  for (const std::string& name : LogHold::NamesIn(source_))
    Say("no move to this target is known; the source keeps changes for " + name +
        ": if that move is over, end it with itemctl change-holds release " + name);
}

absl::Status Move::Abort() {
  ITEMDB_ASSIGN_OR_RETURN(const std::string source_id, IdOf(source_));
  // Once, not with patience: the source's writers may wait.
  const absl::Status answers = target_.client().DescribeTable(kMovesTable, target_.call()).status();
  if (MayPass(answers)) return AbortWithoutTarget();
  absl::StatusOr<std::optional<MoveState>> state = journal_.Load(source_id);
  // The target has lost the move.
  if (absl::IsFailedPrecondition(state.status())) return AbortWithoutTarget();
  ITEMDB_RETURN_IF_ERROR(state.status());
  if (!state->has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(const std::set<std::string> names, NamesAskedFor());
    // What a run left that was killed before it was in the journal, or after.
    SayWhatIsHeld();
    ITEMDB_RETURN_IF_ERROR(LiftFencesOfSource(names));
    for (const std::string& name : names) {
      ITEMDB_ASSIGN_OR_RETURN(const auto table, target_.FindTable(name));
      if (table.has_value()) target_fences_.Add(name, table->write_fence.value_or(WriteFence()));
    }
    return target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint());
  }
  ITEMDB_RETURN_IF_ERROR(CheckTargetName(**state));
  if ((*state)->step >= MoveStep::kSwitched)
    return options_.adopts ? absl::FailedPreconditionError(
                                 "the tables were taken over already: there is nothing to give up")
                           : SentAlready("writers");
  // From here on no other run switches: it would find out before it sends writers to the target.
  if (journal_.item_exists()) ITEMDB_RETURN_IF_ERROR(journal_.TakeOver(run_));
  std::set<std::string> names;
  for (const MovedTable& table : (*state)->tables) names.insert(table.name);
  ITEMDB_RETURN_IF_ERROR(LiftFencesOfSource(names));
  ITEMDB_RETURN_IF_ERROR(target_fences_.Read(target_));
  ITEMDB_RETURN_IF_ERROR(target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint()));
  LogHold::Release(source_, (*state)->move_id);
  return journal_.Forget();
}

// By the file alone. A target that is away keeps its fences: another move to it takes them over.
absl::Status Move::AbortWithoutTarget() {
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<MoveState> state, journal_.LoadFile());
  if (!state.has_value()) {
    ITEMDB_ASSIGN_OR_RETURN(const std::set<std::string> names, NamesAskedFor());
    SayWhatIsHeld();
    return LiftFencesOfSource(names);
  }
  ITEMDB_RETURN_IF_ERROR(CheckTargetName(*state));
  if (state->step >= MoveStep::kSwitched) return SentAlready("writers");
  std::set<std::string> names(options_.table_names.begin(), options_.table_names.end());
  for (const MovedTable& table : state->tables) names.insert(table.name);
  ITEMDB_RETURN_IF_ERROR(LiftFencesOfSource(names));
  LogHold::Release(source_, state->move_id);
  return journal_.ForgetFile(state->move_id);
}

// Of those tables, the fences of a move to the target. FAILED_PRECONDITION: writers of one were sent there.
absl::Status Move::LiftFencesOfSource(const std::set<std::string>& names) {
  std::map<std::string, WriteFence> fences;
  for (const std::string& name : names) {
    ITEMDB_ASSIGN_OR_RETURN(const auto table, source_.FindTable(name));
    if (!table.has_value() || !table->write_fence.has_value() ||
        table->write_fence->endpoint != target_.endpoint())
      continue;
    if (table->write_fence->moved) return SentAlready("writers of table " + name);
    fences[name] = *table->write_fence;
  }
  for (const auto& [name, fence] : fences) {
    const UpdateTableRequest update{
        .table_name = name, .write_fence = WriteFence{}, .expected_write_fence = fence};
    const absl::Status lifted =
        source_.Try([&] { return source_.client().UpdateTable(update, source_.call()).status(); });
    if (ReasonOf(lifted) == kReasonConditionalCheckFailed)
      return absl::AbortedError("another run of this command changed the fence of table " + name +
                                " meanwhile: run the same command again");
    ITEMDB_RETURN_IF_ERROR(lifted);
    Say("writes of table " + name + " are allowed again");
  }
  return absl::OkStatus();
}

// Both sides have the fences that the switch left, or an earlier run that was going back.
absl::Status Move::CheckFencesToGoBack() {
  absl::Status fences = CheckTargetHasNotMovedOn();
  fences.Update(CheckSourceIsFenced());
  if (fences.ok()) return fences;
  // They may be those that another run left at the end.
  ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  return fences;
}

absl::StatusOr<bool> Move::GoesBackByStreams() {
  if (target_.is_itemd() || step() < MoveStep::kSwitched || step() >= MoveStep::kGoingBack) return false;
  if (options_.enable_streams) return true;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> without, TablesWithoutStream(target_));
  return without.empty();
}

absl::Status Move::StartFollowingBack() {
  if (step() < MoveStep::kSwitched)
    return absl::FailedPreconditionError(
        "writers were not sent to the target, so there is nothing to follow there");
  if (step() >= MoveStep::kGoingBack || WritersAreSentBack())
    return absl::FailedPreconditionError("the tables are being brought back: go on with --back");
  if (step() == MoveStep::kSwitched) ITEMDB_RETURN_IF_ERROR(SendWritersToTarget());
  ITEMDB_RETURN_IF_ERROR(CheckFencesToGoBack());
  if (!target_.is_itemd() && options_.enable_streams) {
    ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> without, TablesWithoutStream(target_));
    ITEMDB_RETURN_IF_ERROR(EnableStreams(target_, without));
  }
  // Writers are still sent to the target; only this run writes to the source.
  ITEMDB_RETURN_IF_ERROR(
      source_fences_
          .Set(source_, {.endpoint = journal_.state().target_endpoint, .moved = true, .pass_sha256 = run_})
          .status());
  ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  is_back_ = true;
  return BeginFollowing();
}

absl::Status Move::GoBack() {
  if (step() < MoveStep::kSwitched)
    return absl::FailedPreconditionError(
        "writers were not sent to the target: give the move up with --abort");
  // What the target has is old from then on.
  if (WritersAreSentBack()) return FinishGoingBack();
  ITEMDB_RETURN_IF_ERROR(CheckFencesToGoBack());
  // Before the fences: without it the move would seem not to be switched.
  ITEMDB_RETURN_IF_ERROR(
      journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kGoingBack; }));
  // Writers of both sides wait; only this run writes to the source.
  const WriteFence waiting{.endpoint = journal_.state().source_endpoint, .moved = false, .pass_sha256 = run_};
  ITEMDB_RETURN_IF_ERROR(target_fences_.Set(steadfast_target_, waiting).status());
  ITEMDB_RETURN_IF_ERROR(source_fences_.Set(source_, waiting).status());
  ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  ITEMDB_RETURN_IF_ERROR(is_back_ ? ApplyRestToGoBack() : CompareAllToGoBack());
  return FinishGoingBack();
}

// The changes that came since the comparison, and what they left out.
absl::Status Move::ApplyRestToGoBack() {
  for (int round = 0; round < kMostRounds; ++round) {
    ITEMDB_ASSIGN_OR_RETURN(const bool is_equal, CompareRest());
    if (!is_equal) continue;
    follower_->Stop();
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("the target is still written to: stop its writers, then go on");
}

absl::Status Move::CompareAllToGoBack() {
  Comparison comparison;
  for (int round = 0; round < kMostRounds; ++round) {
    ITEMDB_ASSIGN_OR_RETURN(comparison, CompareTables(target_, source_, definitions_, kSegmentsOfComparison,
                                                      {.workers = std::max(1, options_.workers / 2)}));
    Say(absl::StrFormat("comparison %d: %s, %s", round + 1, CountText(comparison.items, kItemNoun),
                        CountText(static_cast<int64_t>(comparison.differences.size()), kDifferenceNoun)));
    report_.items_compared = comparison.items;
    if (comparison.differences.empty()) return absl::OkStatus();
    for (Difference difference : comparison.differences) {
      // Named by the sides of the move, not by those of this comparison.
      if (difference.kind != DifferenceKind::kDifferent)
        difference.kind =
            difference.kind == DifferenceKind::kMissing ? DifferenceKind::kExtra : DifferenceKind::kMissing;
      report_.repaired.push_back(std::move(difference));
    }
    ITEMDB_RETURN_IF_ERROR(CheckedForOtherRuns(
        CopyKeys(target_, source_, KeysOf(comparison.differences), pace_, options_.workers)));
  }
  return absl::FailedPreconditionError("the target is still written to: stop its writers, then go on");
}

// Nobody may have written to the source since the switch: it would be replaced.
absl::Status Move::CheckSourceIsFenced() const {
  const MoveState state = journal_.state();
  for (const auto& [table, fence] : source_fences_.by_table()) {
    if (fence.endpoint.empty()) {
      if (options_.overwrite) continue;
      return absl::FailedPreconditionError(
          "table " + table +
          " of the source has no fence any more, so writers may have written there since the switch: "
          "--overwrite replaces what they wrote by what the target has");
    }
    // To the source: an earlier run was bringing the table back.
    if (fence.endpoint != state.target_endpoint && (fence.moved || fence.endpoint != state.source_endpoint))
      return absl::FailedPreconditionError("table " + table + " of the source is in another move, to " +
                                           fence.endpoint + ": end that one first");
  }
  return absl::OkStatus();
}

absl::Status Move::CheckTargetHasNotMovedOn() const {
  for (const auto& [table, fence] : target_fences_.by_table()) {
    if (fence.endpoint.empty() || (!fence.moved && fence.endpoint == journal_.state().source_endpoint))
      continue;
    // The last step of the switch was not reached.
    if (!fence.moved && fence.endpoint == target_.endpoint()) continue;
    return absl::FailedPreconditionError("table " + table + " of the target moves, or has moved, to " +
                                         fence.endpoint + ": bring it back from there first");
  }
  return absl::OkStatus();
}

bool Move::WritersAreSentBack() const {
  if (step() == MoveStep::kBack) return true;
  for (const auto& [table, fence] : target_fences_.by_table()) {
    if (fence.moved && fence.endpoint == journal_.state().source_endpoint) return true;
  }
  return false;
}

absl::Status Move::FinishGoingBack() {
  // Before writers are let in: from then on the source has what the target lacks.
  if (step() != MoveStep::kBack)
    ITEMDB_RETURN_IF_ERROR(
        journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kBack; }));
  ITEMDB_RETURN_IF_ERROR(
      target_fences_.Set(steadfast_target_, {.endpoint = journal_.state().source_endpoint, .moved = true})
          .status());
  ITEMDB_RETURN_IF_ERROR(source_fences_.Set(source_, {}).status());
  return journal_.Forget();
}

}  // namespace itemdb::tools
