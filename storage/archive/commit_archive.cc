#include "storage/archive/commit_archive.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <utility>

#include "itemdb/v1/changes.pb.h"
#include "storage/archive/archive_directory.h"
#include "storage/base/check.h"
#include "storage/base/wall_clock.h"
#include "storage/store/durable_file.h"
#include "storage/store/foreign_files.h"
#include "storage/store/sequence_key.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

using Clock = std::chrono::steady_clock;

// How often an archive that stays unwritable is an error in the log.
constexpr std::chrono::minutes kLogInterval(1);
constexpr int kRetryIntervals = 4;
// Groups are written at once when so much waits.
constexpr size_t kWakeBytes = 4 << 20;

// The sequence of the first record of a batch that RocksDB has written: the first 8 bytes, little-endian.
uint64_t FirstSequenceOf(std::string_view batch) {
  ITEMDB_CHECK(batch.size() >= sizeof(uint64_t));
  uint64_t sequence = 0;
  for (size_t i = sizeof(uint64_t); i-- > 0;) sequence = sequence << 8 | static_cast<uint8_t>(batch[i]);
  return sequence;
}

uint64_t NewChainId() {
  std::random_device random;
  return (uint64_t{random()} << 32 | random()) | 1;  // Never 0, which means none.
}

// Makes a directory that a power cut does not take, with all that is in it.
rocksdb::Status MakeDirectory(rocksdb::Env* env, const std::string& directory) {
  std::filesystem::path path = std::filesystem::absolute(directory);
  if (!path.has_filename()) path = path.parent_path();
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  const rocksdb::Status made = env->CreateDirIfMissing(path);
  return made.ok() ? SyncDirectory(env, path.parent_path()) : made;
}

// The first and last change of a batch of the write-ahead log, and its commit time.
class ChangesOfBatch : public rocksdb::WriteBatch::Handler {
 public:
  ChangesOfBatch(uint32_t changes_family, ArchivedGroup* group)
      : changes_family_(changes_family), group_(*group) {}

  rocksdb::Status PutCF(uint32_t family, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    const std::optional<uint64_t> sequence = ParseSequenceKey(ToView(key));
    if (family != changes_family_ || !sequence.has_value()) return rocksdb::Status::OK();
    if (group_.last_change == 0) {
      group_.first_change = *sequence;
      const std::optional<StoredRecord> record = DecodeRecord(kChangesStorageId, ToView(key), ToView(value));
      v1::ChangeRecord change;
      if (record.has_value() &&
          change.ParseFromArray(record->payload.data(), static_cast<int>(record->payload.size())))
        group_.commit_time_us = change.commit_time_us();
    }
    group_.last_change = *sequence;
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override { return rocksdb::Status::OK(); }

 private:
  const uint32_t changes_family_;
  ArchivedGroup& group_;
};

}  // namespace

CommitArchive::CommitArchive(CommitArchiveOptions options)
    : options_(std::move(options)),
      probe_(options_.environment->plain(), options_.directory),
      acknowledgements_(static_cast<uint64_t>(NowMicros())) {}

CommitArchive::~CommitArchive() { thread_.Stop(); }

absl::Status CommitArchive::Lock() {
  if (lock_ != nullptr) return absl::OkStatus();
  const std::string& directory = options_.directory;
  std::error_code error;
  rocksdb::Status locked;
  if (!std::filesystem::exists(directory, error))
    locked = MakeDirectory(options_.environment->plain(), directory);
  rocksdb::FileLock* lock = nullptr;
  if (locked.ok()) locked = rocksdb::Env::Default()->LockFile(directory + "/LOCK", &lock);
  if (locked.ok()) {
    lock_.reset(lock);
    return absl::OkStatus();
  }
  // RocksDB does not say whether the file could not be opened or is locked.
  if (access((directory + "/LOCK").c_str(), W_OK) == 0) {
    return MakeError(
        absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryInUse,
        "the archive directory " + directory + " is in use by another itemd: " + locked.ToString());
  }
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "cannot use the archive directory " + directory + ": " + locked.ToString() +
                       "; under systemd the unit must allow it: ReadWritePaths=" + directory);
}

absl::StatusOr<CommitArchive::Found> CommitArchive::FindEnd(const std::string& database_id) {
  constexpr std::string_view kOwn[] = {"segment-", "WAITS_FOR_STANDBY", "PROMOTED", "FENCED"};
  ITEMDB_RETURN_IF_ERROR(CheckHasNoForeignFiles(options_.directory, kOwn, "an archive"));
  ITEMDB_RETURN_IF_ERROR(Lock());
  const Environment& environment = *options_.environment;
  ITEMDB_RETURN_IF_ERROR(CheckEncryption(options_.directory, environment.keys()));
  ITEMDB_RETURN_IF_ERROR(environment.Mark(options_.directory));
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(environment.env(), options_.directory));
  for (const ArchiveChain& chain : contents.chains) {
    if (chain.database_id == database_id) continue;
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonDataDirectoryForeign,
                     options_.directory + " has the archive of the database " + chain.database_id +
                         ", and this one is " + (database_id.empty() ? "new" : database_id) +
                         "; give each database an --archive-directory of its own");
  }
  ITEMDB_RETURN_IF_ERROR(
      WriteWaitsForStandby(environment.env(), options_.directory, options_.writes_at_once));
  Found found;
  found.last_number = contents.last_number;
  if (contents.chains.empty()) return found;
  const ArchiveChain& chain = contents.chains.back();
  const SegmentHeader& last = chain.segments.back();
  ITEMDB_ASSIGN_OR_RETURN(const ChainEnd end,
                          ForEachGroup(environment.env(), options_.directory, chain, last.after_sequence,
                                       [](const ArchivedGroup&) { return true; }));
  found.chain_id = chain.id;
  found.segment = last.number;
  found.end = {.sequence = end.sequence,
               .change = end.change,
               .hash = end.sequence == last.after_sequence ? last.after_hash : end.hash,
               .commit_time_us = end.commit_time_us};
  found.chain_after = {.database_id = chain.database_id,
                       .store_id = chain.store_id,
                       .sequence = chain.after_sequence,
                       .change = chain.after_change,
                       .commit_time_us = chain.begin_time_us};
  return found;
}

absl::Status CommitArchive::Open(const std::string& database_id) {
  MutexLock writing(writing_);
  const absl::Status answers = CheckAnswers();
  absl::StatusOr<Found> found = answers.ok() ? FindEnd(database_id) : answers;
  if (absl::IsFailedPrecondition(found.status()) || absl::IsInvalidArgument(found.status()))
    return found.status();
  if (!found.ok()) {
    Failed(found.status());
    MutexLock lock(mutex_);
    error_ = found.status();
    return absl::OkStatus();
  }
  is_found_ = true;
  last_number_ = found->last_number;
  previous_number_ = found->segment;
  MutexLock lock(mutex_);
  database_id_ = database_id;
  if (!found->chain_after.has_value()) return absl::OkStatus();
  has_chain_ = true;
  chain_after_ = *std::move(found->chain_after);
  chain_id_ = found->chain_id;
  store_id_ = chain_after_.store_id;
  end_ = found->end;
  durable_ = found->end;
  return absl::OkStatus();
}

absl::Status CommitArchive::FindEndLate() {
  if (is_found_) return absl::OkStatus();
  std::string database_id;
  {
    MutexLock lock(mutex_);
    database_id = database_id_;
  }
  // A chain that is there has a gap now: Opened has begun another.
  ITEMDB_ASSIGN_OR_RETURN(const Found found, FindEnd(database_id));
  is_found_ = true;
  last_number_ = found.last_number;
  return absl::OkStatus();
}

void CommitArchive::AddLogged(const rocksdb::WriteBatch& batch, uint32_t changes_family) {
  if (batch.Count() == 0) return;
  ArchivedGroup group;
  group.first_sequence = FirstSequenceOf(batch.Data());
  group.last_sequence = group.first_sequence + batch.Count() - 1;
  MutexLock lock(mutex_);
  // If it does not follow, Opened will find that the chain does not reach the store.
  if (!has_chain_ || group.first_sequence != end_.sequence + 1) return;
  ChangesOfBatch changes(changes_family, &group);
  if (!batch.Iterate(&changes).ok()) return;
  if (group.last_change == 0) {
    group.last_change = end_.change;
    group.first_change = end_.change + 1;
  }
  group.commit_time_us = std::max(group.commit_time_us, end_.commit_time_us);
  group.batch = batch;
  Queue(std::move(group));
}

void CommitArchive::WriteLogged() {
  {
    MutexLock lock(mutex_);
    if (queue_.empty()) return;
  }
  (void)WriteQueued(/*syncs=*/false);
}

void CommitArchive::Opened(const StorePosition& position) {
  bool begins_chain = false;
  {
    MutexLock lock(mutex_);
    database_id_ = position.database_id;
    const bool goes_on = has_chain_ && !overflowed_ && store_id_ == position.store_id &&
                         end_.sequence == position.sequence && end_.change == position.change;
    store_id_ = position.store_id;
    jumps_ = 0;
    item_ingestions_ = 0;
    begins_chain = !goes_on;
    if (!goes_on) {
      if (has_chain_) {
        ++gaps_;
        options_.log->warn(
            "the archive has a gap: it does not have every commit group before this opening; a new backup "
            "is needed archived_change={} change={}",
            end_.change, position.change);
      }
      has_chain_ = true;
      BeginChain({.sequence = position.sequence,
                  .change = position.change,
                  .commit_time_us = position.commit_time_us});
    }
  }
  // On disk before anything is committed: what the archive has behind `position` does not count from now on.
  if (begins_chain) (void)WriteQueued(/*syncs=*/false);
  acknowledgements_.Written(Status().last_change);
  if (std::exchange(is_running_, true)) return;
  thread_.Start([this] { Loop(); });
}

void CommitArchive::BeginChain(const Position& position) {
  queue_.clear();
  queued_bytes_ = 0;
  overflowed_ = false;
  end_ = position;
  end_.hash = 0;
  next_chain_ = end_;
  chain_id_ = NewChainId();
  if (restorable_times_.has_value() && !restorable_times_->empty()) {
    RestorableTimes& last = restorable_times_->back();
    // Before the last group of the chain: no group behind it says up to when the state after it lasted.
    if (last.end_us == RestorableTimes::kNoEnd) last.end_us = durable_.commit_time_us - 1;
    if (last.end_us < last.begin_us) restorable_times_->pop_back();
  }
  chain_after_ = {.database_id = database_id_,
                  .store_id = store_id_,
                  .sequence = position.sequence,
                  .change = position.change,
                  .commit_time_us = position.commit_time_us};
}

void CommitArchive::Add(WrittenGroup written) {
  ArchivedGroup group;
  group.first_sequence = FirstSequenceOf(written.batch.Data());
  group.last_sequence = group.first_sequence + written.records - 1;
  group.first_change = written.first_change;
  group.last_change = written.last_change;
  group.commit_time_us = written.commit_time_us;
  group.batch = std::move(written.batch);
  MutexLock lock(mutex_);
  group.follows_ingestion = group.first_sequence != end_.sequence + 1;
  const bool has_loaded = std::exchange(item_ingestions_, written.item_ingestions) != written.item_ingestions;
  if (has_loaded) {
    if (group.follows_ingestion) ++jumps_;
    options_.log->info(
        "a table was loaded from files; the archive goes on with a new backup, and the commits in between "
        "cannot "
        "be restored change={}",
        group.first_change - 1);
    // Behind this group: a backup that has it has the files too.
    return BeginChain({.sequence = group.last_sequence,
                       .change = group.last_change,
                       .commit_time_us = group.commit_time_us});
  }
  if (group.follows_ingestion && ++jumps_ > written.ingestion_steps) {
    // Never seen; but an archive that is not complete must say so.
    ++gaps_;
    options_.log->error(
        "the archive has a gap: a commit group did not follow the one before sequence={} "
        "after={}",
        group.first_sequence, end_.sequence);
    BeginChain({.sequence = group.first_sequence - 1,
                .change = group.first_change - 1,
                .commit_time_us = end_.commit_time_us});
  }
  Queue(std::move(group));
}

void CommitArchive::Queue(ArchivedGroup group) {
  end_ = {
      .sequence = group.last_sequence, .change = group.last_change, .commit_time_us = group.commit_time_us};
  if (overflowed_) return;
  if (queued_bytes_ + group.batch.GetDataSize() > options_.max_queue_bytes && !queue_.empty()) {
    // Logged once while nothing can be written.
    if (!next_chain_.has_value()) {
      ++gaps_;
      options_.log->error(
          "the archive has a gap: too much waits to be written to it; it goes on, and needs a new backup, "
          "when "
          "it can be written again queued_bytes={}",
          queued_bytes_);
    }
    queue_.clear();
    queued_bytes_ = 0;
    overflowed_ = true;
    return;
  }
  if (queued_bytes_ == 0) waits_since_ = Clock::now();
  const bool wakes = options_.writes_at_once ||
                     (queued_bytes_ < kWakeBytes && queued_bytes_ + group.batch.GetDataSize() >= kWakeBytes);
  queued_bytes_ += group.batch.GetDataSize();
  queue_.push_back(std::move(group));
  if (wakes) thread_.Wake();
}

void CommitArchive::Loop() {
  std::chrono::milliseconds wait = options_.interval;
  while (thread_.WaitFor(wait)) {
    LookForPromotion();
    acknowledgements_.ReleaseWaiters();
    const absl::Status written = WriteQueued(/*syncs=*/true);
    wait = written.ok() ? options_.interval : kRetryIntervals * options_.interval;
  }
}

void CommitArchive::LookForPromotion() {
  if (knows_promotion_ || !options_.on_promotion || !CheckAnswers().ok()) return;
  {
    MutexLock lock(mutex_);
    looks_since_ = Clock::now();
  }
  const auto promotion = ReadPromotion(options_.environment->env(), options_.directory);
  {
    MutexLock lock(mutex_);
    looks_since_.reset();
  }
  if (!promotion.ok() || !promotion->has_value()) return;
  // Tried again if it failed.
  knows_promotion_ = options_.on_promotion(**promotion).ok();
}

void CommitArchive::LookForLostSegment() {
  // After a failed write too, and at a start: the next file names this one as the one before it.
  if (previous_number_ == 0) return;
  const std::string path = options_.directory + "/" + SegmentName(previous_number_);
  if (!options_.environment->env()->FileExists(path).IsNotFound()) return;
  writer_.reset();
  previous_number_ = 0;
  MutexLock lock(mutex_);
  // Otherwise another chain begins anyway.
  if (overflowed_ || next_chain_.has_value()) return;
  ++gaps_;
  options_.log->error(
      "the archive has a gap: the file that was being written is gone; it goes on with a new file, and needs "
      "a "
      "new backup path={}",
      path);
  const Position end = end_;
  BeginChain(end);
}

absl::Status CommitArchive::WriteQueued(bool syncs) {
  // Before the lock: a call that does not return keeps it.
  if (absl::Status answers = CheckAnswers(); !answers.ok()) return NotAnswering(answers);
  MutexLock writing(writing_);
  {
    MutexLock lock(mutex_);
    writes_since_ = Clock::now();
  }
  absl::Status written = WriteQueuedLocked(syncs);
  MutexLock lock(mutex_);
  writes_since_.reset();
  return written;
}

absl::Status CommitArchive::NotAnswering(const absl::Status& status) {
  Failed(status);
  MutexLock lock(mutex_);
  error_ = status;
  return status;
}

absl::Status CommitArchive::WriteQueuedLocked(bool syncs) {
  LookForLostSegment();
  std::deque<ArchivedGroup> groups;
  std::optional<Position> chain_after;
  uint64_t chain_id = 0;
  size_t bytes = 0;
  const Clock::time_point begin = Clock::now();
  {
    MutexLock lock(mutex_);
    if (overflowed_) {
      const Position end = end_;
      BeginChain(end);
    }
    chain_after = next_chain_;
    chain_id = chain_id_;
    groups.swap(queue_);
    bytes = queued_bytes_;
  }
  absl::Status written = options_.check_space && bytes > 0 ? options_.check_space() : absl::OkStatus();
  if (written.ok()) written = FindEndLate();
  if (written.ok() && (!groups.empty() || chain_after.has_value())) {
    if (syncs && options_.sync) written = options_.sync();
    const bool needs_segment =
        writer_ == nullptr || chain_after.has_value() || writer_->bytes() > options_.segment_bytes;
    if (written.ok() && needs_segment) written = StartSegment(chain_after, chain_id);
    if (written.ok()) written = WriteGroups(groups);
  }
  if (!written.ok()) writer_.reset();
  {
    MutexLock lock(mutex_);
    const bool same_chain = next_chain_.has_value() == chain_after.has_value() &&
                            (!chain_after.has_value() || next_chain_->sequence == chain_after->sequence);
    if (written.ok()) {
      if (same_chain) next_chain_.reset();
      if (!groups.empty()) {
        const ArchivedGroup& last = groups.back();
        durable_ = {.sequence = last.last_sequence,
                    .change = last.last_change,
                    .hash = writer_->hash(),
                    .commit_time_us = last.commit_time_us};
      } else if (chain_after.has_value()) {
        durable_ = *chain_after;
      }
      // Otherwise the queue was given up meanwhile.
      if (same_chain && !overflowed_) queued_bytes_ -= bytes;
      waits_since_ = begin;
    } else if (same_chain && !overflowed_) {
      queue_.insert(queue_.begin(), std::make_move_iterator(groups.begin()),
                    std::make_move_iterator(groups.end()));
    }
    const bool had_error = !error_.ok();
    error_ = written;
    if (had_error && written.ok()) options_.log->info("the archive can be written again");
  }
  if (!written.ok()) Failed(written);
  if (written.ok() && (!groups.empty() || chain_after.has_value()))
    acknowledgements_.Written(Status().last_change);
  return written;
}

absl::Status CommitArchive::StartSegment(const std::optional<Position>& chain_after, uint64_t chain_id) {
  ITEMDB_RETURN_IF_ERROR(options_.environment->Mark(options_.directory));
  SegmentHeader header;
  {
    MutexLock lock(mutex_);
    const Position& after = chain_after.has_value() ? *chain_after : durable_;
    header.after_sequence = after.sequence;
    header.after_change = after.change;
    header.after_hash = after.hash;
    header.database_id = database_id_;
    header.store_id = store_id_;
  }
  header.chain_id = chain_id;
  header.number = last_number_ + 1;
  header.previous = chain_after.has_value() ? 0 : previous_number_;
  header.begin_time_us = NowMicros();
  last_number_ = header.number;
  rocksdb::Env* const env = options_.environment->env();
  writer_.reset();
  absl::StatusOr<std::unique_ptr<SegmentWriter>> writer =
      SegmentWriter::Create(env, options_.directory, header);
  absl::Status made = writer.status();
  if (made.ok()) {
    const rocksdb::Status synced = SyncDirectory(env, options_.directory);
    if (!synced.ok()) made = FromRocksDB("cannot sync " + options_.directory, synced);
  }
  if (!made.ok()) {
    // An archive that fails for long must not leave a file each time.
    (void)env->DeleteFile(options_.directory + "/" + SegmentName(header.number));
    return made;
  }
  writer_ = *std::move(writer);
  previous_number_ = header.number;
  return absl::OkStatus();
}

absl::Status CommitArchive::WriteGroups(const std::deque<ArchivedGroup>& groups) {
  for (const ArchivedGroup& group : groups) ITEMDB_RETURN_IF_ERROR(writer_->Append(group));
  return groups.empty() ? absl::OkStatus() : writer_->Sync();
}

absl::Status CommitArchive::StuckError() const {
  const auto& since = looks_since_.has_value() ? looks_since_ : writes_since_;
  if (!since.has_value()) return absl::OkStatus();
  const auto waited = Clock::now() - *since;
  if (waited < DirectoryProbe::kMaxAnswer) return absl::OkStatus();
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "a call to the file system of " + options_.directory + " has not returned for " +
                       std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) +
                       " seconds: is its server, or its disk, gone?");
}

void CommitArchive::LogIfStuck() {
  absl::Status stuck;
  {
    MutexLock lock(mutex_);
    stuck = StuckError();
  }
  if (!stuck.ok()) Failed(stuck);
}

void CommitArchive::Failed(const absl::Status& status) {
  {
    MutexLock lock(mutex_);
    const Clock::time_point now = Clock::now();
    if (now < next_log_) return;
    next_log_ = now + kLogInterval;
  }
  options_.log->error(
      "commit groups cannot be archived; the database goes on, and cannot be restored to what is committed "
      "now "
      "directory={} error={}",
      options_.directory, MessageOf(status));
}

void CommitArchive::Stop() {
  acknowledgements_.Close();
  thread_.Stop();
  if (is_running_) (void)WriteQueued(/*syncs=*/true);
}

std::optional<std::vector<RestorableTimes>> CommitArchive::restorable_times() const {
  MutexLock lock(mutex_);
  return restorable_times_;
}

void CommitArchive::SetRestorableTimes(uint64_t chain_id, std::vector<RestorableTimes> times) {
  MutexLock lock(mutex_);
  if (chain_id == chain_id_) restorable_times_ = std::move(times);
}

CommitArchiveStatus CommitArchive::Status() const {
  MutexLock lock(mutex_);
  CommitArchiveStatus status;
  status.chain_id = chain_id_;
  status.chain_after = chain_after_;
  status.last_change = durable_.change;
  status.last_commit_time_us = durable_.commit_time_us;
  status.queued_bytes = queued_bytes_;
  if (queued_bytes_ > 0)
    status.lag = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - waits_since_);
  status.gaps = gaps_;
  status.error = error_;
  if (absl::Status stuck = StuckError(); !stuck.ok()) status.error = stuck;
  return status;
}

}  // namespace itemdb::storage
