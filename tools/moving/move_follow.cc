// The middle of a move, in either direction: changes are followed, and both sides compared meanwhile.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/status_macros.h"
#include "tools/base/number_text.h"
#include "tools/json/item_json.h"
#include "tools/moving/change_log_feed.h"
#include "tools/moving/move.h"
#include "tools/moving/stream_feed.h"

namespace itemdb::tools {
namespace {

// Keys that are compared while writers wait.
constexpr size_t kFewKeys = 2'000;

}  // namespace

// ---- follow

absl::StatusOr<std::vector<std::string>> Move::TablesWithoutStream(const Side& side) const {
  std::vector<std::string> without;
  for (const MovedTable& table : journal_.state().tables) {
    ITEMDB_ASSIGN_OR_RETURN(const bool has_stream, HasStream(side, table.name));
    if (!has_stream) without.push_back(table.name);
  }
  return without;
}

// Keys are enough: the follower reads the items.
absl::Status Move::EnableStreams(const Side& side, const std::vector<std::string>& tables) {
  for (const std::string& table : tables) {
    const UpdateTableRequest update{
        .table_name = table, .stream_view_type = StreamViewType::kKeysOnly, .stream_enabled = true};
    const absl::Status enabled =
        side.Try([&] { return side.client().UpdateTable(update, side.call()).status(); });
    // A call whose answer was lost may have done it.
    ITEMDB_ASSIGN_OR_RETURN(const bool has_stream, HasStream(side, table));
    if (!has_stream)
      return enabled.ok() ? absl::UnavailableError("table " + table + " of " + side.name() +
                                                   " has no stream yet: run the same command again")
                          : enabled;
    Say("table " + table + " of " + side.name() + " has a stream now");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Move::CanFollow() {
  if (source_.is_itemd()) return true;
  ITEMDB_ASSIGN_OR_RETURN(const std::vector<std::string> without, TablesWithoutStream(source_));
  if (without.empty()) return true;
  if (options_.enable_streams) {
    ITEMDB_RETURN_IF_ERROR(EnableStreams(source_, without));
    return true;
  }
  if (step() < MoveStep::kSwitched)
    Say("these tables of the source have no DynamoDB Stream, so changes are found by comparison, and writers "
        "must stop before the last one; --enable-streams turns streams on: " +
        absl::StrJoin(without, ", "));
  return false;
}

absl::StatusOr<std::unique_ptr<ChangeFeed>> Move::OpenFeed() const {
  const MoveState state = journal_.state();
  if (!from().is_itemd()) return StreamFeed::Open(from(), state);
  ChangeLogFeed::Options options{.after_sequence = state.sequence,
                                 .after_time_us = is_back_ ? 0 : state.sequence_time_us,
                                 .is_saved = !is_back_};
  for (const MovedTable& table : state.tables) options.tables[table.storage_id] = table.name;
  if (is_back_) {
    // Of the target nothing is noted: what changed before now is found by comparison.
    options.tables.clear();
    for (const MovedTable& table : state.tables) {
      ITEMDB_ASSIGN_OR_RETURN(const auto found, target_.FindTable(table.name));
      if (!found.has_value())
        return absl::NotFoundError("table " + table.name + " was deleted in the target");
      options.tables[found->storage_id] = table.name;
    }
    ITEMDB_ASSIGN_OR_RETURN(options.after_sequence, ChangeLogFeed(target_, {}).Mark());
  }
  return std::make_unique<ChangeLogFeed>(from(), std::move(options));
}

absl::Status Move::BeginFollowing() {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<ChangeFeed> feed, OpenFeed());
  if (follower_ != nullptr) applied_before_ += follower_->applied();
  follower_ = std::make_unique<Follower>(from(), to(), std::move(feed), journal_, pace_, options_.workers,
                                         options_.most_changed_keys);
  follower_->Start();
  return absl::OkStatus();
}

absl::Status Move::StartFollowing() { return is_over() ? absl::OkStatus() : BeginFollowing(); }

absl::Status Move::BeginAgainByComparison() {
  if (follower_ != nullptr) {
    follower_->Stop();
    applied_before_ += follower_->applied();
    follower_.reset();
  }
  // What was held is missing only if the hold has ended, and then somebody should know why.
  if (!is_back_ && hold_ != nullptr) ITEMDB_RETURN_IF_ERROR(hold_->Renew());
  uint64_t sequence = 0;
  int64_t sequence_time_us = 0;
  if (!is_back_) {
    ITEMDB_ASSIGN_OR_RETURN(sequence, HoldFromNow(journal_.state().move_id));
    ITEMDB_ASSIGN_OR_RETURN(sequence_time_us, CommitTimeOf(source_, sequence));
    StartHold();
  }
  std::string which = "that the streams keep";
  if (from().is_itemd()) which = is_back_ ? "from now on" : "after " + std::to_string(sequence);
  Say("the changes since the copy cannot be read: all items are compared, and changes " + which +
      " are followed");
  ITEMDB_ASSIGN_OR_RETURN(const Comparison comparison,
                          CompareTables(from(), to(), definitions_, kSegmentsOfComparison,
                                        {.workers = std::max(1, options_.workers / 2)}));
  ITEMDB_RETURN_IF_ERROR(
      CheckedForOtherRuns(CopyKeys(from(), to(), KeysOf(comparison.differences), pace_, options_.workers)));
  ITEMDB_RETURN_IF_ERROR(journal_.Change(/*now=*/true, [&](MoveState& state) {
    if (!is_back_) {
      state.sequence = sequence;
      state.sequence_time_us = sequence_time_us;
    }
    // From their oldest records.
    for (MovedTable& table : state.tables) table.stream = {};
  }));
  return BeginFollowing();
}

// ---- verify

absl::Status Move::RepairAndCheck(const std::vector<Difference>& differences, bool may_change) {
  if (differences.empty()) return absl::OkStatus();
  const Side& source = from(/*hurried=*/!may_change);
  const Side& target = to(/*hurried=*/!may_change);
  const absl::Time deadline = may_change ? absl::InfiniteFuture() : absl::Now() + options_.switch_patience;
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t mark, follower_->Mark());
  ITEMDB_RETURN_IF_ERROR(follower_->Await(mark, deadline));
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
        comparison, CompareTables(from(!may_change), to(!may_change), definitions_, kSegmentsOfComparison,
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
                          CompareKeys(from(!may_change), to(!may_change), keys, options_.workers));
  return RepairAndCheck(comparison.differences, may_change);
}

absl::Status Move::CompareNoted() {
  if (!follower_->changed().overflowed()) return CompareChanged(/*may_change=*/true);
  // Before the comparison: what changes during it is noted.
  follower_->changed().Take();
  return CompareAll(/*may_change=*/true);
}

absl::StatusOr<bool> Move::CompareRest() {
  const auto await_changes = [this]() -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t mark, follower_->Mark());
    return follower_->Await(mark);
  };
  ITEMDB_RETURN_IF_ERROR(await_changes());
  if (follower_->changed().count() > 0) {
    ITEMDB_RETURN_IF_ERROR(CompareNoted());
    return false;
  }
  if (follower_->is_exact()) return true;
  // A stream may not have shown the last changes yet.
  const size_t repaired = report_.repaired.size();
  ITEMDB_RETURN_IF_ERROR(CompareAll(/*may_change=*/true));
  ITEMDB_RETURN_IF_ERROR(await_changes());
  return report_.repaired.size() == repaired && follower_->changed().count() == 0;
}

absl::Status Move::Verify() {
  if (is_over()) return absl::OkStatus();
  if (step() == MoveStep::kFenced) {
    ITEMDB_RETURN_IF_ERROR(source_fences_.Set(source_, {}).status());
    ITEMDB_RETURN_IF_ERROR(
        journal_.Change(/*now=*/true, [](MoveState& state) { state.step = MoveStep::kFollowing; }));
  }
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t mark, follower_->Mark());
  ITEMDB_RETURN_IF_ERROR(follower_->Await(mark));
  follower_->changed().Take();
  ITEMDB_RETURN_IF_ERROR(CompareAll(/*may_change=*/true));
  ITEMDB_RETURN_IF_ERROR(CompareUntilFew());
  Say(
      absl::StrFormat("compared %s in %.1f s; %s written again; %d keys changed meanwhile and are compared "
                      "at the %s",
                      CountText(report_.items_compared, kItemNoun), absl::ToDoubleSeconds(compare_time_),
                      CountText(static_cast<int64_t>(report_.repaired.size()), kDifferenceNoun),
                      follower_->changed().count(), is_back_ || options_.adopts ? "end" : "switch"));
  return absl::OkStatus();
}

absl::Status Move::CompareUntilFew() {
  if (is_over()) return absl::OkStatus();
  for (int round = 0; round < kMostRounds; ++round) {
    if (follower_->changed().count() <= kFewKeys) break;
    ITEMDB_RETURN_IF_ERROR(CompareNoted());
  }
  return absl::OkStatus();
}

}  // namespace itemdb::tools
