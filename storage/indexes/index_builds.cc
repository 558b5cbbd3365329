#include "storage/indexes/index_builds.h"

#include <chrono>
#include <vector>

#include "spdlog/spdlog.h"
#include "storage/indexes/backfill.h"

namespace itemdb {
namespace {

// Before a failed attempt is made again.
constexpr auto kRetryInterval = std::chrono::milliseconds(500);

}  // namespace

IndexBuilds::IndexBuilds(Engine& engine)
    : engine_(engine), directory_(engine.options().data_directory + "/builds") {}

void IndexBuilds::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void IndexBuilds::LookForWork() {
  MutexLock lock(mutex_);
  look_ = true;
  changed_.NotifyAll();
}

void IndexBuilds::Stop() {
  if (!thread_.joinable()) return;
  cancellation_->Cancel();
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void IndexBuilds::Loop() {
  RemoveFiles();
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!look_ && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      look_ = false;
    }
    absl::StatusOr<bool> filled = FillNext();
    const bool failed = !filled.ok() && !absl::IsCancelled(filled.status());
    if (failed)
      engine_.options().log->warn("an index could not be filled yet error=\"{}\"",
                                  MessageOf(filled.status()));
    MutexLock lock(mutex_);
    progress_ = nullptr;
    storage_id_ = 0;
    last_error_ = failed ? MessageOf(filled.status()) : "";
    if (failed && !stopping_) changed_.WaitFor(mutex_, kRetryInterval);
    // Again, or another one that waits.
    if (failed || (filled.ok() && *filled)) look_ = true;
  }
}

absl::StatusOr<bool> IndexBuilds::FillNext() {
  std::optional<BuildingIndex> building;
  {
    ITEMDB_ASSIGN_OR_RETURN(auto view, engine_.View());
    building = NextBuildingIndex(view->catalog());
    if (!building.has_value()) return false;
  }
  absl::Status status;
  if (engine_.IsFromBeforeOpening(building->storage_id) || building->storage_id == used_storage_id_) {
    absl::StatusOr<BuildingIndex> renewed = GiveNewStorageId(engine_, *building);
    status = renewed.status();
    if (renewed.ok()) building = *std::move(renewed);
  }
  if (status.ok()) {
    used_storage_id_ = building->storage_id;
    auto progress = std::make_shared<BuildProgress>();
    {
      MutexLock lock(mutex_);
      progress_ = progress;
      storage_id_ = building->storage_id;
    }
    engine_.options().log->info("filling an index table={} index={}", building->table_name,
                                building->index_name);
    (void)engine_.env()->CreateDirIfMissing(directory_);
    const auto bytes = static_cast<int64_t>(engine_.options().index_build_bytes);
    // Weak: the store can only be reopened when nobody holds it.
    std::weak_ptr<Store> store;
    if (auto view = engine_.View(); view.ok()) {
      (*view)->store()->TakeFromCache(bytes);
      store = (*view)->store();
    }
    status = FillIndex(engine_, *building, directory_, cancellation_, *progress);
    if (auto held = store.lock(); held != nullptr) held->TakeFromCache(-bytes);
    RemoveFiles();
  }
  if (absl::IsNotFound(status)) return true;  // It was deleted: on to the next.
  if (!status.ok()) return status;
  engine_.options().log->info("an index is filled table={} index={}", building->table_name,
                              building->index_name);
  return true;
}

void IndexBuilds::RemoveFiles() {
  std::vector<std::string> names;
  if (!engine_.env()->GetChildren(directory_, &names).ok()) return;
  for (const std::string& name : names) {
    if (name != "." && name != "..") (void)engine_.env()->DeleteFile(directory_ + "/" + name);
  }
  (void)engine_.env()->DeleteDir(directory_);
}

void IndexBuilds::Describe(v1::TableDescription* table) const {
  for (auto& index : *table->mutable_global_secondary_indexes()) {
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
  build.set_last_error(last_error_);
  return build;
}

}  // namespace itemdb
