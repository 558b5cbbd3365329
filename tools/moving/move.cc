#include "tools/moving/move.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/signature/sigv4.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/json/item_json.h"
#include "tools/moving/copier.h"

namespace itemdb::tools {
namespace {

// Smaller tables are one segment, which costs one request.
constexpr int64_t kSmallTableItems = 5'000;
// Parts of a scan; more than the most pages at a time, so that no part is the last for long.
constexpr int kSegments = 32;
// Keys that are compared while writers wait.
constexpr size_t kFewKeys = 2'000;
// A comparison that takes less is repeated while writers wait.
constexpr absl::Duration kShortComparison = absl::Milliseconds(300);

std::set<std::string> NamesIn(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

std::set<std::string> NamesOf(const MoveState& state) {
  std::set<std::string> names;
  for (const MovedTable& table : state.tables) names.insert(table.name);
  return names;
}

}  // namespace

std::string NewMoveId() {
  std::random_device random;
  return absl::StrFormat("%08x%08x%08x%08x", random(), random(), random(), random());
}

Move::Move(Client source, Client target, MoveOptions options)
    : options_(std::move(options)),
      pass_(NewMoveId()),
      run_(common::Hex(common::HashOf(pass_))),
      source_(source, "the source", Patience(options_.patience, options_.cancel), options_.say),
      target_(target, "the target", Patience(options_.patience, options_.cancel), options_.say, pass_),
      hurried_source_(source, "the source", Patience(options_.switch_patience, options_.cancel),
                      options_.say),
      hurried_target_(target, "the target", Patience(options_.switch_patience, options_.cancel), options_.say,
                      pass_),
      steadfast_source_(source, "the source", Patience(options_.patience, CancelToken()), options_.say),
      steadfast_target_(target, "the target", Patience(options_.patience, CancelToken()), options_.say),
      journal_(options_.state_path, target_, hurried_target_),
      pace_(options_.workers, options_.max_items_per_second),
      source_fences_(journal_, run_),
      target_fences_(journal_, run_) {}

absl::StatusOr<MovePlan> Move::Plan() const {
  return PlanMove(source_, target_,
                  {.table_names = options_.table_names,
                   .overwrite = options_.overwrite,
                   .max_items_per_second = options_.max_items_per_second});
}

// ---- the beginning

absl::StatusOr<std::string> Move::IdOf(const Side& side) const {
  if (!side.is_itemd()) return side.endpoint();
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          side.Try([&] { return side.client().GetStatus({}, side.call()); }));
  return status.database_id;
}

absl::StatusOr<uint64_t> Move::SourceSequence() const {
  if (!source_.is_itemd()) return 0;
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          source_.Try([&] { return source_.client().GetStatus({}, source_.call()); }));
  return status.change_sequence;
}

absl::Status Move::Open() {
  ITEMDB_ASSIGN_OR_RETURN(const std::string source_id, IdOf(source_));
  ITEMDB_ASSIGN_OR_RETURN(const std::string target_id, IdOf(target_));
  if (source_id == target_id)
    return absl::FailedPreconditionError("source and target are one database: " + source_.endpoint());
  ITEMDB_ASSIGN_OR_RETURN(std::optional<MoveState> state, journal_.Load(source_id));
  if (!state.has_value() && options_.back)
    return absl::FailedPreconditionError("no move to " + target_.endpoint() + " is known there or in " +
                                         journal_.path() + ", so nothing can be brought back");
  if (!state.has_value()) return BeginMove(source_id);
  ITEMDB_RETURN_IF_ERROR(CheckTargetName(*state));
  if (state->step == MoveStep::kDone && !options_.back) {
    ITEMDB_ASSIGN_OR_RETURN(const bool begins_another, BeginsAnother(*state));
    if (begins_another) return BeginMove(source_id);
  }
  if (!options_.table_names.empty() && NamesOf(*state) != NamesIn(options_.table_names)) {
    return absl::FailedPreconditionError(
        "a move of other tables is in progress; end it, or give it up with --abort: " +
        state->tables.front().name + (state->tables.size() > 1 ? ", ..." : ""));
  }
  ITEMDB_RETURN_IF_ERROR(CheckTables(*state));
  // When all else is done, only the file may be left.
  if (journal_.item_exists()) ITEMDB_RETURN_IF_ERROR(journal_.TakeOver(run_));
  ITEMDB_RETURN_IF_ERROR(target_fences_.Read(target_));
  // Before the source's fences are read: writers are sent to the target before its fences are lifted, so if
  // the source does not send them there now, the target takes no writes from here on but this run's.
  const bool has_foreign_fence = target_fences_.OtherThanWaitingFor(target_.endpoint()).has_value();
  if (state->step < MoveStep::kSwitched && !has_foreign_fence) ITEMDB_RETURN_IF_ERROR(FenceTarget());
  ITEMDB_RETURN_IF_ERROR(source_fences_.Read(source_));
  const MoveStep step = StepByFences(*state);
  Say("going on with the move that was begun before; its step is " + std::string(StepName(step)));
  if (step < MoveStep::kSwitched && has_foreign_fence) return FenceTarget();
  if (step != state->step)
    ITEMDB_RETURN_IF_ERROR(journal_.Change(/*now=*/true, [&](MoveState& changed) { changed.step = step; }));
  return ReadDefinitions();
}

// Whether another move is to be begun although one to this target is known, which is done. Then the tables to
// move are in the options.
absl::StatusOr<bool> Move::BeginsAnother(const MoveState& done) {
  if (options_.adopts) return !options_.table_names.empty() && NamesOf(done) != NamesIn(options_.table_names);
  ITEMDB_ASSIGN_OR_RETURN(const auto table, source_.FindTable(done.tables.front().name));
  const bool is_away = !table.has_value() || (table->write_fence.has_value() && table->write_fence->moved);
  if (!is_away) return false;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> names, UnfencedTables());
  if (names.empty()) return false;
  options_.table_names = names;
  Say("an earlier move to this target is done, and can be brought back no more when this one has begun");
  return true;
}

// The fences of the source have this name.
absl::Status Move::CheckTargetName(const MoveState& state) const {
  if (state.target_endpoint == target_.endpoint()) return absl::OkStatus();
  return absl::FailedPreconditionError("the move was begun with the target's name " + state.target_endpoint +
                                       ": give it that name again, not " + target_.endpoint());
}

// Of the tables that were asked for, or of all, those that writers were not sent away from.
absl::StatusOr<std::vector<std::string>> Move::UnfencedTables() const {
  std::vector<std::string> names = options_.table_names;
  if (names.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(names, source_.TableNames());
    std::erase(names, kMovesTable);
  }
  std::vector<std::string> unfenced;
  for (const std::string& name : names) {
    ITEMDB_ASSIGN_OR_RETURN(const auto table, source_.FindTable(name));
    if (!table.has_value() || !table->write_fence.has_value() || !table->write_fence->moved)
      unfenced.push_back(name);
  }
  return unfenced;
}

MoveStep Move::StepByFences(const MoveState& state) const {
  if (state.step >= MoveStep::kSwitched || !source_.is_itemd()) return state.step;
  MoveStep step = std::min(state.step, MoveStep::kFollowing);
  for (const auto& [table, fence] : source_fences_.by_table()) {
    if (fence.endpoint != target_.endpoint()) continue;
    step = std::max(step, fence.moved ? MoveStep::kSwitched : MoveStep::kFenced);
  }
  return step;
}

// ---- fences

// A write that was refused may be one of a run that another one has shut out: then that is the error.
absl::Status Move::CheckedForOtherRuns(const absl::Status& written) {
  if (absl::IsFailedPrecondition(written)) ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  return written;
}

absl::Status Move::FenceTarget() {
  if (const auto endpoint = target_fences_.OtherThanWaitingFor(target_.endpoint()); endpoint.has_value())
    return absl::FailedPreconditionError("a table of the target moves, or has moved, to " + *endpoint +
                                         ": end that move first");
  ITEMDB_RETURN_IF_ERROR(
      target_fences_
          .Set(steadfast_target_, {.endpoint = target_.endpoint(), .moved = false, .pass_sha256 = run_})
          .status());
  // Another run may have ended the move since the fences were read, and have left none: then writers are
  // there.
  const absl::Status is_the_run = journal_.CheckIsTheRun();
  if (absl::IsAborted(is_the_run)) ITEMDB_RETURN_IF_ERROR(target_fences_.Set(steadfast_target_, {}).status());
  return is_the_run;
}

// ---- begin

absl::Status Move::BeginMove(const std::string& source_id) {
  ITEMDB_ASSIGN_OR_RETURN(const MovePlan plan, Plan());
  ITEMDB_RETURN_IF_ERROR(CheckPlan(plan));
  ITEMDB_RETURN_IF_ERROR(MakeTables(target_, plan));
  MoveState state{.move_id = NewMoveId(),
                  .source = source_id,
                  .source_endpoint = source_.endpoint(),
                  .target_endpoint = target_.endpoint(),
                  .step = MoveStep::kCopying,
                  .run = run_};
  for (const TablePlan& table : plan.tables) {
    const bool is_small = table.source.item_count < kSmallTableItems && source_.is_itemd();
    state.tables.push_back({.name = table.source.definition.table_name,
                            .table_id = table.source.table_id,
                            .storage_id = table.source.storage_id,
                            .segments = std::vector<SegmentState>(is_small ? 1 : kSegments)});
  }
  // Before the first page: every change after it is applied after the copy.
  ITEMDB_ASSIGN_OR_RETURN(state.sequence, SourceSequence());
  ITEMDB_RETURN_IF_ERROR(journal_.Begin(std::move(state)));
  ITEMDB_RETURN_IF_ERROR(target_fences_.Read(target_));
  ITEMDB_RETURN_IF_ERROR(source_fences_.Read(source_));
  ITEMDB_RETURN_IF_ERROR(FenceTarget());
  return ReadDefinitions();
}

absl::Status Move::CheckTables(const MoveState& state) {
  for (const MovedTable& table : state.tables) {
    ITEMDB_ASSIGN_OR_RETURN(const auto found, source_.FindTable(table.name));
    if (!found.has_value()) return absl::NotFoundError("table " + table.name + " was deleted in the source");
    if (found->table_id != table.table_id)
      return absl::FailedPreconditionError("table " + table.name +
                                           " of the source was made anew after the move was begun: give the "
                                           "move up with --abort, then begin again");
  }
  return absl::OkStatus();
}

absl::Status Move::ReadDefinitions() {
  definitions_.clear();
  time_to_live_.clear();
  for (const MovedTable& table : journal_.state().tables) {
    ITEMDB_ASSIGN_OR_RETURN(const auto found, source_.FindTable(table.name));
    if (!found.has_value()) return absl::NotFoundError("table " + table.name + " was deleted in the source");
    definitions_.push_back(found->definition);
    ITEMDB_ASSIGN_OR_RETURN(std::string attribute, TimeToLiveOf(source_, table.name));
    time_to_live_.push_back(std::move(attribute));
  }
  return absl::OkStatus();
}

// ---- copy, follow

absl::Status Move::Copy() {
  if (step() != MoveStep::kCopying) return absl::OkStatus();
  int64_t total = 0;
  for (const MovedTable& table : journal_.state().tables) {
    ITEMDB_ASSIGN_OR_RETURN(const auto found, source_.FindTable(table.name));
    if (found.has_value()) total += found->item_count;
  }
  const absl::Time begin = absl::Now();
  std::atomic<int64_t> copied{0};
  absl::Status status;
  {
    Progress progress(options_.progress, {.doing = "copying", .unit = "items", .total = total});
    status = CopyItems(source_, target_, journal_, pace_, options_.workers, [&](int64_t items) {
      copied += items;
      progress.Add(items);
    });
  }
  report_.items_copied += copied;
  report_.copy_time += absl::Now() - begin;
  ITEMDB_RETURN_IF_ERROR(CheckedForOtherRuns(status));
  ITEMDB_RETURN_IF_ERROR(
      journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kFollowing; }));
  Say(absl::StrFormat("copied %s in %.1f s, %d pages at a time at the end", CountText(copied, kItemNoun),
                      absl::ToDoubleSeconds(report_.copy_time), pace_.limit()));
  return absl::OkStatus();
}

absl::Status Move::StartFollowing() {
  if (step() >= MoveStep::kSwitched) return absl::OkStatus();
  if (follower_ != nullptr) applied_before_ += follower_->applied();
  follower_ = std::make_unique<Follower>(source_, target_, journal_, pace_, options_.workers);
  follower_->Start();
  return absl::OkStatus();
}

absl::Status Move::BeginAgainByComparison() {
  if (follower_ != nullptr) {
    follower_->Stop();
    applied_before_ += follower_->applied();
    follower_.reset();
  }
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence, SourceSequence());
  Say(absl::StrCat("the changes since the copy cannot be read: all items are compared, and changes after ",
                   sequence, " are followed"));
  ITEMDB_ASSIGN_OR_RETURN(const Comparison comparison,
                          CompareTables(source_, target_, definitions_, kSegmentsOfComparison,
                                        {.workers = options_.workers / 2}));
  ITEMDB_RETURN_IF_ERROR(CheckedForOtherRuns(
      CopyKeys(source_, target_, KeysOf(comparison.differences), pace_, options_.workers)));
  ITEMDB_RETURN_IF_ERROR(journal_.Change(/*now=*/true, [&](MoveState& state) { state.sequence = sequence; }));
  return StartFollowing();
}

// ---- verify

absl::Status Move::RepairAndCheck(const std::vector<Difference>& differences, bool may_change) {
  if (differences.empty()) return absl::OkStatus();
  const Side& source = may_change ? source_ : hurried_source_;
  const Side& target = may_change ? target_ : hurried_target_;
  const absl::Time deadline = may_change ? absl::InfiniteFuture() : absl::Now() + options_.switch_patience;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence, SourceSequence());
  ITEMDB_RETURN_IF_ERROR(follower_->Await(sequence, deadline));
  ITEMDB_ASSIGN_OR_RETURN(const Comparison again,
                          CompareKeys(source, target, KeysOf(differences), options_.workers));
  // What changed since is compared with the other changed keys.
  std::vector<Difference> real;
  for (const Difference& difference : again.differences) {
    if (!may_change || !follower_->changed().Contains(difference.table_name, DigestOf(difference.key)))
      real.push_back(difference);
  }
  if (real.empty()) return absl::OkStatus();
  report_.repaired.insert(report_.repaired.end(), real.begin(), real.end());
  Say("writing " + NumberOf(static_cast<int64_t>(real.size()), kDifferenceNoun) + " again");
  ITEMDB_RETURN_IF_ERROR(follower_->Repair(KeysOf(real), deadline));
  ITEMDB_ASSIGN_OR_RETURN(const Comparison repaired,
                          CompareKeys(source, target, KeysOf(real), options_.workers));
  for (const Difference& difference : repaired.differences) {
    if (may_change && follower_->changed().Contains(difference.table_name, DigestOf(difference.key)))
      continue;
    // A change that came in this moment is not noted yet.
    if (may_change) {
      follower_->changed().Add(difference.table_name, difference.key);
      continue;
    }
    return absl::DataLossError(
        "an item of table " + difference.table_name + " is " + std::string(DifferenceName(difference.kind)) +
        " although it was written again: " + OneLine(ItemToJson(difference.key, ItemForm::kTyped)));
  }
  return absl::OkStatus();
}

absl::Status Move::CompareAll(bool may_change) {
  const absl::Time begin = absl::Now();
  Comparison comparison;
  {
    Progress progress(may_change ? options_.progress : ProgressTerminal(nullptr),
                      {.doing = "comparing", .unit = "items"});
    ITEMDB_ASSIGN_OR_RETURN(
        comparison, CompareTables(may_change ? source_ : hurried_source_,
                                  may_change ? target_ : hurried_target_, definitions_, kSegmentsOfComparison,
                                  {.workers = std::max(1, options_.workers / 2),
                                   .leave_out_or_null = may_change ? &follower_->changed() : nullptr,
                                   .on_read = [&](int64_t items) { progress.Add(items); }}));
  }
  compare_time_ = absl::Now() - begin;
  report_.items_compared = comparison.items;
  return RepairAndCheck(comparison.differences, may_change);
}

absl::Status Move::CompareChanged(bool may_change) {
  std::vector<TableKeys> keys;
  for (auto& [name, of_table] : follower_->changed().Take()) {
    TableKeys& added = keys.emplace_back(TableKeys{.table_name = name});
    for (auto& [digest, key] : of_table) added.keys.push_back(std::move(key));
  }
  ITEMDB_ASSIGN_OR_RETURN(const Comparison comparison,
                          CompareKeys(may_change ? source_ : hurried_source_,
                                      may_change ? target_ : hurried_target_, keys, options_.workers));
  return RepairAndCheck(comparison.differences, may_change);
}

absl::Status Move::Verify() {
  if (step() >= MoveStep::kSwitched) return absl::OkStatus();
  if (step() == MoveStep::kFenced) {
    ITEMDB_RETURN_IF_ERROR(source_fences_.Set(source_, {}).status());
    ITEMDB_RETURN_IF_ERROR(
        journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kFollowing; }));
  }
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence, SourceSequence());
  ITEMDB_RETURN_IF_ERROR(follower_->Await(sequence));
  follower_->changed().Take();
  ITEMDB_RETURN_IF_ERROR(CompareAll(/*may_change=*/true));
  ITEMDB_RETURN_IF_ERROR(CompareUntilFew());
  Say(
      absl::StrFormat("compared %s in %.1f s; %s written again; %d keys changed meanwhile and are compared "
                      "at the switch",
                      CountText(report_.items_compared, kItemNoun), absl::ToDoubleSeconds(compare_time_),
                      CountText(static_cast<int64_t>(report_.repaired.size()), kDifferenceNoun),
                      follower_->changed().count()));
  return absl::OkStatus();
}

absl::Status Move::CompareUntilFew() {
  if (step() >= MoveStep::kSwitched) return absl::OkStatus();
  for (int round = 0; round < kMostRounds; ++round) {
    const size_t keys = follower_->changed().count();
    if (follower_->changed().overflowed()) {
      follower_->changed().Take();
      ITEMDB_RETURN_IF_ERROR(CompareAll(/*may_change=*/true));
      continue;
    }
    if (keys <= kFewKeys) break;
    ITEMDB_RETURN_IF_ERROR(CompareChanged(/*may_change=*/true));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Move::CompareUntilEqual(int passes) {
  if (step() == MoveStep::kDone && !options_.overwrite) {
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

// ---- switch

absl::Status Move::Switch() {
  if (step() >= MoveStep::kGoingBack)
    return absl::FailedPreconditionError("the tables are being brought back: go on with --back");
  // A run that woke up after the end may have left fences when it was killed.
  if (step() == MoveStep::kDone) return target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint());
  if (step() == MoveStep::kSwitched) return SendWritersToTarget();
  ITEMDB_RETURN_IF_ERROR(ReadDefinitions());
  for (const TableDefinition& definition : definitions_) {
    ITEMDB_ASSIGN_OR_RETURN(const auto existing, target_.FindTable(definition.table_name));
    if (!existing.has_value())
      return absl::NotFoundError("table " + definition.table_name + " was deleted in the target");
    if (const std::string difference = DifferenceForCopy(definition, existing->definition);
        !difference.empty())
      return absl::FailedPreconditionError("table " + definition.table_name +
                                           " was changed since the move was begun (" + difference +
                                           "): change it in the target too, then switch");
  }
  journal_.Hurry();
  report_.lag = follower_->lag();
  paused_since_ = absl::Now();
  const absl::Status status = DrainFenced();
  if (status.ok()) return SendWritersToTarget();
  // Writers wait: they go on at the source, whatever the reason is.
  Say("the switch is given up; writers go on at the source");
  const absl::Status lifted = source_fences_.LiftAll(steadfast_source_);
  // Another run decides where writers go.
  if (absl::IsAborted(lifted)) return lifted;
  if (!lifted.ok())
    return WithWords("the fence of the source could not be lifted (" + std::string(lifted.message()) +
                         "); run the command again, or with --abort, after",
                     status);
  return status;
}

absl::Status Move::DrainFenced() {
  ITEMDB_ASSIGN_OR_RETURN(
      const uint64_t last,
      source_fences_.Set(hurried_source_,
                         {.endpoint = target_.endpoint(), .moved = false, .pass_sha256 = run_}));
  // Who takes the move over from here on, or gives it up, must change these fences first.
  ITEMDB_RETURN_IF_ERROR(journal_.CheckIsTheRun());
  ITEMDB_RETURN_IF_ERROR(follower_->Await(last, absl::Now() + options_.switch_patience));
  if (compare_time_ < kShortComparison) {
    follower_->changed().Take();
    ITEMDB_RETURN_IF_ERROR(CompareAll(/*may_change=*/false));
  } else {
    if (follower_->changed().overflowed())
      return absl::ResourceExhaustedError(
          "more keys changed since the comparison than were noted: compare anew, by the same command");
    ITEMDB_RETURN_IF_ERROR(CompareChanged(/*may_change=*/false));
  }
  for (const TableDefinition& definition : definitions_)
    ITEMDB_RETURN_IF_ERROR(FinishStream(hurried_target_, definition));
  return absl::OkStatus();
}

absl::Status Move::SendWritersToTarget() {
  // From the first table on there is no way back: what fails here is done by the next run.
  const absl::StatusOr<uint64_t> sent =
      source_fences_.Set(steadfast_source_, {.endpoint = target_.endpoint(), .moved = true});
  if (absl::IsAborted(sent.status()) && !source_fences_.SendsWritersAway()) {
    // Another run has lifted a fence, so writers are at the source.
    source_fences_.LiftAll(steadfast_source_).IgnoreError();
    return sent.status();
  }
  if (!sent.ok())
    return WithWords("writers wait, and may have been sent to the target: run the command again, after",
                     sent.status());
  // After it: a target that takes writes is one that they were sent to.
  ITEMDB_RETURN_IF_ERROR(target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint()));
  if (follower_ != nullptr) follower_->Stop();
  if (paused_since_ != absl::InfinitePast()) {
    report_.pause = absl::Now() - paused_since_;
    Say(absl::StrFormat("switched: itemd refused writes for %d ms, and now sends writers to %s",
                        absl::ToInt64Milliseconds(*report_.pause), target_.endpoint()));
  }
  ITEMDB_RETURN_IF_ERROR(
      journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kSwitched; }));
  for (size_t i = 0; i < definitions_.size(); ++i)
    ITEMDB_RETURN_IF_ERROR(FinishTable(target_, definitions_[i], time_to_live_[i]));
  return journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kDone; });
}

MoveReport Move::report() const {
  MoveReport report = report_;
  report.changes_applied = applied_before_ + (follower_ == nullptr ? 0 : follower_->applied());
  return report;
}

}  // namespace itemdb::tools
