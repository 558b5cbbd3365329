#include "storage/changes/change_holds.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/schema/catalog_messages.h"
#include "storage/schema/table_changes.h"

namespace itemdb::storage {
namespace {

// How long a hold that has ended is known, and how many of them are.
constexpr int64_t kKnownAfterEndUs = int64_t{24} * 3'600 * 1'000'000;
constexpr size_t kMostEndedHolds = 100;

std::string HoldKey(std::string_view name) { return absl::StrCat(kChangeHoldKeyPrefix, std::string(name)); }

struct StoredHolds {
  // By name.
  std::vector<v1::ChangeHold> holds;
  std::vector<std::string> damaged_keys;
};

absl::StatusOr<StoredHolds> ReadHolds(const ReadView& view) {
  rocksdb::ReadOptions options;
  options.snapshot = view.snapshot();
  StoredHolds stored;
  std::unique_ptr<rocksdb::Iterator> it = view.store()->NewIterator(options, view.store()->catalog());
  for (it->Seek(kChangeHoldKeyPrefix); it->Valid() && it->key().starts_with(kChangeHoldKeyPrefix);
       it->Next()) {
    auto hold = DecodeCatalogMessage<v1::ChangeHold>(ToView(it->key()), ToView(it->value()));
    if (hold.has_value()) {
      stored.holds.push_back(*std::move(hold));
    } else {
      stored.damaged_keys.push_back(it->key().ToString());
    }
  }
  if (!it->status().ok()) return view.store()->ReadError("cannot read the catalog", it->status());
  return stored;
}

bool IsHeld(const v1::ChangeHold& hold) { return hold.state() == v1::CHANGE_HOLD_STATE_HELD; }

// Not by a clock that was set forward, and not while nobody could renew it: then the reader has a whole lease
// to do so.
bool IsExpired(const v1::ChangeHold& hold, int64_t taking_writes_us, TimeOfDay& time_of_day) {
  const std::chrono::microseconds lease = std::chrono::seconds(hold.lease_seconds());
  return time_of_day.NowMicros() - hold.renewed_time_us() >= lease.count() &&
         taking_writes_us >= lease.count() && !time_of_day.SteppedWithin(lease);
}

// Below twice the floor, now. 0 free bytes: the number is not known, or writes are refused already.
bool IsNearFloor(const Engine& engine) {
  const uint64_t free_bytes = engine.disk_space().FreeBytes();
  return engine.disk_space().IsBelowFloor() ||
         (free_bytes > 0 && free_bytes / 2 < engine.options().free_space_floor_bytes);
}

std::string TimeText(int64_t time_us) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMicros(time_us), absl::UTCTimeZone());
}

std::string_view StateName(v1::ChangeHoldState state) {
  switch (state) {
    case v1::CHANGE_HOLD_STATE_EXPIRED:
      return "expired";
    case v1::CHANGE_HOLD_STATE_DISK_FULL:
      return "disk_full";
    default:
      return "held";
  }
}

// FAILED_PRECONDITION (HOLD_ENDED): says what became of it. `hold`: its record, if there is one.
absl::Status HoldEndedError(const std::string& name, const std::optional<v1::ChangeHold>& hold) {
  std::string what = "there is no hold of the change log with the name " + name +
                     ": it was released, or ended so long ago that it is not listed any more";
  if (hold.has_value() && hold->state() == v1::CHANGE_HOLD_STATE_EXPIRED) {
    what = absl::StrFormat("hold %s of the change log ended at %s: it was not renewed for its lease of %d s",
                           name, TimeText(hold->ended_time_us()), hold->lease_seconds());
  } else if (hold.has_value() && hold->state() == v1::CHANGE_HOLD_STATE_DISK_FULL) {
    what = absl::StrFormat(
        "hold %s of the change log ended at %s: free space was below twice the floor, and it kept changes "
        "that had to go",
        name, TimeText(hold->ended_time_us()));
  }
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonHoldEnded, what);
}

absl::Status CheckName(const std::string& name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (!name.empty() && name.size() <= kMaxChangeHoldNameBytes &&
      std::all_of(name.begin(), name.end(), is_allowed))
    return absl::OkStatus();
  return ValidationError("SEM-103", absl::StrCat("the name of a hold has 1 to ", kMaxChangeHoldNameBytes,
                                                 " of the characters a-z, A-Z, 0-9, '_', '-', '.'; it has ",
                                                 name.size(), " bytes"));
}

// RESOURCE_EXHAUSTED (LIMIT_EXCEEDED) with a time to wait: readers make too many holds.
absl::Status TakeCommit(Engine& engine) {
  if (engine.hold_renewals().TakeCommit(engine.time_of_day().SteadyMicros())) return absl::OkStatus();
  return MakeError(
      absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
      absl::StrCat("holds of the change log are made, moved back and given a longer lease more than ",
                   kHoldCommitsPerSecond,
                   " times in a second; try again later. Plain renewals are not counted"),
      1'000 / kHoldCommitsPerSecond);
}

// Stores what `append` adds in a commit. Blocks until it is durable.
absl::StatusOr<uint64_t> CommitHold(Engine& engine, WriteSpace space, WriteOrigin origin,
                                    absl::FunctionRef<void(CommitGroup&)> append) {
  const auto apply = [&](CommitGroup& group) {
    append(group);
    return absl::OkStatus();
  };
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t last,
                          CommitAndWait(engine, apply, {.space = space, .origin = origin}));
  ITEMDB_RETURN_IF_ERROR(engine.SyncNow());
  return last;
}

absl::StatusOr<v1::HoldChangesReply> Hold(Engine& engine, const v1::HoldChangesRequest& request) {
  // A standby may lack records and changes, and says nothing about them.
  ITEMDB_RETURN_IF_ERROR(engine.WriteRefusal());
  ITEMDB_RETURN_IF_ERROR(CheckName(request.name()));
  const int32_t lease =
      request.has_lease_seconds() ? request.lease_seconds() : kDefaultChangeHoldLeaseSeconds;
  if (lease < 1 || lease > kMaxChangeHoldLeaseSeconds)
    return ValidationError(
        "SEM-103", absl::StrCat("LeaseSeconds must be 1 to ", kMaxChangeHoldLeaseSeconds, "; it is ", lease));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  // A position of another database, or of one that has lost changes since.
  if (request.after_sequence() > view->change_sequence())
    return ValidationError(
        "SEM-103", absl::StrCat("AfterSequence is ", request.after_sequence(),
                                ", and the last change of this database is ", view->change_sequence()));
  ITEMDB_ASSIGN_OR_RETURN(const StoredHolds stored, ReadHolds(*view));
  std::optional<v1::ChangeHold> before;
  for (const v1::ChangeHold& hold : stored.holds) {
    if (hold.name() == request.name()) before = hold;
  }
  const int64_t now_us = engine.time_of_day().NowMicros();
  const bool is_held = before.has_value() && IsHeld(*before);
  if (request.renews() && !is_held) return HoldEndedError(request.name(), before);
  if (!is_held && std::count_if(stored.holds.begin(), stored.holds.end(), IsHeld) >= kMaxChangeHolds)
    return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                     absl::StrCat("there are ", kMaxChangeHolds,
                                  " holds of the change log, and no more are allowed: release one"));
  // Until the record is visible.
  ITEMDB_ASSIGN_OR_RETURN(const auto pin, engine.trim_horizon().Pin(request.after_sequence() + 1));
  const uint64_t last_change = view->change_sequence();
  view.reset();

  v1::HoldChangesReply reply;
  v1::ChangeHold& hold = *reply.mutable_hold();
  hold.set_name(request.name());
  hold.set_after_sequence(request.after_sequence());
  hold.set_state(v1::CHANGE_HOLD_STATE_HELD);
  hold.set_lease_seconds(lease);
  // One that is moved back keeps what nobody held: it is made anew.
  const bool renews = is_held && before->after_sequence() <= hold.after_sequence();
  hold.set_creation_time_us(renews ? before->creation_time_us() : now_us);
  hold.set_renewed_time_us(now_us);
  HoldRenewals& renewals = engine.hold_renewals();
  if (renews && lease <= before->lease_seconds()) {
    // The record keeps all of it. In relaxed mode it may not be durable yet, nor the change that is followed:
    // a sync for that counts as a commit.
    const bool follows_durable = hold.after_sequence() <= engine.durable_sequence();
    if (!follows_durable) ITEMDB_RETURN_IF_ERROR(TakeCommit(engine));
    if (!follows_durable || !renewals.Knows(*before)) ITEMDB_RETURN_IF_ERROR(engine.SyncNow());
    renewals.Note(hold);
    reply.set_change_sequence(std::min(last_change, engine.durable_sequence()));
    return reply;
  }
  ITEMDB_RETURN_IF_ERROR(TakeCommit(engine));
  renewals.Doubt(hold.name());
  ITEMDB_ASSIGN_OR_RETURN(
      const uint64_t last,
      CommitHold(engine, renews ? WriteSpace::kFrees : WriteSpace::kTakes, WriteOrigin::kClient,
                 [&](CommitGroup& group) { PutCatalogMessage(HoldKey(hold.name()), hold, group); }));
  renewals.Note(hold);
  reply.set_change_sequence(last);
  if (!renews)
    engine.options().log->info("hold of the change log made name={} after_sequence={} lease_seconds={}",
                               hold.name(), hold.after_sequence(), lease);
  return reply;
}

absl::StatusOr<v1::ReleaseChangesReply> Release(Engine& engine, const v1::ReleaseChangesRequest& request) {
  ITEMDB_RETURN_IF_ERROR(engine.WriteRefusal());
  ITEMDB_RETURN_IF_ERROR(CheckName(request.name()));
  std::optional<v1::ChangeHold> before;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
    ITEMDB_ASSIGN_OR_RETURN(before, FindCatalogMessage<v1::ChangeHold>(*view, HoldKey(request.name())));
  }
  if (!before.has_value()) return HoldEndedError(request.name(), before);
  // No TakeCommit: releases are no more than holds that were made, and a reader that makes many must not keep
  // an operator from releasing one.
  v1::ChangeHold hold = engine.hold_renewals().Apply(*before);
  engine.hold_renewals().Doubt(request.name());
  // The record of one that has ended goes too.
  ITEMDB_RETURN_IF_ERROR(
      CommitHold(engine, WriteSpace::kFrees, WriteOrigin::kClient, [&](CommitGroup& group) {
        group.DeleteCatalog(HoldKey(request.name()));
      }).status());
  engine.hold_renewals().Forget(request.name());
  engine.options().log->info("hold of the change log released name={} after_sequence={} state={}",
                             hold.name(), hold.after_sequence(), StateName(hold.state()));
  v1::ReleaseChangesReply reply;
  *reply.mutable_hold() = std::move(hold);
  return reply;
}

// What EndChangeHolds does to the records.
struct HoldChange {
  std::vector<v1::ChangeHold> put;
  std::vector<std::string> deleted_keys;
};

// Whether it is time to store how the hold of this record was renewed. Its time may be behind: leases are
// counted from what was noted, and begin anew with the process.
bool IsToBeStored(const v1::ChangeHold& stored, const v1::ChangeHold& renewed) {
  constexpr int64_t kMicrosOfHalfASecond = 500'000;
  return renewed.after_sequence() != stored.after_sequence() ||
         renewed.lease_seconds() != stored.lease_seconds() ||
         renewed.renewed_time_us() - stored.renewed_time_us() >=
             kMicrosOfHalfASecond * stored.lease_seconds();
}

// Those of the records that are known for too long, or are too many.
std::vector<std::string> NamesToForget(std::vector<v1::ChangeHold> ended, int64_t now_us) {
  std::vector<std::string> names;
  std::erase_if(ended, [&](const v1::ChangeHold& hold) {
    // Of the other sign: the clock was set back since.
    if (std::abs(now_us - hold.ended_time_us()) < kKnownAfterEndUs) return false;
    names.push_back(hold.name());
    return true;
  });
  if (ended.size() <= kMostEndedHolds) return names;
  std::sort(ended.begin(), ended.end(), [](const v1::ChangeHold& one, const v1::ChangeHold& other) {
    return one.ended_time_us() < other.ended_time_us();
  });
  ended.resize(ended.size() - kMostEndedHolds);
  for (const v1::ChangeHold& hold : ended) names.push_back(hold.name());
  return names;
}

absl::StatusOr<HoldChange> FindEnded(Engine& engine, uint64_t wanted, int64_t taking_writes_us) {
  // Before the records: one that says HELD keeps its changes from then on.
  const uint64_t oldest = engine.trim_horizon().oldest();
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  ITEMDB_ASSIGN_OR_RETURN(StoredHolds stored, ReadHolds(*view));
  const bool is_near_floor = IsNearFloor(engine);
  TimeOfDay& time_of_day = engine.time_of_day();
  const int64_t now_us = time_of_day.NowMicros();
  HoldChange change{.put = {}, .deleted_keys = std::move(stored.damaged_keys)};
  std::vector<v1::ChangeHold> ended;
  for (const v1::ChangeHold& record : stored.holds) {
    v1::ChangeHold hold = engine.hold_renewals().Apply(record);
    if (!IsHeld(hold)) {
      ended.push_back(std::move(hold));
      continue;
    }
    const uint64_t first = hold.after_sequence() + 1;
    const bool had_to_go = first < oldest || (is_near_floor && first < wanted);
    if (had_to_go || IsExpired(hold, taking_writes_us, time_of_day)) {
      hold.set_state(had_to_go ? v1::CHANGE_HOLD_STATE_DISK_FULL : v1::CHANGE_HOLD_STATE_EXPIRED);
      hold.set_ended_time_us(now_us);
      ended.push_back(hold);
    } else if (hold.renewed_time_us() > now_us) {
      // The clock was set back: a lease must not become longer by it.
      hold.set_renewed_time_us(now_us);
    } else if (!IsToBeStored(record, hold)) {
      continue;
    }
    change.put.push_back(std::move(hold));
  }
  for (const std::string& name : NamesToForget(std::move(ended), now_us))
    change.deleted_keys.push_back(HoldKey(name));
  return change;
}

absl::Status EndHolds(Engine& engine, uint64_t wanted, int64_t taking_writes_us) {
  // Another database may have been promoted since.
  if (!engine.WriteRefusal().ok()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const HoldChange change, FindEnded(engine, wanted, taking_writes_us));
  if (change.put.empty() && change.deleted_keys.empty()) return absl::OkStatus();
  const auto append = [&](CommitGroup& group) {
    for (const v1::ChangeHold& hold : change.put) PutCatalogMessage(HoldKey(hold.name()), hold, group);
    // Those that have ended just now may be among them.
    for (const std::string& key : change.deleted_keys) group.DeleteCatalog(key);
  };
  ITEMDB_RETURN_IF_ERROR(CommitHold(engine, WriteSpace::kFrees, WriteOrigin::kUpkeep, append).status());
  for (const v1::ChangeHold& hold : change.put) {
    if (IsHeld(hold)) {
      engine.hold_renewals().Note(hold);
      continue;
    }
    engine.hold_renewals().Forget(hold.name());
    engine.options().log->warn(
        "hold of the change log ended: the changes are not kept for its reader any more name={} state={} "
        "after_sequence={} lease_seconds={}",
        hold.name(), StateName(hold.state()), hold.after_sequence(), hold.lease_seconds());
  }
  return absl::OkStatus();
}

}  // namespace

void HoldChanges(Engine& engine, v1::HoldChangesRequest request, Done<v1::HoldChangesReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Hold(engine, request); }, std::move(done));
}

void ReleaseChanges(Engine& engine, v1::ReleaseChangesRequest request, Done<v1::ReleaseChangesReply> done) {
  RunDefinition(
      engine, [&engine, request = std::move(request)] { return Release(engine, request); }, std::move(done));
}

std::vector<v1::ChangeHold> DescribeChangeHolds(const Engine& engine, const ReadView& view) {
  absl::StatusOr<StoredHolds> stored = ReadHolds(view);
  if (!stored.ok()) return {};
  for (v1::ChangeHold& hold : stored->holds) {
    if (!IsHeld(hold)) continue;
    hold = engine.hold_renewals().Apply(std::move(hold));
    const std::string first = SequenceKey(hold.after_sequence() + 1);
    const std::string end = SequenceKey(UINT64_MAX);
    const rocksdb::Range range(first, end);
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    uint64_t bytes = 0;
    const rocksdb::Status status =
        view.store()->db()->GetApproximateSizes(options, view.store()->changes(), &range, 1, &bytes);
    if (status.ok()) hold.set_held_bytes(static_cast<int64_t>(bytes));
  }
  return std::move(stored->holds);
}

absl::StatusOr<std::optional<uint64_t>> FirstHeldChange(const ReadView& view) {
  ITEMDB_ASSIGN_OR_RETURN(const StoredHolds stored, ReadHolds(view));
  std::optional<uint64_t> first;
  for (const v1::ChangeHold& hold : stored.holds) {
    if (IsHeld(hold)) first = std::min(first.value_or(UINT64_MAX), hold.after_sequence() + 1);
  }
  return first;
}

std::future<absl::Status> EndChangeHolds(Engine& engine, uint64_t wanted, int64_t taking_writes_us) {
  std::promise<absl::Status> promise;
  std::future<absl::Status> ended = promise.get_future();
  if (!engine.WriteRefusal().ok()) {
    promise.set_value(absl::OkStatus());
    return ended;
  }
  const absl::StatusOr<HoldChange> change = FindEnded(engine, wanted, taking_writes_us);
  if (!change.ok() || (change->put.empty() && change->deleted_keys.empty())) {
    promise.set_value(change.status());
    return ended;
  }
  RunDefinition<bool>(
      engine,
      [&engine, wanted, taking_writes_us]() -> absl::StatusOr<bool> {
        // Again: holds may have been renewed meanwhile.
        ITEMDB_RETURN_IF_ERROR(EndHolds(engine, wanted, taking_writes_us));
        return true;
      },
      [promise = std::move(promise)](absl::StatusOr<bool> ran) mutable { promise.set_value(ran.status()); });
  return ended;
}

}  // namespace itemdb::storage
