#include "storage/indexes/index_builds.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <vector>

#include "spdlog/spdlog.h"
#include "storage/indexes/backfill.h"

namespace itemdb::storage {
namespace {

// The wait after the first failed attempt, and the longest one.
constexpr auto kFirstRetryInterval = std::chrono::milliseconds(500);
constexpr auto kMaxRetryInterval = std::chrono::minutes(1);
// Attempts of an index with saved state before another index gets its turn.
constexpr int kAttemptsInARow = 5;

// Whether the next attempt may resume from the sorted files. Not on a full disk: these files may fill it.
bool CanResume(const absl::Status& status) {
  return !status.ok() && !absl::IsNotFound(status) && !absl::IsDataLoss(status) &&
         ReasonOf(status) != kReasonDiskFull;
}

}  // namespace

IndexBuilds::IndexBuilds(Engine& engine) : engine_(engine), directory_(BuildDirectory(engine.options())) {
  // In the constructor, so that the changes are pinned before the first trimming.
  std::optional<BuildState> state = ReadBuildState(engine.env(), directory_);
  auto view = engine.View();
  if (!state.has_value() || !view.ok() || state->database_id != engine.database_id() ||
      state->last_view_sequence > (*view)->change_sequence())
    return;
  auto pinned = engine.trim_horizon().Pin(state->first_pinned_change);
  if (!pinned.ok()) return;
  pinned_changes_ = *std::move(pinned);
  state_ = std::move(state);
}

void IndexBuilds::Start() {
  thread_.Start([this] { Loop(); });
}

void IndexBuilds::Poll() { thread_.Wake(); }

void IndexBuilds::Stop() {
  cancellation_->Cancel();
  thread_.Stop();
  pinned_changes_.reset();
}

void IndexBuilds::Loop() {
  Time poll_at;  // The first poll is at once.
  while (thread_.WaitUntil(poll_at)) {
    poll_at = Time::max();
    std::optional<BuildingIndex> next = Next(&poll_at);
    if (!next.has_value()) continue;
    RunAttempt(*std::move(next));
    poll_at = Time();  // Poll for the next index at once.
  }
}

std::optional<BuildingIndex> IndexBuilds::Next(Time* poll_at) {
  const Time now = std::chrono::steady_clock::now();
  std::vector<BuildingIndex> all;
  if (auto view = engine_.View(); view.ok()) {
    all = BuildingIndexes((*view)->catalog());
  } else {
    *poll_at = now + kFirstRetryInterval;  // The store is being reopened.
    return std::nullopt;
  }
  const auto is_state_of = [this](const BuildingIndex& one) {
    return state_->index_storage_id == one.storage_id && state_->table_storage_id == one.table_storage_id;
  };
  if (state_.has_value() && std::none_of(all.begin(), all.end(), is_state_of)) DiscardState();
  if (all.empty()) RemoveFiles();

  MutexLock lock(mutex_);
  std::erase_if(failures_, [&all](const auto& failure) {
    return std::none_of(all.begin(), all.end(), [&failure](const BuildingIndex& one) {
      return std::pair(one.table_name, one.index_name) == failure.first;
    });
  });
  // The interrupted backfill comes first.
  if (state_.has_value()) std::stable_partition(all.begin(), all.end(), is_state_of);
  for (BuildingIndex& one : all) {
    const auto failed = failures_.find({one.table_name, one.index_name});
    if (failed == failures_.end() || failed->second.retry_at <= now) return std::move(one);
    *poll_at = std::min(*poll_at, failed->second.retry_at);
    // Wait for its retry: a backfill of another index would replace its state and delete its sorted files.
    if (state_.has_value() && is_state_of(one) && failed->second.attempts < kAttemptsInARow)
      return std::nullopt;
  }
  return std::nullopt;
}

void IndexBuilds::RunAttempt(BuildingIndex building) {
  const absl::Status status = TryBackfill(&building);
  // A state without files saves nothing, and after a reopening the store may have fewer changes than the
  // state says.
  if (!CanResume(status) || (state_.has_value() && state_->runs.runs.empty())) DiscardState();
  RemoveFiles();
  SetProgress(nullptr, 0);
  const std::pair<std::string, std::string> name(building.table_name, building.index_name);
  // OK: done. NOT_FOUND: the index was deleted. CANCELLED: resumes after a restart.
  const bool has_failed = !status.ok() && !absl::IsNotFound(status) && !absl::IsCancelled(status);
  if (status.ok())
    engine_.options().log->info("index backfill finished table={} index={}", name.first, name.second);
  if (has_failed) {
    engine_.options().log->warn("index backfill failed and will be retried table={} index={} error={}",
                                name.first, name.second, MessageOf(status));
  }
  MutexLock lock(mutex_);
  if (!has_failed) {
    failures_.erase(name);
    return;
  }
  Failure& failure = failures_[name];
  const auto wait = std::min<std::chrono::milliseconds>(
      kFirstRetryInterval * (1 << std::min(failure.attempts, 10)), kMaxRetryInterval);
  ++failure.attempts;
  failure.error = MessageOf(status);
  failure.storage_id = building.storage_id;
  failure.retry_at = std::chrono::steady_clock::now() + wait;
}

absl::Status IndexBuilds::TryBackfill(BuildingIndex* building) {
  const auto progress = std::make_shared<BuildProgress>();
  ITEMDB_RETURN_IF_ERROR(engine_.disk_space().CheckNow());
  ITEMDB_RETURN_IF_ERROR(StartOrResume(*building));
  if (engine_.IsFromBeforeOpening(building->storage_id) || used_storage_ids_.contains(building->storage_id)) {
    ITEMDB_ASSIGN_OR_RETURN(*building, AssignNewStorageId(engine_, *building));
    state_->index_storage_id = building->storage_id;
    if (!state_->runs.runs.empty()) {
      // The commit must be durable before the state names the new id: a power cut could free the id again.
      ITEMDB_RETURN_IF_ERROR(engine_.SyncNow());
      ITEMDB_RETURN_IF_ERROR(WriteBuildState(engine_.env(), directory_, *state_));
    }
  }
  used_storage_ids_.insert(building->storage_id);
  SetProgress(progress, building->storage_id);
  (void)engine_.env()->CreateDirIfMissing(directory_);
  std::optional<CacheReservation> memory_for_sorting;
  if (auto view = engine_.View(); view.ok())
    memory_for_sorting.emplace((*view)->store(), engine_.options().index_build_bytes);
  return BackfillIndex(engine_, *building, directory_, cancellation_, *progress, &*state_);
}

absl::Status IndexBuilds::StartOrResume(const BuildingIndex& building) {
  if (state_.has_value() && state_->index_storage_id != building.storage_id) DiscardState();
  if (state_.has_value()) {
    engine_.options().log->info("index backfill resumed table={} index={} items_read={}", building.table_name,
                                building.index_name, state_->items_read);
    return absl::OkStatus();
  }
  RemoveFiles();
  engine_.options().log->info("index backfill started table={} index={}", building.table_name,
                              building.index_name);
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
  BuildState state;
  state.database_id = engine_.database_id();
  state.table_storage_id = building.table_storage_id;
  state.index_storage_id = building.storage_id;
  state.first_pinned_change = view->change_sequence() + 1;
  ITEMDB_ASSIGN_OR_RETURN(pinned_changes_, engine_.trim_horizon().Pin(state.first_pinned_change));
  state_ = std::move(state);
  return absl::OkStatus();
}

void IndexBuilds::DiscardState() {
  state_.reset();
  pinned_changes_.reset();
}

void IndexBuilds::SetProgress(std::shared_ptr<BuildProgress> progress, uint64_t storage_id) {
  MutexLock lock(mutex_);
  progress_ = std::move(progress);
  storage_id_ = storage_id;
}

void IndexBuilds::RemoveFiles() {
  std::vector<std::string> names;
  if (!engine_.env()->GetChildren(directory_, &names).ok()) return;
  std::set<std::string> kept = {".", ".."};
  if (state_.has_value() && !state_->runs.runs.empty()) {
    kept.insert(kBuildStateFileName);
    for (const SortedRuns::Run& run : state_->runs.runs) kept.insert(FileNameOf(run.path));
  }
  for (const std::string& name : names) {
    if (!kept.contains(name)) (void)engine_.env()->DeleteFile(directory_ + "/" + name);
  }
  if (kept.size() > 2) return;
  (void)engine_.env()->DeleteDir(directory_);
}

void IndexBuilds::Describe(v1::TableDescription* table) const {
  for (auto& index : *table->mutable_global_secondary_indexes()) {
    if (index.index_status() == v1::TABLE_STATUS_CREATING)
      *index.mutable_build() = Describe(index.storage_id());
  }
  for (auto& index : *table->mutable_vector_indexes()) {
    if (index.index_status() == v1::TABLE_STATUS_CREATING)
      *index.mutable_build() = Describe(index.storage_id());
  }
}

v1::IndexBuild IndexBuilds::Describe(uint64_t storage_id) const {
  MutexLock lock(mutex_);
  v1::IndexBuild build;
  if (progress_ != nullptr && storage_id_ == storage_id) {
    build = progress_->Describe();
  } else {
    build.set_phase(v1::IndexBuild::PHASE_WAITING);
  }
  for (const auto& [name, failure] : failures_) {
    if (failure.storage_id == storage_id) build.set_last_error(failure.error);
  }
  return build;
}

}  // namespace itemdb::storage
