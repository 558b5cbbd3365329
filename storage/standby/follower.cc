#include "storage/standby/follower.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "storage/api/primary_link.h"
#include "storage/archive/promotion.h"
#include "storage/base/wall_clock.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/indexes/differences.h"
#include "storage/indexes/repair.h"
#include "storage/standby/replicated_group.h"

namespace itemdb::storage {
namespace {

using Clock = std::chrono::steady_clock;

// Groups that are applied in one commit.
constexpr size_t kBytesAtOnce = 4 << 20;
constexpr size_t kGroupsAtOnce = 1'000;
// How often a new base is tried: the primary makes one soon after a gap.
constexpr std::chrono::seconds kBaseInterval(2);
constexpr std::chrono::milliseconds kLookInterval(20);

absl::Status StandbyError(const std::string& archive) {
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonStandby,
                   "this database is a standby: it follows the archive " + archive +
                       " and takes no writes; write to the primary, or, if that is lost, make this one the "
                       "primary with 'itemctl promote'");
}

absl::Status OpensBaseError() {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the standby opens its new base");
}

}  // namespace

Follower::Follower(Engine& engine, std::function<absl::Status(const Cancellation&)> make_base,
                   std::function<absl::Status()> install_base)
    : engine_(engine),
      make_base_(std::move(make_base)),
      install_base_(std::move(install_base)),
      archive_(engine.options().standby_archive) {
  engine_.RefuseWrites(StandbyError(archive_));
}

Follower::~Follower() {
  cancellation_.Cancel();
  if (thread_ != nullptr) thread_->Stop();
}

void Follower::Start() {
  {
    auto thread = std::make_unique<BackgroundThread>();
    MutexLock lock(mutex_);
    thread_.swap(thread);
  }
  thread_->Start([this] { Loop(); });
}

void Follower::SetOnSilentChanges(std::function<void(const std::vector<uint64_t>&)> forget) {
  MutexLock lock(mutex_);
  on_silent_changes_ = std::move(forget);
}

void Follower::Loop() {
  absl::Status logged;
  while (thread_->WaitFor(engine_.options().standby_interval)) {
    absl::Status followed = Follow();
    const bool needs_base = absl::IsOutOfRange(followed) || absl::IsDataLoss(followed);
    SetState(followed, needs_base);
    if (needs_base && Clock::now() >= next_base_) {
      engine_.options().log->warn("the standby needs a new base reason={}", MessageOf(followed));
      followed = Rebase();
      next_base_ = Clock::now() + kBaseInterval;
    }
    // The store is being reopened: tried again soon. Each other error is logged once.
    if (followed.code() != logged.code() && !followed.ok() && engine_.View().ok())
      engine_.options().log->error("the standby cannot follow its primary error={}", MessageOf(followed));
    if (followed.ok() && !logged.ok()) engine_.options().log->info("the standby follows its primary again");
    logged = followed;
  }
}

void Follower::SetState(const absl::Status& status, bool needs_base) {
  MutexLock lock(mutex_);
  error_ = status;
  needs_base_ = needs_base;
  is_behind_ = !status.ok();
}

absl::Status Follower::Follow() {
  ITEMDB_ASSIGN_OR_RETURN(std::shared_ptr<const ReadView> view, engine_.View());
  const std::shared_ptr<Store> store = view->store();
  view.reset();
  if (replaced_.lock() == store) return OpensBaseError();
  pending_.clear();
  pending_bytes_ = 0;
  if (reads_anew_.exchange(false)) tail_.reset();
  if (!tail_.has_value() || store_.lock() != store) {
    ITEMDB_ASSIGN_OR_RETURN(const auto position, ReadStandbyPosition(*store));
    if (!position.has_value()) return DataLossError("the standby does not know how far it has come");
    position_ = *position;
    store_ = store;
    tail_.emplace(engine_.env(), archive_, position_.chain_id, position_.sequence);
  }
  // What was read and not applied is read again.
  const auto failed = [this](absl::Status status) {
    tail_.reset();
    return status;
  };
  while (cancellation_.Check().ok()) {
    absl::StatusOr<std::optional<ArchivedGroup>> group = tail_->Next();
    if (!group.ok() || !group->has_value()) {
      if (absl::Status applied = Apply(store); !applied.ok()) return failed(std::move(applied));
      if (!group.ok()) return failed(group.status());
      DeleteFollowedSegments();
      return absl::OkStatus();
    }
    const absl::StatusOr<std::vector<v1::TableDescription>> tables = CheckReplicated(**group, *store);
    if (!tables.ok()) return failed(tables.status());
    const bool is_definition = !tables->empty();
    if (is_definition) {
      absl::Status built = Apply(store);
      if (built.ok()) {
        ITEMDB_ASSIGN_OR_RETURN(const auto now, engine_.View());
        built = BuildIndexes(*now, *tables);
      }
      if (!built.ok()) return failed(std::move(built));
    }
    pending_bytes_ += (*group)->batch.GetDataSize();
    pending_.push_back(*std::move(*group));
    if (!is_definition && pending_bytes_ < kBytesAtOnce && pending_.size() < kGroupsAtOnce) continue;
    if (absl::Status applied = Apply(store); !applied.ok()) return failed(std::move(applied));
  }
  return failed(cancellation_.Check());
}

absl::Status Follower::Apply(const std::shared_ptr<Store>& store) {
  if (pending_.empty()) return absl::OkStatus();
  StandbyPosition after = position_;
  after.sequence = pending_.back().last_sequence;
  std::function<void(const std::vector<uint64_t>&)> on_silent_changes;
  {
    MutexLock lock(mutex_);
    on_silent_changes = on_silent_changes_;
  }
  std::vector<uint64_t> silent;
  const auto forget = [&] {
    if (!silent.empty() && on_silent_changes != nullptr) on_silent_changes(silent);
  };
  const auto append = [&](CommitGroup& group) -> absl::Status {
    ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
    if (view->store() != store || group.next_sequence() != pending_.front().first_change) {
      return DataLossError(absl::StrCat("the archive goes on with change ", pending_.front().first_change,
                                        ", and the standby ends at ", group.next_sequence() - 1));
    }
    IndexesWithSilentChanges indexes(*group.catalog());
    for (const ArchivedGroup& archived : pending_)
      ITEMDB_RETURN_IF_ERROR(AppendReplicated(engine_, *store, archived, group, &indexes));
    silent.assign(indexes.found().begin(), indexes.found().end());
    // Searches between the commit and the second call would still find what was before.
    forget();
    PutStandbyPosition(after, group);
    return absl::OkStatus();
  };
  ITEMDB_RETURN_IF_ERROR(
      CommitAndWait(
          engine_, append,
          {.size_bytes = pending_bytes_, .when_full = WhenFull::kWait, .origin = WriteOrigin::kUpkeep})
          .status());
  position_ = after;
  forget();
  {
    MutexLock lock(mutex_);
    commit_time_us_ = pending_.back().commit_time_us;
    // Until Follow has found that there is no more.
    is_behind_ = true;
  }
  pending_.clear();
  pending_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status Follower::BuildIndexes(const ReadView& view, const std::vector<v1::TableDescription>& tables) {
  for (const v1::TableDescription& definition : tables) {
    const auto before = view.catalog().FindByName(definition.table_name());
    // The indexes of a new table have no entries yet.
    if (before == nullptr || before->storage_id != definition.storage_id()) continue;
    const Table after = MakeTable(definition);
    for (const Index& index : after.indexes) {
      const Index* const old = before->FindIndexByStorageId(index.storage_id);
      const bool was_active = old != nullptr && old->state == IndexState::kActive;
      if (index.state != IndexState::kActive || was_active) continue;
      Differences report;
      int64_t damaged = 0;
      int64_t entries = 0;
      report.damaged = [&](const std::string&, std::string_view, const std::string&) { ++damaged; };
      report.damaged_entry = [](const Index&, std::string_view) {};
      report.missing = [&](const Index&, const IndexEntry&, bool) { ++entries; };
      report.orphaned = [](const Index&, std::string_view) {};
      report.miscounted = [](const std::string&, uint64_t, const SizeStatistics&, const SizeStatistics&) {};
      report.wrong_collection = [](const Table&, std::string_view, const SizeStatistics&) {};
      Repair repair(engine_, view, *before);
      Checked checked;
      ITEMDB_RETURN_IF_ERROR(CompareTable({engine_, view, nullptr, nullptr, nullptr}, after, &index,
                                          Repairing(report, repair), &checked));
      ITEMDB_RETURN_IF_ERROR(repair.Finish());
      engine_.options().log->info("an index of the primary was built table={} entries={} damaged_items={}",
                                  before->name, entries, damaged);
    }
  }
  return absl::OkStatus();
}

absl::Status Follower::Rebase() {
  ITEMDB_RETURN_IF_ERROR(make_base_(cancellation_));
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  replaced_ = view->store();
  tail_.reset();
  engine_.ReplaceStore(install_base_);
  return OpensBaseError();
}

absl::Status Follower::CountTokens() {
  ITEMDB_ASSIGN_OR_RETURN(const auto view, engine_.View());
  SizeStatistics counted;
  ITEMDB_RETURN_IF_ERROR(ForEachRecord({engine_, *view, nullptr, nullptr, nullptr},
                                       Keyspace(view->store()->requests()),
                                       [&](std::string_view key, std::string_view record) {
                                         if (key.starts_with('e')) return;
                                         ++counted.items;
                                         counted.bytes += static_cast<int64_t>(record.size());
                                       }));
  return CommitAndWait(engine_,
                       [&](CommitGroup& group) {
                         group.size_statistics().Set(kRequestsStorageId, counted);
                         return absl::OkStatus();
                       },
                       {.when_full = WhenFull::kWait, .origin = WriteOrigin::kUpkeep})
      .status();
}

absl::Status Follower::StopPrimary(const Promotion& promotion) {
  const DatabaseOptions& options = engine_.options();
  absl::Status stopped;
  if (options.primary_link != nullptr) {
    stopped = options.primary_link->Fence(ToMessage(promotion));
    // It takes no more writes, and has some that are not here yet.
    if (!stopped.ok() && !absl::IsUnavailable(stopped)) return stopped;
  } else {
    const Clock::time_point deadline = Clock::now() + kMaxWait;
    while (stopped.ok() && !IsClosed(engine_.env(), archive_)) {
      if (Clock::now() >= deadline) stopped = absl::DeadlineExceededError("it did not look at its archive");
      std::this_thread::sleep_for(kLookInterval);
    }
  }
  primary_has_answered_ = stopped.ok();
  if (!stopped.ok()) {
    options.log->warn(
        "the primary did not answer: writes that it accepts now are lost to this database error={}",
        MessageOf(stopped));
  }
  return absl::OkStatus();
}

void Follower::DeleteFollowedSegments() {
  if (engine_.options().primary_link == nullptr || tail_->segment() == first_segment_) return;
  // With relaxed durability a power failure would lead back into them.
  if (!engine_.SyncNow().ok()) return;
  first_segment_ = tail_->segment();
  std::vector<std::string> names;
  (void)engine_.env()->GetChildren(archive_, &names);
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = ParseSegmentName(name);
    if (number.has_value() && *number < first_segment_)
      (void)engine_.env()->DeleteFile(archive_ + "/" + name);
  }
}

absl::StatusOr<uint64_t> Follower::Promote(bool force) {
  {
    MutexLock lock(mutex_);
    if (!is_standby_) {
      return MakeError(absl::StatusCode::kFailedPrecondition, kReasonValidation,
                       "this database is no standby: it was promoted already");
    }
    if (needs_base_ && !force) {
      return MakeError(absl::StatusCode::kFailedPrecondition, kReasonUnavailable,
                       "the standby is behind a gap of the archive and waits for a new base (" +
                           MessageOf(error_) + "); with --force it is promoted as it is");
    }
  }
  if (!force) ITEMDB_RETURN_IF_ERROR(CheckNotPromoted());
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  const Promotion promotion = {.database_id = engine_.database_id(),
                               .change_sequence = view->change_sequence(),
                               .time_us = NowMicros()};
  view.reset();
  thread_->Stop();
  absl::StatusOr<uint64_t> change = TakeOver(promotion, force);
  if (!change.ok()) {
    Start();
    return change;
  }
  // How far it came in the end: what the old primary has after it is not here.
  Promotion done = promotion;
  done.change_sequence = *change;
  (void)WritePromotion(engine_.env(), archive_, done);
  // If that fails, the link tries again. One that did not answer is not waited for twice.
  const auto& link = engine_.options().primary_link;
  if (link != nullptr && primary_has_answered_) (void)link->Fence(ToMessage(done));
  {
    MutexLock lock(mutex_);
    is_standby_ = false;
    needs_base_ = false;
    error_ = absl::OkStatus();
  }
  engine_.options().log->warn("promoted: this database takes writes now change_sequence={}", *change);
  return change;
}

absl::Status Follower::CheckNotPromoted() const {
  ITEMDB_ASSIGN_OR_RETURN(const auto promotion, ReadPromotion(engine_.env(), archive_));
  if (!promotion.has_value() || promotion->database_id == engine_.database_id()) return absl::OkStatus();
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonFenced,
                   "another standby of " + archive_ + " was promoted: the database " +
                       promotion->database_id + "; two that go on from the same commit would differ");
}

absl::StatusOr<uint64_t> Follower::TakeOver(const Promotion& promotion, bool force) {
  tail_.reset();
  absl::Status followed = WritePromotion(engine_.env(), archive_, promotion);
  if (followed.ok()) {
    followed = StopPrimary(promotion);
    if (followed.ok()) followed = Follow();
    if (!followed.ok() && !force) (void)DeletePromotion(engine_.env(), archive_);
  }
  if (!followed.ok() && !force) return followed;
  ITEMDB_RETURN_IF_ERROR(CountTokens());
  const auto end = [](CommitGroup& group) {
    EndStandby(group);
    return absl::OkStatus();
  };
  ITEMDB_ASSIGN_OR_RETURN(
      const uint64_t change,
      CommitAndWait(engine_, end, {.when_full = WhenFull::kWait, .origin = WriteOrigin::kUpkeep}));
  ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
  return change;
}

void Follower::FollowNow(bool anew) {
  if (anew) reads_anew_ = true;
  MutexLock lock(mutex_);
  if (thread_ != nullptr) thread_->Wake();
}

void Follower::Describe(v1::GetStatusReply* reply) const {
  MutexLock lock(mutex_);
  if (!is_standby_) return;
  v1::StandbyStatus* const status = reply->mutable_standby();
  status->set_archive_directory(archive_);
  status->set_commit_time_us(commit_time_us_);
  PrimaryLink::State link;
  if (engine_.options().primary_link != nullptr) link = engine_.options().primary_link->GetState();
  // An idle primary is not far away.
  const int64_t since_us = std::max(commit_time_us_, link.complete_at_us);
  if ((is_behind_ || !link.error.ok()) && since_us != 0)
    status->set_lag_ms(std::max<int64_t>(0, (NowMicros() - since_us) / 1'000));
  status->set_needs_base(needs_base_);
  if (!link.error.ok()) status->set_error(MessageOf(link.error));
  if (!error_.ok()) status->set_error(MessageOf(error_));
}

}  // namespace itemdb::storage
