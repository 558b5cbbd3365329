#include "tools/moving/move.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_format.h"
#include "common/signature/sigv4.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/base/durable_file.h"
#include "tools/base/number_text.h"
#include "tools/moving/change_log_feed.h"
#include "tools/moving/copier.h"

namespace itemdb::tools {
namespace {

// Smaller tables are one segment, which costs one request.
constexpr int64_t kSmallTableItems = 5'000;
// Parts of a scan; more than the most pages at a time, so that no part is the last for long.
constexpr int kSegments = 32;
// A comparison that takes less is repeated while writers wait.
constexpr absl::Duration kShortComparison = absl::Milliseconds(300);

std::set<std::string> NamesIn(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

std::set<std::string> NamesOf(const MoveState& state) {
  std::set<std::string> names;
  for (const MovedTable& table : state.tables) names.insert(table.name);
  return names;
}

// A name that is given twice is one table.
MoveOptions WithoutRepetition(MoveOptions options) {
  std::set<std::string> seen;
  std::erase_if(options.table_names, [&](const std::string& name) { return !seen.insert(name).second; });
  return options;
}

}  // namespace

std::string NewMoveId() {
  std::random_device random;
  return absl::StrFormat("%08x%08x%08x%08x", random(), random(), random(), random());
}

Move::Move(Client source, Client target, MoveOptions options)
    : options_(WithoutRepetition(std::move(options))),
      pass_(NewMoveId()),
      run_(common::Hex(common::HashOf(pass_))),
      source_(source, "the source", Patience(options_.patience, options_.cancel), options_.say, pass_,
              options_.adopts ? options_.other_streams : std::nullopt),
      target_(target, "the target", Patience(options_.patience, options_.cancel), options_.say, pass_,
              options_.adopts ? std::nullopt : options_.other_streams),
      hurried_source_(source, "the source", Patience(options_.switch_patience, options_.cancel), options_.say,
                      pass_),
      hurried_target_(target, "the target", Patience(options_.switch_patience, options_.cancel), options_.say,
                      pass_),
      steadfast_source_(source, "the source", Patience(options_.patience, CancelToken()), options_.say),
      steadfast_target_(target, "the target", Patience(options_.patience, CancelToken()), options_.say),
      journal_(options_.state_path, target_, hurried_target_),
      pace_(options_.workers, options_.max_items_per_second),
      source_fences_(journal_, run_),
      target_fences_(journal_, run_) {}

absl::StatusOr<MovePlan> Move::Plan() const {
  ITEMDB_RETURN_IF_ERROR(CheckAreTwo().status());
  ITEMDB_ASSIGN_OR_RETURN(MovePlan plan, PlanMove(source_, target_,
                                                  {.table_names = options_.table_names,
                                                   .overwrite = options_.overwrite,
                                                   .max_items_per_second = options_.max_items_per_second}));
  for (TablePlan& table : plan.tables) {
    const auto found = options_.exports.find(table.source.definition.table_name);
    if (found == options_.exports.end() || !table.problem.empty()) continue;
    table.problem = std::string(found->second.Check(table.source, absl::Now()).message());
  }
  return plan;
}

// ---- the beginning

absl::StatusOr<std::string> Move::IdOf(const Side& side) const {
  if (!side.is_itemd()) return side.endpoint();
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          side.Try([&] { return side.client().GetStatus({}, side.call()); }));
  return status.database_id;
}

absl::StatusOr<std::string> Move::CheckAreTwo() const {
  ITEMDB_ASSIGN_OR_RETURN(const std::string source_id, IdOf(source_));
  ITEMDB_ASSIGN_OR_RETURN(const std::string target_id, IdOf(target_));
  if (source_id == target_id)
    return absl::FailedPreconditionError("source and target are one database: " + source_.endpoint());
  if (source_.is_itemd() && target_.is_itemd()) return source_id;
  // A database has its id at its gRPC address only, but its tables have theirs at each.
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> names, TablesAskedFor());
  for (const std::string& name : names) {
    ITEMDB_ASSIGN_OR_RETURN(const auto of_source, source_.FindTable(name));
    if (!of_source.has_value() || of_source->table_id.empty()) continue;
    ITEMDB_ASSIGN_OR_RETURN(const auto of_target, target_.FindTable(name));
    if (of_target.has_value() && of_target->table_id == of_source->table_id)
      return absl::FailedPreconditionError(
          "source and target are one database: table " + name + " has the TableId " + of_source->table_id +
          " at " + source_.endpoint() + " and at " + target_.endpoint() +
          ". If one is a copy of the other's files: give both as HOST:PORT of gRPC");
    // All tables of one database would be there.
    break;
  }
  return source_id;
}

absl::StatusOr<uint64_t> Move::SourceSequence() const {
  if (!source_.is_itemd()) return 0;
  ITEMDB_ASSIGN_OR_RETURN(const DaemonStatus status,
                          source_.Try([&] { return source_.client().GetStatus({}, source_.call()); }));
  return status.change_sequence;
}

absl::Status Move::Open() {
  ITEMDB_ASSIGN_OR_RETURN(const std::string source_id, CheckAreTwo());
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
  if (options_.back) ITEMDB_RETURN_IF_ERROR(CheckIsSwitched(*state));
  // When all else is done, only the file may be left.
  if (journal_.item_exists()) ITEMDB_RETURN_IF_ERROR(journal_.TakeOver(run_));
  ITEMDB_RETURN_IF_ERROR(target_fences_.Read(target_));
  // Before the source's fences are read: writers are sent to the target before its fences are lifted, so if
  // the source does not send them there now, the target takes no writes from here on but this run's.
  const bool has_foreign_fence = target_fences_.OtherThanWaitingFor(target_.endpoint()).has_value();
  if (state->step < MoveStep::kSwitched && !has_foreign_fence) ITEMDB_RETURN_IF_ERROR(FenceTarget());
  ITEMDB_RETURN_IF_ERROR(source_fences_.Read(source_));
  const MoveStep step = StepByFences(*state);
  if (step < MoveStep::kSwitched) {
    // If the changes are gone, or the source was restored to an earlier time, the follower finds that out
    // too, and then everything is compared.
    bool has_lost_changes = false;
    if (source_.is_itemd()) {
      ITEMDB_ASSIGN_OR_RETURN(has_lost_changes, source_.Try([&] {
        return IsRolledBack(source_.client(), state->sequence, state->sequence_time_us, source_.call());
      }));
    }
    const absl::Status held = has_lost_changes ? absl::OkStatus() : TakeHold(state->move_id, state->sequence);
    if (!absl::IsOutOfRange(held)) ITEMDB_RETURN_IF_ERROR(held);
    StartHold();
  }
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

absl::StatusOr<std::vector<std::string>> Move::TablesAskedFor() const {
  std::vector<std::string> names = options_.table_names;
  if (!names.empty()) return names;
  ITEMDB_ASSIGN_OR_RETURN(names, source_.TableNames());
  std::erase(names, kMovesTable);
  return names;
}

// Before this run shuts another one out, fences anything or has changes kept.
absl::Status Move::CheckIsSwitched(const MoveState& state) {
  ITEMDB_RETURN_IF_ERROR(source_fences_.Read(source_));
  if (StepByFences(state) >= MoveStep::kSwitched) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "writers were not sent to the target, so nothing can be brought back: go on with the move, or give it "
      "up with --abort");
}

// Of the tables that were asked for, or of all, those that writers were not sent away from.
absl::StatusOr<std::vector<std::string>> Move::UnfencedTables() const {
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> names, TablesAskedFor());
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
  // What cannot be recorded is not begun: neither here nor in the target anything is left.
  ITEMDB_RETURN_IF_ERROR(CheckCanReplaceFile(journal_.path()));
  for (const std::string& warning : plan.warnings) Say("warning: " + warning);
  ITEMDB_RETURN_IF_ERROR(MakeTables(target_, plan));
  MoveState state{.move_id = NewMoveId(),
                  .source = source_id,
                  .source_endpoint = source_.endpoint(),
                  .target_endpoint = target_.endpoint(),
                  .step = MoveStep::kCopying,
                  .run = run_};
  for (const TablePlan& table : plan.tables) state.tables.push_back(BeginTable(table.source));
  // Before the first page: every change after it is applied after the copy.
  if (options_.exports.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(state.sequence, HoldFromNow(state.move_id));
  } else {
    ITEMDB_ASSIGN_OR_RETURN(state.sequence, HoldFromOldest(state.move_id));
  }
  ITEMDB_ASSIGN_OR_RETURN(state.sequence_time_us, CommitTimeOf(source_, state.sequence));
  if (const absl::Status begun = journal_.Begin(std::move(state)); !begun.ok()) {
    // For a move that nobody knows. If it was stored all the same, the next run makes the hold anew.
    if (hold_ != nullptr) hold_->Release();
    return begun;
  }
  StartHold();
  ITEMDB_RETURN_IF_ERROR(target_fences_.Read(target_));
  ITEMDB_RETURN_IF_ERROR(source_fences_.Read(source_));
  ITEMDB_RETURN_IF_ERROR(FenceTarget());
  return ReadDefinitions();
}

MovedTable Move::BeginTable(const TableDescription& table) const {
  MovedTable begun{
      .name = table.definition.table_name, .table_id = table.table_id, .storage_id = table.storage_id};
  const auto found = options_.exports.find(begun.name);
  if (found != options_.exports.end()) {
    begun.export_arn = found->second.arn();
    begun.segments.resize(found->second.files().size());
    return begun;
  }
  const bool is_small = table.item_count < kSmallTableItems && source_.is_itemd();
  begun.segments.resize(is_small ? 1 : kSegments);
  return begun;
}

absl::Status Move::CheckCopiedFrom(const MoveState& state) const {
  for (const MovedTable& table : state.tables) {
    const auto found = options_.exports.find(table.name);
    const bool has_export = found != options_.exports.end();
    if (table.export_arn.empty() && has_export)
      return absl::FailedPreconditionError("the copy of table " + table.name +
                                           " was begun by reading the source: run the command without "
                                           "--from-export, or give the move up with --abort");
    if (!table.export_arn.empty() && (!has_export || found->second.arn() != table.export_arn ||
                                      found->second.files().size() != table.segments.size()))
      return absl::FailedPreconditionError("the copy of table " + table.name + " was begun from the export " +
                                           table.export_arn +
                                           ": give its folder by --from-export, or give the move up with "
                                           "--abort");
  }
  return absl::OkStatus();
}

absl::Status Move::TakeHold(const std::string& move_id, uint64_t sequence) {
  hold_ = nullptr;
  if (!source_.is_itemd() || options_.hold <= absl::ZeroDuration()) return absl::OkStatus();
  hold_ = std::make_unique<LogHold>(source_, journal_, move_id, options_.hold);
  const absl::Status taken = hold_->Take(sequence);
  if (taken.ok()) return taken;
  hold_ = nullptr;
  // A move must be possible off a disk that is full.
  const bool goes_on =
      absl::IsUnimplemented(taken) || absl::IsPermissionDenied(taken) || ReasonOf(taken) == kReasonDiskFull;
  if (!goes_on) return taken;
  Say("the source keeps its changes for its retention only, not for this move: " +
      std::string(taken.message()));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Move::HoldFromNow(const std::string& move_id) {
  return HoldFrom(move_id, [this] { return SourceSequence(); });
}

absl::StatusOr<uint64_t> Move::HoldFromOldest(const std::string& move_id) {
  return HoldFrom(move_id, [this]() -> absl::StatusOr<uint64_t> {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t last, SourceSequence());
    if (!source_.is_itemd()) return last;
    ITEMDB_ASSIGN_OR_RETURN(const ReadChangesResult page, source_.Try([&] {
      return source_.client().ReadChanges({.after_sequence = last, .limit = 1}, source_.call());
    }));
    return page.oldest_sequence == 0 ? 0 : page.oldest_sequence - 1;
  });
}

absl::StatusOr<uint64_t> Move::HoldFrom(const std::string& move_id,
                                        absl::FunctionRef<absl::StatusOr<uint64_t>()> find_sequence) {
  for (int i = 0;; ++i) {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t sequence, find_sequence());
    const absl::Status held = TakeHold(move_id, sequence);
    if (held.ok()) return sequence;
    // A source that keeps nothing may have trimmed them in this moment.
    if (!absl::IsOutOfRange(held) || i == kMostRounds) return held;
  }
}

void Move::ReleaseHold() {
  if (hold_ == nullptr) return LogHold::Release(source_, journal_.state().move_id);
  hold_->Release();
  hold_ = nullptr;
}

void Move::StartHold() {
  if (hold_ != nullptr) hold_->Start([cancel = options_.cancel] { cancel.Cancel(); });
}

absl::Status Move::Explained(absl::Status status) const {
  if (status.ok() || hold_ == nullptr || hold_->failure().ok()) return status;
  return hold_->failure();
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

// ---- copy

absl::Status Move::Copy() {
  if (step() != MoveStep::kCopying) return absl::OkStatus();
  const MoveState begun = journal_.state();
  ITEMDB_RETURN_IF_ERROR(CheckCopiedFrom(begun));
  int64_t total = 0;
  for (const MovedTable& table : begun.tables) {
    if (!table.export_arn.empty()) {
      const FullExport& from = options_.exports.at(table.name);
      total += from.item_count();
      Say("table " + table.name + " is copied from the export " + from.arn() + " of " +
          absl::FormatTime(from.time(), absl::UTCTimeZone()) + ", " +
          CountText(from.item_count(), kItemNoun));
      continue;
    }
    ITEMDB_ASSIGN_OR_RETURN(const auto found, source_.FindTable(table.name));
    if (found.has_value()) total += found->item_count;
  }
  const absl::Time begin = absl::Now();
  std::atomic<int64_t> copied{0};
  absl::Status status;
  {
    Progress progress(options_.progress, {.doing = "copying", .unit = "items", .total = total});
    const auto on_copied = [&](int64_t items) {
      copied += items;
      progress.Add(items);
    };
    status = options_.exports.empty()
                 ? CopyItems(source_, target_, journal_, pace_, options_.workers, on_copied)
                 : CopyExports(options_.exports, definitions_, target_, journal_, pace_, options_.workers,
                               on_copied);
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

// ---- switch

absl::Status Move::Switch() {
  if (step() >= MoveStep::kGoingBack)
    return absl::FailedPreconditionError("the tables are being brought back: go on with --back");
  // A run that woke up after the end may have left fences when it was killed.
  if (step() == MoveStep::kDone) return target_fences_.LiftWaitingFor(steadfast_target_, target_.endpoint());
  if (step() == MoveStep::kSwitched) return SendWritersToTarget();
  ITEMDB_RETURN_IF_ERROR(ReadDefinitions());
  ITEMDB_RETURN_IF_ERROR(CheckDefinitions());
  journal_.Hurry();
  // What is left to apply is new; writers must not wait because a hold has ended.
  if (hold_ != nullptr) hold_->Stop();
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

absl::Status Move::CheckDefinitions() const {
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
  return absl::OkStatus();
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
  ReleaseHold();
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
