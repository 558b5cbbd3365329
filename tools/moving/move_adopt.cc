// The end of taking tables over, whose writers the source does not stop.
#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/moving/move.h"

namespace itemdb::tools {

absl::StatusOr<bool> Move::CompareUntilEqual(int passes) {
  if (step() == MoveStep::kDone && !options_.overwrite) {
    // The last step of FinishWhenQuiet.
    ITEMDB_RETURN_IF_ERROR(target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint()));
    ITEMDB_ASSIGN_OR_RETURN(const Comparison comparison,
                            CompareTables(source_, target_, definitions_, kSegmentsOfComparison,
                                          {.workers = std::max(1, options_.workers / 2)}));
    report_.items_compared = comparison.items;
    if (comparison.differences.empty()) return true;
    return absl::FailedPreconditionError(
        "the tables were taken over already, and differ now in " +
        CountText(static_cast<int64_t>(comparison.differences.size()), kItemNoun) +
        ": --overwrite replaces what was written here since by what the source has");
  }
  ITEMDB_RETURN_IF_ERROR(FenceTarget());
  const absl::StatusOr<bool> is_equal = CompareAndWriteUntilEqual(passes);
  // Writers may use what is there, whatever became of it.
  ITEMDB_RETURN_IF_ERROR(target_fences_.Set(steadfast_target_, {}).status());
  if (!is_equal.ok() || !*is_equal) return is_equal;
  ITEMDB_RETURN_IF_ERROR(
      journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kDone; }));
  return true;
}

absl::StatusOr<bool> Move::CompareAndWriteUntilEqual(int passes) {
  for (int pass = 1; pass <= passes; ++pass) {
    Comparison comparison;
    {
      Progress progress(options_.progress, {.doing = "comparing", .unit = "items"});
      ITEMDB_ASSIGN_OR_RETURN(comparison,
                              CompareTables(source_, target_, definitions_, kSegmentsOfComparison,
                                            {.workers = std::max(1, options_.workers / 2),
                                             .on_read = [&](int64_t items) { progress.Add(items); }}));
    }
    report_.items_compared = comparison.items;
    Say(absl::StrFormat("comparison %d: %s, %s", pass, CountText(comparison.items, kItemNoun),
                        CountText(static_cast<int64_t>(comparison.differences.size()), kDifferenceNoun)));
    if (comparison.differences.empty()) {
      for (size_t i = 0; i < definitions_.size(); ++i) {
        ITEMDB_RETURN_IF_ERROR(FinishStream(target_, definitions_[i]));
        ITEMDB_RETURN_IF_ERROR(FinishTable(target_, definitions_[i], time_to_live_[i]));
      }
      return true;
    }
    report_.repaired.insert(report_.repaired.end(), comparison.differences.begin(),
                            comparison.differences.end());
    ITEMDB_RETURN_IF_ERROR(CheckedForOtherRuns(
        CopyKeys(source_, target_, KeysOf(comparison.differences), pace_, options_.workers)));
  }
  return false;
}

absl::Status Move::FinishWhenQuiet(absl::Duration quiet) {
  Say("following; it ends when no change has come for " + absl::FormatDuration(quiet) +
      ": stop the writers of " + source_.endpoint());
  for (int rounds_with_repairs = 0; rounds_with_repairs < kMostRounds;) {
    ITEMDB_RETURN_IF_ERROR(follower_->AwaitQuiet(quiet));
    ITEMDB_RETURN_IF_ERROR(CompareUntilFew());
    const size_t repaired = report_.repaired.size();
    ITEMDB_ASSIGN_OR_RETURN(const bool is_equal, CompareRest());
    if (is_equal) return Finish();
    // Rounds with changes only do not count: writers may take long to stop.
    if (report_.repaired.size() > repaired) ++rounds_with_repairs;
  }
  return absl::FailedPreconditionError(
      "the source is still written to, or an item cannot be the same on both sides: stop its writers, then "
      "run the same command again");
}

absl::Status Move::Finish() {
  ITEMDB_RETURN_IF_ERROR(ReadDefinitions());
  ITEMDB_RETURN_IF_ERROR(CheckDefinitions());
  for (size_t i = 0; i < definitions_.size(); ++i) {
    ITEMDB_RETURN_IF_ERROR(FinishStream(target_, definitions_[i]));
    ITEMDB_RETURN_IF_ERROR(FinishTable(target_, definitions_[i], time_to_live_[i]));
  }
  report_.lag = follower_->lag();
  follower_->Stop();
  ReleaseHold();
  // Before the fences: from then on the target may have what the source lacks.
  ITEMDB_RETURN_IF_ERROR(
      journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kDone; }));
  ITEMDB_RETURN_IF_ERROR(target_fences_.Set(steadfast_target_, {}).status());
  Say("both sides are equal; the tables here take writes now, and what is written at " + source_.endpoint() +
      " is not followed any more");
  return absl::OkStatus();
}

}  // namespace itemdb::tools
