#include "storage/engine/engine.h"

#include <algorithm>
#include <chrono>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/engine/ballast.h"

namespace itemdb::storage {
namespace {

constexpr auto kMaintenanceInterval = std::chrono::seconds(1);
// The copy of the catalog takes at most this part of the maintenance thread's time: with ten thousand tables
// it has 10 MB.
constexpr int kCatalogCopyShare = 50;
constexpr auto kReopenInterval = std::chrono::milliseconds(200);
// Expired client request tokens that the maintenance thread deletes in one commit: some milliseconds of work.
constexpr size_t kTokensDeletedAtOnce = 1'000;
constexpr size_t kMaxDdlQueue = 500;

// Deletes expired tokens while there are no new ones, whose groups do it too. Submitted below the free-space
// floor too: it frees space.
class DeleteExpiredTokens : public CommitUnit {
 public:
  size_t SizeBytes() const override { return sizeof(*this); }
  void Apply(CommitGroup& group) override { group.tokens().DeleteExpired(kTokensDeletedAtOnce); }
  void Complete(const absl::Status&, uint64_t) override {}
};

}  // namespace

Engine::Engine(DatabaseOptions options)
    : options_(std::move(options)), pinned_snapshots_(options_.max_pinned_snapshot_age) {
  env_ = rocksdb::Env::Default();
  if (options_.file_system != nullptr) {
    owned_env_ = rocksdb::NewCompositeEnv(options_.file_system);
    env_ = owned_env_.get();
  }
  catalog_copy_ = std::make_unique<CatalogCopy>(env_, options_.data_directory);
}

StoreOptions Engine::MakeStoreOptions() {
  StoreOptions store;
  store.env = env_;
  store.log = options_.log;
  store.block_cache_bytes = options_.block_cache_bytes;
  store.memtable_bytes = options_.memtable_bytes;
  store.sync_closed_logs = !options_.durable;
  store.on_opened = [this] {
    MutexLock lock(mutex_);
    ++open_stores_;
  };
  store.on_closed = [this] {
    MutexLock lock(mutex_);
    --open_stores_;
    changed_.NotifyAll();
  };
  return store;
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Open(DatabaseOptions options) {
  std::unique_ptr<Engine> engine(new Engine(std::move(options)));
  const DatabaseOptions& opts = engine->options_;
  ITEMDB_ASSIGN_OR_RETURN(engine->lock_, DirectoryLock::Acquire(engine->env_, opts.data_directory));
  ITEMDB_ASSIGN_OR_RETURN(Recovered recovered, OpenDirectory(opts.data_directory, engine->MakeStoreOptions(),
                                                             opts.recover_last_good));
  engine->needs_rebuild_ = recovered.needs_rebuild;
  engine->database_id_ = recovered.watermark.database_id;

  PipelineOptions pipeline;
  pipeline.durable = opts.durable;
  pipeline.max_queue_bytes = opts.max_queue_bytes;
  pipeline.max_item_collection_bytes = opts.max_item_collection_bytes;
  pipeline.clock_us = opts.clock_us;
  pipeline.on_time_entries = [cursors = &engine->ttl_cursors_](const std::vector<TimeEntry>& entries) {
    cursors->Add(entries);
  };
  pipeline.on_failure = [engine = engine.get()](const absl::Status& status) {
    engine->options_.log->error("a write failed; the store will be reopened error=\"{}\"", MessageOf(status));
    engine->Fail();
  };
  engine->change_waiters_ = std::make_unique<ChangeWaiters>(
      [engine = engine.get()] { return engine->pipeline_->durable_sequence(); });
  pipeline.change_waiters = engine->change_waiters_.get();
  engine->pipeline_ = std::make_unique<CommitPipeline>(std::move(pipeline));
  engine->io_ = std::make_unique<IoPool>(opts.io_threads, kMaxIoQueue);
  engine->ddl_thread_ = std::make_unique<IoPool>(1, kMaxDdlQueue);
  engine->Install(std::move(recovered));
  engine->reclaimer_ = std::make_unique<Reclaimer>(*engine);
  engine->maintenance_thread_.Start([engine = engine.get()] { engine->MaintenanceLoop(); });
  return engine;
}

std::shared_ptr<const Catalog> Engine::MakeCatalog(const std::vector<std::shared_ptr<Table>>& recovered) {
  for (const auto& table : recovered) {
    auto kept = kept_patterns_.find(table->storage_id);
    table->patterns = kept != kept_patterns_.end() ? std::move(kept->second) : NewPatterns();
  }
  kept_patterns_.clear();
  return std::make_shared<const Catalog>(
      std::vector<std::shared_ptr<const Table>>(recovered.begin(), recovered.end()));
}

std::shared_ptr<Store> Engine::CloseOnMaintenanceThread(std::shared_ptr<Store> store) {
  Store* const raw = store.get();
  return std::shared_ptr<Store>(raw, [this, store = std::move(store)](Store*) mutable {
    // All three lines hold the mutex: once it is released, the engine may be destroyed.
    MutexLock lock(mutex_);
    released_store_ = std::move(store);
    changed_.NotifyAll();
    maintenance_thread_.Wake();
  });
}

bool Engine::CloseReleasedStore() {
  std::shared_ptr<Store> released;
  {
    MutexLock lock(mutex_);
    released.swap(released_store_);
  }
  released.reset();
  MutexLock lock(mutex_);
  return open_stores_ == 0;
}

void Engine::Install(Recovered recovered) {
  recovered.start.store = CloseOnMaintenanceThread(std::move(recovered.start.store));
  watermark_sequence_ = recovered.watermark.sequence;
  low_watermark_.Reset(recovered.changes_start);
  recovered.start.catalog = MakeCatalog(recovered.tables);
  {
    MutexLock lock(mutex_);
    // A commit with an unknown outcome may have used storage ids that the catalog does not know.
    next_storage_id_ = std::max(next_storage_id_, recovered.next_storage_id);
    opened_storage_id_ = next_storage_id_;
  }
  pipeline_->Start(std::move(recovered.start));
}

Engine::~Engine() {
  if (pipeline_ == nullptr) return;  // Open failed.
  ddl_thread_->Stop();
  io_->Stop();
  maintenance_thread_.Stop();
  reclaimer_.reset();  // After the maintenance thread, which interrupts it.
  if (absl::Status synced = pipeline_->SyncNow(); !synced.ok()) {
    options_.log->error("the last writes could not be synced error=\"{}\"", MessageOf(synced));
  }
  CopyCatalog();
  if (absl::Status kept = AdvanceWatermark(); !kept.ok()) {
    options_.log->error("the watermark could not be written error=\"{}\"", MessageOf(kept));
  }
  pipeline_.reset();
  while (!CloseReleasedStore()) {
    MutexLock lock(mutex_);
    while (open_stores_ > 0 && released_store_ == nullptr) changed_.Wait(mutex_);
  }
}

absl::StatusOr<std::shared_ptr<const ReadView>> Engine::View() const {
  std::shared_ptr<const ReadView> view = pipeline_->view();
  if (view == nullptr) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the database is reopening after a failed write", 100);
  }
  return view;
}

absl::Status Engine::Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full) {
  if (disk_full_.load(std::memory_order_relaxed)) {
    ++refused_by_disk_;
    return DiskFullError("nothing was written");
  }
  return pipeline_->Submit(unit, when_full);
}

absl::Status Engine::DiskFullError(std::string_view what) const {
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull,
                   std::string(what) + ": the disk has less than " +
                       std::to_string(options_.free_space_floor_bytes) + " bytes free",
                   1000);
}

absl::Status Engine::CheckFreeSpace() const {
  uint64_t free_bytes = 0;
  if (!env_->GetFreeSpace(options_.data_directory, &free_bytes).ok() ||
      free_bytes >= options_.free_space_floor_bytes)
    return absl::OkStatus();
  return DiskFullError("it waits for space");
}

int64_t Engine::NowMicros() const {
  if (options_.clock_us) return options_.clock_us();
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t Engine::FreeDiskBytes() const {
  uint64_t bytes = 0;
  return env_->GetFreeSpace(options_.data_directory, &bytes).ok() ? bytes : 0;
}

uint64_t Engine::NewStorageId() {
  MutexLock lock(mutex_);
  return next_storage_id_++;
}

uint64_t Engine::next_storage_id() const {
  MutexLock lock(mutex_);
  return next_storage_id_;
}

bool Engine::IsFromBeforeOpening(uint64_t storage_id) const {
  MutexLock lock(mutex_);
  return storage_id < opened_storage_id_;
}

void Engine::StartBackgroundWork() {
  reclaimer_->Start();
  EnsureBallast(env_, options_.data_directory);
}

void Engine::SetOnReopened(std::function<void()> call) {
  MutexLock lock(mutex_);
  on_reopened_ = std::move(call);
}

bool Engine::IsFailed() const {
  MutexLock lock(mutex_);
  return failed_;
}

void Engine::MaintenanceLoop() {
  while (maintenance_thread_.WaitFor(IsFailed() ? kReopenInterval : kMaintenanceInterval)) {
    if (IsFailed()) {
      Reopen();
    } else {
      Maintain();
    }
  }
}

void Engine::Fail() {
  {
    MutexLock lock(mutex_);
    failed_ = true;
  }
  maintenance_thread_.Wake();
}

void Engine::Maintain() {
  pinned_snapshots_.ReleaseExpired();
  if (absl::Status synced = pipeline_->SyncNow(); !synced.ok()) {
    options_.log->error("relaxed writes could not be synced; the store will be reopened error=\"{}\"",
                        MessageOf(synced));
    Fail();
    return;
  }
  if (auto view = View(); view.ok()) {
    (*view)->store()->LiftWriteStallsAfterDamage();
    // A write would fail too, but there may be no write for a while.
    if ((*view)->store()->HasFailed()) {
      options_.log->error("RocksDB could not write its files; the store will be reopened");
      Fail();
      return;
    }
  }
  if (absl::Status kept = AdvanceWatermark(); !kept.ok()) {
    options_.log->warn("the watermark could not be written error=\"{}\"", MessageOf(kept));
  }
  if (const auto now = std::chrono::steady_clock::now(); now >= next_catalog_copy_) {
    CopyCatalog();
    next_catalog_copy_ = now + kCatalogCopyShare * (std::chrono::steady_clock::now() - now);
  }
  std::unique_ptr<CommitUnit> delete_expired = std::make_unique<DeleteExpiredTokens>();
  (void)pipeline_->Submit(delete_expired);  // Refused when the queue is full: tried again a second later.
  uint64_t free_bytes = 0;
  if (env_->GetFreeSpace(options_.data_directory, &free_bytes).ok()) {
    bool full = free_bytes < options_.free_space_floor_bytes;
    if (full != disk_full_.exchange(full)) {
      options_.log->warn("free space crossed the floor writes={} free_bytes={} floor_bytes={}",
                         full ? "refused" : "accepted", free_bytes, options_.free_space_floor_bytes);
    }
  }
}

void Engine::CopyCatalog() {
  const auto view = View();
  if (!view.ok()) return;
  if (absl::Status copied = catalog_copy_->Update(**view); !copied.ok())
    options_.log->warn("the copy of the catalog could not be written error=\"{}\"", MessageOf(copied));
}

absl::Status Engine::AdvanceWatermark() {
  uint64_t durable = pipeline_->durable_sequence();
  if (durable <= watermark_sequence_) return absl::OkStatus();
  DurabilityWatermark next;
  next.database_id = database_id_;
  next.sequence = durable;
  ITEMDB_RETURN_IF_ERROR(WriteWatermark(env_, options_.data_directory, next));
  watermark_sequence_ = durable;
  return absl::OkStatus();
}

void Engine::Reopen() {
  if (auto view = View(); view.ok()) {
    for (const auto& table : (*view)->catalog()) kept_patterns_.emplace(table->storage_id, table->patterns);
  }
  pipeline_->Stop(MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                            "the database is reopening after a failed write; nothing was written", 100));
  reclaimer_->Interrupt();
  // Wait until no reader has a view: pages are bounded, and a check stops when IsFailed() is true. Snapshots
  // are released in each round, as one of an old view may have been pinned since.
  while (true) {
    pinned_snapshots_.ReleaseAll();
    if (CloseReleasedStore()) break;
    if (!maintenance_thread_.WaitFor(kMaintenanceInterval)) return;
  }
  absl::StatusOr<Recovered> recovered =
      OpenDirectory(options_.data_directory, MakeStoreOptions(), /*recover_last_good=*/false);
  if (!recovered.ok()) {
    options_.log->error("the store cannot be reopened yet error=\"{}\"", MessageOf(recovered.status()));
    return;  // MaintenanceLoop tries again, as failed_ is still set.
  }
  {
    MutexLock lock(mutex_);
    failed_ = false;
  }
  Install(*std::move(recovered));
  options_.log->warn("the store was reopened change_sequence={}", pipeline_->view()->change_sequence());
  std::function<void()> on_reopened;
  {
    MutexLock lock(mutex_);
    on_reopened = on_reopened_;
  }
  if (on_reopened) on_reopened();
}

}  // namespace itemdb::storage
