#include "storage/commit/commit_pipeline.h"

#include <algorithm>
#include <utility>

#include "storage/base/check.h"
#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

// A prefetched read is valid unless a later group wrote a key in its hash slot. Two keys in one slot cost one
// cached read. With 2^18 slots that is rare: few keys are written between a unit's preparation and its Apply.
constexpr size_t kLastWriteSlots = 1 << 18;

// The group commit delay: after a write that took longer than kGroupCommitDelayAbove the commit leader waits,
// at most 1/kGroupCommitDelayDivisor of that time, until the callers of the previous group have submitted
// again. So they stay in one group, instead of two whose callers each wait for two syncs. When syncs are
// fast, this would cost throughput.
constexpr std::chrono::nanoseconds kGroupCommitDelayAbove = std::chrono::milliseconds(1);
constexpr int kGroupCommitDelayDivisor = 20;

// A thread that submits leads a group itself unless the last write took longer than this: it may be a network
// thread, whose other connections would wait for the sync.
constexpr std::chrono::nanoseconds kLeadInPlaceBelow = std::chrono::microseconds(100);

absl::Status NotWritten(const absl::Status& cause) {
  return MakeError(
      absl::StatusCode::kUnavailable, kReasonUnavailable,
      "nothing was written: the database is reopening after a failed write (" + MessageOf(cause) + ")", 100);
}

}  // namespace

CommitPipeline::CommitPipeline(PipelineOptions options)
    : options_(std::move(options)), state_(kLastWriteSlots) {
  state_.max_item_collection_bytes = options_.max_item_collection_bytes;
  state_.time_of_day = options_.time_of_day;
  MutexLock lock(mutex_);
  refusing_ =
      MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is not open yet", 100);
  writer_ = std::thread([this] { WriterLoop(); });
  completion_thread_ = std::thread([this] { CompletionLoop(); });
}

CommitPipeline::~CommitPipeline() {
  Stop(MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is closing"));
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  leader_changed_.NotifyAll();
  {
    MutexLock lock(completions_mutex_);
    completion_stopping_ = true;
  }
  completions_changed_.NotifyAll();
  writer_.join();
  completion_thread_.join();
}

void CommitPipeline::Start(PipelineStart start) {
  state_.store = std::move(start.store);
  state_.catalog = std::move(start.catalog);
  state_.next_sequence = start.next_sequence;
  state_.last_commit_time_us = std::max(state_.last_commit_time_us, start.last_commit_time_us);
  state_.size_statistics.Reset(start.size_statistics);
  state_.tokens = RequestTokenState();
  // The group that failed may be in the store after all: every prefetched read from before is invalid.
  state_.first_valid_read_group_number = ++state_.next_group_number;
  options_.change_waiters->Opened(start.next_sequence - 1);
  Publish(state_.next_group_number++);
  {
    MutexLock lock(view_mutex_);
    durable_sequence_ = view_->change_sequence();
    synced_groups_ = published_groups_;
  }
  options_.change_waiters->NotifyAll();
  MutexLock lock(mutex_);
  refusing_ = absl::OkStatus();
  leader_ = Leader::kNone;
}

void CommitPipeline::Refuse(absl::Status reason) {
  MutexLock lock(mutex_);
  refusing_ = std::move(reason);
}

void CommitPipeline::Drain(absl::Status reason) {
  MutexLock lock(mutex_);
  refusing_ = std::move(reason);
  if (leader_ == Leader::kStopped) return;
  while (leader_ != Leader::kNone || !queue_.empty()) leader_changed_.Wait(mutex_);
}

void CommitPipeline::Stop(absl::Status reason) {
  Drain(std::move(reason));
  {
    MutexLock lock(mutex_);
    // Nothing was submitted meanwhile: it was refused.
    if (leader_ == Leader::kStopped) return;
    leader_ = Leader::kStopped;
  }
  {
    MutexLock lock(completions_mutex_);
    while (!completions_.empty() || completing_) completions_changed_.Wait(completions_mutex_);
  }
  state_.store.reset();
  state_.catalog.reset();
  std::shared_ptr<const ReadView> view;  // Destroyed after the unlock: the last view closes the store.
  MutexLock lock(view_mutex_);
  view.swap(view_);
}

absl::Status CommitPipeline::Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full) {
  {
    MutexLock lock(mutex_);
    if (!refusing_.ok()) return refusing_;
    size_t bytes = unit->SizeBytes();
    if (unit->trace != nullptr) unit->submitted = CallTrace::Clock::now();
    bool full = !queue_.empty() && statistics_.queued_bytes + bytes > QueueBytesFor(bytes);
    if (when_full == WhenFull::kWait && (full || !waiting_.empty())) {
      waiting_.push_back(std::move(unit));
      return absl::OkStatus();
    }
    if (full) {
      ++statistics_.refused_units;
      return MakeError(
          absl::StatusCode::kResourceExhausted, kReasonQueueFull,
          "the write queue is full (" + std::to_string(options_.max_queue_bytes) + " bytes); try again later",
          100);
    }
    statistics_.queued_bytes += bytes;
    queue_.push_back(std::move(unit));
    if (leader_ != Leader::kNone) {
      submitted_.NotifyOne();
      return absl::OkStatus();
    }
    if (last_write_duration_ > kLeadInPlaceBelow) {
      leader_ = Leader::kHandedToWriter;
      leader_changed_.NotifyAll();
      return absl::OkStatus();
    }
    leader_ = Leader::kLeading;
  }
  Completions completions = RunGroup();
  StepDown(/*is_writer=*/false);
  CompleteOrHandOff(std::move(completions));
  return absl::OkStatus();
}

bool CommitPipeline::StepDown(bool is_writer) {
  {
    MutexLock lock(mutex_);
    if (!queue_.empty()) {
      if (is_writer) return true;
      leader_ = Leader::kHandedToWriter;
    } else {
      leader_ = Leader::kNone;
    }
  }
  leader_changed_.NotifyAll();
  return false;
}

void CommitPipeline::WriterLoop() {
  while (true) {
    {
      MutexLock lock(mutex_);
      while (leader_ != Leader::kHandedToWriter && !stopping_) leader_changed_.Wait(mutex_);
      if (leader_ != Leader::kHandedToWriter) return;
      leader_ = Leader::kLeading;
    }
    do {
      CompleteOrHandOff(RunGroup());
    } while (StepDown(/*is_writer=*/true));
  }
}

CommitPipeline::Units CommitPipeline::TakeUnits() {
  Units units;
  MutexLock lock(mutex_);
  if (last_group_units_ > 1 && last_write_duration_ > kGroupCommitDelayAbove) {
    auto deadline = std::chrono::steady_clock::now() + last_write_duration_ / kGroupCommitDelayDivisor;
    while (queue_.size() < last_group_units_) {
      auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero() || !submitted_.WaitFor(mutex_, left)) break;
    }
  }
  size_t bytes = 0;
  while (!queue_.empty() && (units.empty() || bytes + queue_.front()->SizeBytes() <= kMaxCommitGroupBytes)) {
    bytes += queue_.front()->SizeBytes();
    units.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  statistics_.queued_bytes -= bytes;
  Admit();
  return units;
}

size_t CommitPipeline::QueueBytesFor(size_t unit_bytes) const {
  const size_t all = options_.max_queue_bytes;
  if (unit_bytes <= kLargeCommitUnitBytes) return all;
  // Otherwise one of nearly half the queue would get in only while nothing waits.
  return std::min(all, std::max(all / 2, unit_bytes + all / 4));
}

void CommitPipeline::Admit() {
  while (!waiting_.empty()) {
    size_t bytes = waiting_.front()->SizeBytes();
    if (!queue_.empty() && statistics_.queued_bytes + bytes > QueueBytesFor(bytes)) return;
    statistics_.queued_bytes += bytes;
    queue_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void CommitPipeline::PutBack(Units units) {
  MutexLock lock(mutex_);
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    statistics_.queued_bytes += (*unit)->SizeBytes();
    queue_.push_front(std::move(*unit));
  }
}

CommitPipeline::Completions CommitPipeline::RunGroup() {
  Completions completions;
  completions.units = TakeUnits();
  const bool traced = std::any_of(completions.units.begin(), completions.units.end(),
                                  [](const auto& unit) { return unit->trace != nullptr; });
  GroupTimes times;
  if (traced) times.taken = CallTrace::Clock::now();
  CommitGroup group(&state_);
  size_t committed = 0;  // Others were refused: a condition was false.
  for (size_t i = 0; i < completions.units.size(); ++i) {
    const size_t bytes_before = group.SizeBytes();
    completions.units[i]->Apply(group);
    if (group.SizeBytes() > bytes_before) ++committed;
    completions.change_sequences.push_back(group.next_sequence() - 1);
    if (group.SizeBytes() < kMaxCommitGroupBytes || i + 1 == completions.units.size()) continue;
    PutBack(Units(std::make_move_iterator(completions.units.begin() + i + 1),
                  std::make_move_iterator(completions.units.end())));
    completions.units.resize(i + 1);
  }

  completions.large = group.SizeBytes() > kMaxCommitGroupBytes;
  if (!group.empty()) {
    rocksdb::WriteOptions options;
    options.sync = options_.durable;
    auto begin = std::chrono::steady_clock::now();
    times.ordered = begin;
    last_write_begin_.store(begin, std::memory_order_relaxed);
    rocksdb::Status status = state_.store->Write(options, &group.SealBatch());
    last_write_duration_ = std::chrono::steady_clock::now() - begin;
    last_group_units_ = completions.units.size();
    times.synced = begin + last_write_duration_;
    if (!status.ok()) {
      completions.status = MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                                     "the write may or may not have been applied: " + status.ToString());
      Fail(FromRocksDB("a commit group could not be written", status));
      return completions;
    }
    completions.wrote = true;
    WrittenGroup written = TakeWritten(group);
    const uint64_t group_number = state_.next_group_number;
    group.InstallState();
    if (options_.on_synced) options_.on_synced(state_.next_sequence - 1);
    options_.change_waiters->RecordApplied(group.changes());
    Publish(group_number);
    // Not before: SyncNow makes durable what is published.
    if (options_.on_written) options_.on_written(std::move(written));
    if (options_.durable) options_.change_waiters->Notify(group.changes());
    if (!group.time_entries().empty()) options_.on_time_entries(group.time_entries());
    write_us_.Add(static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(last_write_duration_).count()));
    group_units_.Add(std::max<size_t>(committed, 1));
  }
  if (traced) Trace(times, completions.wrote, completions.units);
  return completions;
}

void CommitPipeline::Trace(const GroupTimes& times, bool wrote, const Units& units) {
  using Step = CallTrace::Step;
  const auto now = CallTrace::Clock::now();
  for (const auto& unit : units) {
    if (unit->trace == nullptr) continue;
    unit->trace->Add(Step::kQueue, unit->submitted, times.taken);
    unit->trace->Add(Step::kOrder, times.taken, wrote ? times.ordered : now);
    if (!wrote) continue;
    unit->trace->Add(Step::kSync, times.ordered, times.synced);
    unit->trace->Add(Step::kPublish, times.synced, now);
  }
}

WrittenGroup CommitPipeline::TakeWritten(CommitGroup& group) const {
  WrittenGroup written;
  rocksdb::WriteBatch& batch = group.batch();
  written.records = batch.Count();
  written.batch = std::move(batch);
  written.first_change = state_.next_sequence;
  written.last_change = group.next_sequence() - 1;
  written.commit_time_us = group.commit_time_us();
  written.ingestion_steps = state_.store->ingestion_steps();
  written.item_ingestions = state_.store->item_ingestions();
  return written;
}

void CommitPipeline::Publish(uint64_t group_number) {
  auto view =
      std::make_shared<const ReadView>(state_.store, state_.catalog, state_.next_sequence - 1, group_number);
  std::shared_ptr<const ReadView> previous;  // Destroyed, with its snapshot, after the unlock.
  {
    MutexLock lock(view_mutex_);
    previous = std::move(view_);
    view_ = std::move(view);
    ++published_groups_;
    if (options_.durable) durable_sequence_ = view_->change_sequence();
  }
}

void CommitPipeline::Fail(const absl::Status& status) {
  Completions refused;
  refused.status = NotWritten(status);
  {
    MutexLock lock(mutex_);
    refusing_ = refused.status;
    for (auto* units : {&queue_, &waiting_}) {
      for (auto& unit : *units) refused.units.push_back(std::move(unit));
      units->clear();
    }
    statistics_.queued_bytes = 0;
  }
  CompleteOrHandOff(std::move(refused));
  options_.on_failure(status);
}

void CommitPipeline::CompleteOrHandOff(Completions completions) {
  if (completions.units.empty()) return;
  if (options_.await_standby || (completions.units.size() > 1 && !completions.large)) {
    MutexLock lock(completions_mutex_);
    completions_.push_back(std::move(completions));
    completions_changed_.NotifyAll();
    return;
  }
  Complete(completions);
}

void CommitPipeline::Complete(Completions& completions) const {
  // Units that completed with an error before Apply have no sequence: 0.
  completions.change_sequences.resize(completions.units.size());
  absl::Status at_standby = completions.status;
  const auto waits = [](const std::unique_ptr<CommitUnit>& unit) { return unit->waits_for_standby; };
  if (completions.wrote && completions.status.ok() &&
      std::any_of(completions.units.begin(), completions.units.end(), waits)) {
    const auto begin = CallTrace::Clock::now();
    at_standby = options_.await_standby(completions.change_sequences.back());
    for (const auto& unit : completions.units) {
      if (unit->waits_for_standby && unit->trace != nullptr)
        unit->trace->Add(CallTrace::Step::kStandby, begin, CallTrace::Clock::now());
    }
  }
  for (size_t i = 0; i < completions.units.size(); ++i) {
    CommitUnit& unit = *completions.units[i];
    unit.Complete(unit.waits_for_standby ? at_standby : completions.status, completions.change_sequences[i]);
    completions.units[i].reset();
  }
}

void CommitPipeline::CompletionLoop() {
  while (true) {
    Completions completions;
    {
      MutexLock lock(completions_mutex_);
      completing_ = false;
      if (completions_.empty()) completions_changed_.NotifyAll();  // Stop waits for this.
      while (completions_.empty() && !completion_stopping_) completions_changed_.Wait(completions_mutex_);
      if (completions_.empty()) return;
      completions = std::move(completions_.front());
      completions_.pop_front();
      completing_ = true;
    }
    Complete(completions);
  }
}

std::shared_ptr<const ReadView> CommitPipeline::view() const {
  MutexLock lock(view_mutex_);
  return view_;
}

uint64_t CommitPipeline::durable_sequence() const {
  MutexLock lock(view_mutex_);
  return durable_sequence_;
}

PipelineStatistics CommitPipeline::statistics() const {
  MutexLock lock(mutex_);
  PipelineStatistics statistics = statistics_;
  statistics.commits = {.write_us = write_us_.Copy(), .group_units = group_units_.Copy()};
  if (!queue_.empty()) {
    statistics.commits.queue_wait =
        std::chrono::steady_clock::now() - last_write_begin_.load(std::memory_order_relaxed);
  }
  return statistics;
}

absl::Status CommitPipeline::SyncNow() {
  std::shared_ptr<const ReadView> view;
  uint64_t groups = 0;
  {
    MutexLock lock(view_mutex_);
    view = view_;
    groups = published_groups_;
    // Groups are compared, not sequences: a group may have no change record.
    if (options_.durable || view == nullptr || synced_groups_ >= groups) return absl::OkStatus();
  }
  // A synced write, however small, makes every earlier one durable. (SyncWAL has defects in this RocksDB.)
  rocksdb::WriteBatch marker;
  marker.PutLogData("sync");
  rocksdb::WriteOptions options;
  options.sync = true;
  rocksdb::Status status = view->store()->Write(options, &marker);
  if (!status.ok()) return FromRocksDB("cannot sync the write-ahead log", status);
  {
    MutexLock lock(view_mutex_);
    durable_sequence_ = std::max(durable_sequence_, view->change_sequence());
    synced_groups_ = std::max(synced_groups_, groups);
  }
  options_.change_waiters->NotifyAll();
  return absl::OkStatus();
}

}  // namespace itemdb::storage
