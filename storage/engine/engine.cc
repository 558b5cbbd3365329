#include "storage/engine/engine.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "spdlog/spdlog.h"
#include "storage/base/limits.h"
#include "storage/engine/commit_and_wait.h"
#include "storage/engine/damage_owners.h"
#include "storage/engine/key_rotation.h"
#include "storage/store/spare_log.h"

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

std::string ArchiveDirectory(const DatabaseOptions& options) {
  return options.archive_directory.empty() ? options.data_directory + "/archive" : options.archive_directory;
}

// The clocks of the options, which are for tests. A wall clock without a boot clock never jumps.
std::shared_ptr<TimeOfDay> MakeTimeOfDay(const DatabaseOptions& options) {
  if (!options.clock_us) return std::make_shared<TimeOfDay>();
  return std::make_shared<TimeOfDay>(
      TimeOfDay::Clocks{.wall_us = options.clock_us,
                        .boot_us = options.boot_clock_us ? options.boot_clock_us : options.clock_us});
}

std::unique_ptr<rocksdb::Env> MakeSpareLogEnv(const DatabaseOptions& options,
                                              const Environment& environment) {
  if (!options.durable || !options.encryption_keys.empty() || options.spare_log_after_bytes == 0)
    return nullptr;
  SpareLogOptions spare;
  spare.directory = options.data_directory;
  spare.after_bytes = options.spare_log_after_bytes;
  spare.free_space_floor_bytes = options.free_space_floor_bytes;
  return rocksdb::NewCompositeEnv(
      std::make_shared<SpareLogFileSystem>(environment.plain()->GetFileSystem(), std::move(spare)));
}

}  // namespace

Engine::Engine(DatabaseOptions options, std::unique_ptr<Environment> environment,
               std::unique_ptr<DirectoryLock> lock)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      spare_log_env_(MakeSpareLogEnv(options_, *environment_)),
      time_of_day_(MakeTimeOfDay(options_)),
      disk_space_(env(), options_.data_directory, options_.free_space_floor_bytes, options_.log),
      damage_(std::make_shared<DamageRegister>()),
      store_counters_(std::make_shared<StoreCounters>()),
      lock_(std::move(lock)),
      pinned_snapshots_(options_.max_pinned_snapshot_age) {
  catalog_copy_ = std::make_unique<CatalogCopy>(env(), options_.data_directory);
}

StoreOptions Engine::MakeStoreOptions() {
  StoreOptions store;
  store.env = spare_log_env_ == nullptr ? env() : spare_log_env_.get();
  store.log = options_.log;
  store.block_cache_bytes = options_.block_cache_bytes;
  store.memtable_bytes = options_.memtable_bytes;
  store.damage = damage_;
  store.counters = store_counters_;
  store.compaction_pause = options_.compaction_pause;
  store.compacts = options_.compacts;
  store.sync_closed_logs = !options_.durable;
  if (CommitArchive* const archive = this->archive(); archive != nullptr) {
    store.on_logged_batch = [archive](const rocksdb::WriteBatch& batch, uint32_t changes_family) {
      archive->AddLogged(batch, changes_family);
    };
    store.before_opening = [archive] { archive->WriteLogged(); };
  }
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
  auto environment = std::make_unique<Environment>(options.file_system);
  ITEMDB_ASSIGN_OR_RETURN(auto lock, DirectoryLock::Acquire(environment->plain(), options.data_directory));
  ITEMDB_RETURN_IF_ERROR(environment->Open(options.data_directory, options.encryption_keys));
  // A new directory, in which nothing may be written before.
  if (!IsEncrypted(options.data_directory)) ITEMDB_RETURN_IF_ERROR(environment->Mark(options.data_directory));
  std::unique_ptr<Engine> engine(new Engine(std::move(options), std::move(environment), std::move(lock)));
  const DatabaseOptions& opts = engine->options_;
  ITEMDB_RETURN_IF_ERROR(engine->OpenArchive());
  ITEMDB_ASSIGN_OR_RETURN(Recovered recovered, OpenDirectory(opts.data_directory, engine->MakeStoreOptions(),
                                                             opts.recover_last_good));
  // Not before: a directory that is refused is unchanged. A killed process may have left a spare.
  (void)engine->environment_->plain()->DeleteFile(opts.data_directory + "/" + kSpareLogFileName);
  // The keys of this opening.
  ITEMDB_RETURN_IF_ERROR(engine->environment_->Mark(opts.data_directory));
  engine->needs_rebuild_ = recovered.needs_rebuild;
  engine->database_id_ = recovered.watermark.database_id;
  engine->opened_sequence_ = recovered.start.next_sequence - 1;

  PipelineOptions pipeline;
  pipeline.durable = opts.durable;
  pipeline.max_queue_bytes = opts.max_queue_bytes;
  pipeline.max_item_collection_bytes = opts.max_item_collection_bytes;
  pipeline.time_of_day = engine->time_of_day_;
  pipeline.on_time_entries = [cursors = &engine->ttl_cursors_](const std::vector<TimeEntry>& entries) {
    cursors->Add(entries);
  };
  engine->synced_sequence_ = SyncedSequence::Open(opts.data_directory);
  if (engine->synced_sequence_ != nullptr && opts.durable) {
    pipeline.on_synced = [synced = engine->synced_sequence_.get()](uint64_t sequence) {
      synced->Store(sequence);
    };
  }
  pipeline.on_written = [engine = engine.get()](WrittenGroup group) {
    if (CommitArchive* const archive = engine->archive(); archive != nullptr) archive->Add(std::move(group));
  };
  if (engine->options_.standby_acknowledge) {
    pipeline.await_standby = [engine = engine.get(), was_ok = true](uint64_t change) mutable {
      CommitArchive* const archive = engine->archive();
      if (archive == nullptr) return absl::OkStatus();
      absl::Status waited = archive->acknowledgements().Await(change);
      if (was_ok && !waited.ok())
        engine->options_.log->error("no standby acknowledges writes: they are refused until one answers");
      if (!was_ok && waited.ok()) engine->options_.log->info("a standby acknowledges writes again");
      was_ok = waited.ok();
      return waited;
    };
  }
  pipeline.on_failure = [engine = engine.get()](const absl::Status& status) {
    engine->options_.log->error("a write failed; the store will be reopened error={}", MessageOf(status));
    engine->Fail();
  };
  engine->change_waiters_ = std::make_unique<ChangeWaiters>(
      [engine = engine.get()] { return engine->pipeline_->durable_sequence(); });
  pipeline.change_waiters = engine->change_waiters_.get();
  engine->pipeline_ = std::make_unique<CommitPipeline>(std::move(pipeline));
  engine->io_ = std::make_unique<IoPool>(opts.io_threads, kMaxIoQueue);
  engine->ddl_thread_ = std::make_unique<IoPool>(1, kMaxDdlQueue);
  engine->disk_space_.Update();
  engine->Install(std::move(recovered));
  // RocksDB has written what it replayed to table files. A process that is killed each second must not leave
  // the watermark where it was.
  if (absl::Status kept = engine->AdvanceWatermark(); !kept.ok())
    opts.log->warn("the watermark could not be written error={}", MessageOf(kept));
  ITEMDB_RETURN_IF_ERROR(RewriteSmallFiles(*engine->environment_, opts.data_directory));
  engine->reclaimer_ = std::make_unique<Reclaimer>(*engine);
  engine->FenceIfPromoted();
  engine->maintenance_thread_.Start([engine = engine.get()] { engine->MaintenanceLoop(); });
  return engine;
}

std::unique_ptr<CommitArchive> Engine::MakeArchive() {
  CommitArchiveOptions archive;
  archive.directory = ArchiveDirectory(options_);
  archive.environment = environment_.get();
  archive.log = options_.log;
  archive.max_queue_bytes = options_.archive_queue_bytes;
  archive.interval = options_.archive_interval;
  archive.writes_at_once = options_.standby_acknowledge;
  archive.on_promotion = [this](const Promotion& promotion) { return Fence(promotion); };
  archive.sync = [this] {
    // While the store is reopened, nobody can say what is durable.
    ITEMDB_RETURN_IF_ERROR(pipeline_->SyncNow());
    return View().status();
  };
  if (options_.archive_directory.empty()) archive.check_space = [this] { return disk_space_.CheckNow(); };
  return std::make_unique<CommitArchive>(std::move(archive));
}

absl::Status Engine::OpenArchive() {
  // A standby begins one when it is promoted.
  if (!options_.standby_archive.empty()) return absl::OkStatus();
  // An archive in the data directory was begun by StartArchive.
  if (options_.archive_directory.empty() && !std::filesystem::exists(ArchiveDirectory(options_)))
    return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(const auto watermark, ReadWatermark(env(), options_.data_directory));
  archive_ = MakeArchive();
  archive_pointer_ = archive_.get();
  return archive_->Open(watermark.has_value() ? watermark->database_id : std::string());
}

absl::Status Engine::StartArchive() {
  if (archive() != nullptr) return absl::OkStatus();
  const bool is_new = !std::filesystem::exists(ArchiveDirectory(options_));
  archive_ = MakeArchive();
  absl::Status started = archive_->Open(database_id_);
  if (started.ok()) {
    // In the pipeline nothing is written meanwhile: its own group is the first that the archive gets.
    const auto start = [this](CommitGroup& group) -> absl::Status {
      ITEMDB_ASSIGN_OR_RETURN(const auto view, View());
      TellArchive(*view->store(), view->change_sequence(), group.commit_time_us());
      return absl::OkStatus();
    };
    started = CommitAndWait(*this, start, {.origin = WriteOrigin::kUpkeep}).status();
  }
  if (archive() != nullptr) {
    FenceIfPromoted();
    return absl::OkStatus();
  }
  archive_.reset();
  // Otherwise the next opening would go on with it.
  std::error_code ignored;
  if (is_new) std::filesystem::remove_all(ArchiveDirectory(options_), ignored);
  return started;
}

void Engine::TellArchive(const Store& store, uint64_t change, int64_t commit_time_us) {
  StorePosition position;
  position.database_id = database_id_;
  if (const rocksdb::Status known = store.db()->GetDbIdentity(position.store_id); !known.ok()) {
    options_.log->error("the archive cannot be used for restoring: the store has no identity error={}",
                        known.ToString());
  }
  position.sequence = store.db()->GetLatestSequenceNumber();
  position.change = change;
  position.commit_time_us = commit_time_us;
  archive_->Opened(position);
  archive_pointer_ = archive_.get();
}

std::shared_ptr<const Catalog> Engine::MakeCatalog(const std::vector<std::shared_ptr<Table>>& recovered) {
  for (const auto& table : recovered) {
    const auto kept = kept_tables_.find(table->storage_id);
    table->patterns = kept != kept_tables_.end() ? kept->second->patterns : NewPatterns();
    if (kept != kept_tables_.end()) ShareUsedUnits(*kept->second, table.get());
  }
  kept_tables_.clear();
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
  if (archive() != nullptr) {
    TellArchive(*recovered.start.store, recovered.start.next_sequence - 1,
                recovered.start.last_commit_time_us);
  }
  recovered.start.store = CloseOnMaintenanceThread(std::move(recovered.start.store));
  watermark_sequence_ = recovered.watermark.sequence;
  trim_horizon_.Reset(recovered.changes_start);
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
  pipeline_->Drain(MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is closing"));
  if (absl::Status synced = pipeline_->SyncNow(); !synced.ok()) {
    options_.log->error("the last writes could not be synced error={}", MessageOf(synced));
  }
  CopyCatalog();
  if (absl::Status kept = AdvanceWatermark(); !kept.ok()) {
    options_.log->error("the watermark could not be written error={}", MessageOf(kept));
  }
  if (const auto view = View(); view.ok()) LogDamage(**view);
  if (archive() != nullptr) archive()->Stop();
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

absl::Status Engine::Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full, WriteSpace space,
                            WriteOrigin origin) {
  if (origin == WriteOrigin::kClient) {
    ITEMDB_RETURN_IF_ERROR(CheckWrites());
    unit->waits_for_standby = options_.standby_acknowledge;
  }
  ITEMDB_RETURN_IF_ERROR(disk_space_.CheckWrite(space));
  return pipeline_->Submit(unit, when_full);
}

absl::Status Engine::CheckWrites() const {
  if (refuses_writes_.load(std::memory_order_acquire)) ITEMDB_RETURN_IF_ERROR(WriteRefusal());
  if (!options_.standby_acknowledge || archive() == nullptr) return absl::OkStatus();
  return archive()->acknowledgements().CheckStandby();
}

void Engine::RefuseWrites(absl::Status reason) {
  MutexLock lock(mutex_);
  write_refusal_ = std::move(reason);
  refuses_writes_ = !write_refusal_.ok();
}

absl::Status Engine::WriteRefusal() const {
  MutexLock lock(mutex_);
  return write_refusal_;
}

absl::Status Engine::BeginFence(const Promotion& promotion) {
  {
    MutexLock lock(mutex_);
    if (!fenced_by_.has_value()) {
      fenced_by_ = promotion;
      options_.log->error(
          "a standby of this database was promoted: no more writes are accepted, reads go on standby={} "
          "promoted_at_change={}",
          promotion.database_id, promotion.change_sequence);
    } else if (fenced_by_->database_id != promotion.database_id) {
      return FencedError(*fenced_by_, archive()->directory());
    }
  }
  RefuseWrites(FencedError(promotion, archive()->directory()));
  archive()->acknowledgements().End();
  return absl::OkStatus();
}

absl::Status Engine::Fence(const Promotion& promotion) {
  ITEMDB_RETURN_IF_ERROR(BeginFence(promotion));
  // Everything that was accepted before is committed when this is.
  const absl::Status drained =
      CommitAndWait(
          *this, [](CommitGroup&) { return absl::OkStatus(); },
          {.when_full = WhenFull::kWait, .space = WriteSpace::kFrees, .origin = WriteOrigin::kUpkeep})
          .status();
  MutexLock fencing(fencing_);
  absl::Status written = drained.ok() ? archive()->WriteNow() : drained;
  if (written.ok()) written = WriteFenced(env(), archive()->directory());
  if (!written.ok()) {
    options_.log->error("the archive could not be finished for the promoted standby error={}",
                        MessageOf(written));
  }
  return written;
}

void Engine::FenceIfPromoted() {
  // Its thread looks again when the file system answers.
  if (archive() == nullptr || !archive()->CheckAnswers().ok()) return;
  const auto promotion = ReadPromotion(env(), archive()->directory());
  if (!promotion.ok()) return;  // The archive cannot be read; its thread looks again.
  if (promotion->has_value()) {
    (void)Fence(**promotion);
    return;
  }
  DeleteFenced(env(), archive()->directory());
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

void Engine::SkipStorageIds(uint64_t next) {
  MutexLock lock(mutex_);
  next_storage_id_ = std::max(next_storage_id_, next);
}

void Engine::CountAllAsFromBeforeOpening() {
  MutexLock lock(mutex_);
  opened_storage_id_ = next_storage_id_;
}

void Engine::ReplaceStore(std::function<absl::Status()> install) {
  {
    MutexLock lock(mutex_);
    install_ = std::move(install);
  }
  Fail();
}

absl::Status Engine::FlushBeforeStop(std::chrono::milliseconds timeout, const Cancellation& cancellation) {
  ITEMDB_RETURN_IF_ERROR(disk_space_.CheckNow());
  ITEMDB_ASSIGN_OR_RETURN(auto view, View());
  return view->store()->FlushMemtables(timeout, cancellation);
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

void Engine::WatchClock() {
  const auto jump = std::chrono::duration_cast<std::chrono::seconds>(time_of_day_->Jump());
  const bool jumped = jump.count() != 0;
  if (std::exchange(clock_jumped_, jumped) == jumped) return;
  if (jumped) {
    options_.log->warn(
        "the clock jumped; changes are not trimmed by age and items do not expire until it is set back or "
        "has "
        "kept its new time for {} minutes jump_seconds={}",
        TimeOfDay::kSettleTime.count(), jump.count());
  } else {
    options_.log->info("changes are trimmed by age and items expire again, after the clock jumped");
  }
}

void Engine::Maintain() {
  WatchClock();
  pinned_snapshots_.ReleaseExpired();
  if (absl::Status synced = pipeline_->SyncNow(); !synced.ok()) {
    options_.log->error("relaxed writes could not be synced; the store will be reopened error={}",
                        MessageOf(synced));
    Fail();
    return;
  }
  if (auto view = View(); view.ok()) {
    (*view)->store()->KeepManifestMark();
    RecheckFailedRead(**view);
    LogDamage(**view);
    if (CommitArchive* const archive = this->archive(); archive != nullptr) archive->LogIfStuck();
    // A write would fail too, but there may be no write for a while.
    if ((*view)->store()->HasFailed()) {
      options_.log->error("RocksDB could not write its files; the store will be reopened");
      Fail();
      return;
    }
  }
  if (absl::Status kept = AdvanceWatermark(); !kept.ok()) {
    options_.log->warn("the watermark could not be written error={}", MessageOf(kept));
  }
  if (const auto now = std::chrono::steady_clock::now(); now >= next_catalog_copy_) {
    CopyCatalog();
    next_catalog_copy_ = now + kCatalogCopyShare * (std::chrono::steady_clock::now() - now);
  }
  // A standby deletes those that its primary deletes.
  if (!refuses_writes_) {
    std::unique_ptr<CommitUnit> delete_expired = std::make_unique<DeleteExpiredTokens>();
    (void)pipeline_->Submit(delete_expired);  // Refused when the queue is full: tried again a second later.
  }
  disk_space_.Update();
  disk_space_.KeepBallast();
}

void Engine::RecheckFailedRead(const ReadView& view) {
  if (rechecking_.exchange(true)) return;
  std::function<std::optional<Damage>()> recheck = view.store()->RecheckOfFailedRead();
  if (recheck == nullptr) {
    rechecking_ = false;
    return;
  }
  // Has no view, as a reopening waits until nobody has one.
  IoPool::Task task = [this, recheck = std::move(recheck)] {
    if (const std::optional<Damage> read = recheck(); read.has_value()) {
      options_.log->warn(
          "a read of a table file failed, and succeeded when it was repeated; if that happens again, the "
          "disk may be failing file={} offset={} error={}",
          read->place.file, read->place.offset, read->error);
    }
    rechecking_ = false;
  };
  if (!io_->Submit(task, IoPriority::kLong)) rechecking_ = false;  // The pool is full: a second later.
}

void Engine::LogDamage(const ReadView& view) {
  const CompactionPauses::Changes pauses =
      view.store()->PauseCompactionsAfterDamage(std::chrono::steady_clock::now());
  for (const DamagedFile& file : view.store()->TakeNewDamage()) {
    for (const Damage& block : file.blocks) {
      options_.log->error(
          "damage: a block of a table file cannot be read; reads of its records fail, everything else goes "
          "on "
          "file={} offset={} file_bytes={} family={} owner={} met_by={} error={} "
          "next=\"'itemctl damage list' names the keys; restore a backup, or remove single items with "
          "'itemctl damage discard'\"",
          file.name, block.place.offset, file.bytes, file.family, OwnersOf(view.catalog(), file),
          NameOf(block.met_by), block.error);
    }
  }
  for (const std::string& family : pauses.ended)
    options_.log->info("compactions of a column family that met damage succeed again family={}", family);
  for (const std::string& family : pauses.begun) {
    options_.log->warn(
        "compactions of a column family met damage and are tried again less and less often; writes go on, "
        "reads become slower family={}",
        family);
  }
}

void Engine::CopyCatalog() {
  const auto view = View();
  if (!view.ok()) return;
  if (absl::Status copied = catalog_copy_->Update(**view); !copied.ok())
    options_.log->warn("the copy of the catalog could not be written error={}", MessageOf(copied));
}

absl::Status Engine::AdvanceWatermark() {
  uint64_t durable = pipeline_->durable_sequence();
  if (durable <= watermark_sequence_) return absl::OkStatus();
  DurabilityWatermark next;
  next.database_id = database_id_;
  next.sequence = durable;
  ITEMDB_RETURN_IF_ERROR(WriteWatermark(env(), options_.data_directory, next));
  watermark_sequence_ = durable;
  return absl::OkStatus();
}

absl::Status Engine::CheckReopening() const {
  const auto view = View();
  // The store is closed already: an earlier attempt to open it failed.
  if (!view.ok()) return absl::OkStatus();
  return disk_space_.CheckOpening((*view)->store()->MeasureUsage().write_ahead_log);
}

absl::Status Engine::InstallReplacement() {
  std::function<absl::Status()> install;
  {
    MutexLock lock(mutex_);
    install = install_;
  }
  if (!install) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(install());
  ITEMDB_ASSIGN_OR_RETURN(const auto watermark, ReadWatermark(env(), options_.data_directory));
  // The other store may be at an earlier change.
  if (watermark.has_value() && synced_sequence_ != nullptr) {
    for (int slot = 0; slot < 2; ++slot) synced_sequence_->Store(watermark->sequence);
  }
  MutexLock lock(mutex_);
  install_ = nullptr;
  return absl::OkStatus();
}

void Engine::Reopen() {
  // Until then reads go on in the view from before the failed write.
  if (absl::Status possible = CheckReopening(); !possible.ok()) {
    pipeline_->Refuse(MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                                "nothing was written: after a failed write the database waits until it can "
                                "write again (" +
                                    MessageOf(possible) + ")",
                                1000));
    if (!std::exchange(waits_for_disk_, true)) {
      options_.log->error("the store cannot be reopened yet; reads go on, writes are refused error={}",
                          MessageOf(possible));
    }
    return;  // MaintenanceLoop tries again, as failed_ is still set.
  }
  waits_for_disk_ = false;
  if (auto view = View(); view.ok()) {
    for (const auto& table : (*view)->catalog()) kept_tables_.emplace(table->storage_id, table);
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
  disk_space_.Update();
  if (absl::Status installed = InstallReplacement(); !installed.ok()) {
    options_.log->error("the store could not be replaced error={}", MessageOf(installed));
    return;  // MaintenanceLoop tries again, as failed_ is still set.
  }
  absl::StatusOr<Recovered> recovered =
      OpenDirectory(options_.data_directory, MakeStoreOptions(), /*recover_last_good=*/false);
  if (!recovered.ok()) {
    options_.log->error("the store could not be reopened error={}", MessageOf(recovered.status()));
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
