#include "storage/commit/commit_pipeline.h"

#include "storage/base/check.h"
#include "storage/base/limits.h"

namespace itemdb {
namespace {

// Reads carried from preparation are trusted by key hash; at 2^18 slots a false alarm, which costs one cached
// read, is rare for as many keys as are written between a write's preparation and its turn.
constexpr size_t kLastWriteSlots = 1 << 18;

// Waiting for the callers of the previous group before taking the next one keeps them in one group instead of
// two that each wait for two syncs. It pays when syncs are slow and costs throughput when they are fast.
constexpr std::chrono::nanoseconds kLingerAbove = std::chrono::milliseconds(1);
constexpr int kLingerDivisor = 20;

absl::Status NotWritten(const absl::Status& cause) {
  return MakeError(
      absl::StatusCode::kUnavailable, kReasonUnavailable,
      "nothing was written: the database is reopening after a failed write (" + MessageOf(cause) + ")", 100);
}

}  // namespace

CommitPipeline::CommitPipeline(PipelineOptions options)
    : options_(std::move(options)), state_(kLastWriteSlots) {
  state_.max_item_collection_bytes = options_.max_item_collection_bytes;
  state_.clock_us = options_.clock_us;
  MutexLock lock(mutex_);
  role_ = Role::kHeld;  // Until Start.
  refusing_ =
      MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is not open yet", 100);
  writer_ = std::thread([this] { WriterLoop(); });
  publisher_ = std::thread([this] { PublisherLoop(); });
}

CommitPipeline::~CommitPipeline() {
  Stop(MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is closing"));
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  role_changed_.NotifyAll();
  {
    MutexLock lock(answers_mutex_);
    publisher_stopping_ = true;
  }
  answers_changed_.NotifyAll();
  writer_.join();
  publisher_.join();
}

void CommitPipeline::Start(PipelineStart start) {
  state_.store = std::move(start.store);
  state_.catalog = std::move(start.catalog);
  state_.next_sequence = start.next_sequence;
  state_.last_commit_time_us = std::max(state_.last_commit_time_us, start.last_commit_time_us);
  state_.counters.Reset(start.counters);
  state_.tokens = RequestTokenState();
  // The group that failed may be in the store after all: nothing read before it was reopened can be trusted.
  state_.first_trusted_group = ++state_.next_group;
  options_.change_waiters->Opened(start.next_sequence - 1);
  Publish(state_.next_group++);
  {
    MutexLock lock(view_mutex_);
    durable_sequence_ = view_->change_sequence();
    synced_groups_ = published_groups_;
  }
  options_.change_waiters->NotifyAll();
  MutexLock lock(mutex_);
  refusing_ = absl::OkStatus();
  role_ = Role::kFree;
}

void CommitPipeline::Stop(absl::Status reason) {
  {
    MutexLock lock(mutex_);
    bool started = refusing_.ok() || role_ != Role::kHeld || !queue_.empty() || state_.store != nullptr;
    refusing_ = std::move(reason);
    if (!started) return;
    while (role_ != Role::kFree || !queue_.empty()) role_changed_.Wait(mutex_);
    role_ = Role::kHeld;
  }
  {
    MutexLock lock(answers_mutex_);
    while (!answers_.empty() || publisher_busy_) answers_changed_.Wait(answers_mutex_);
  }
  state_.store.reset();
  state_.catalog.reset();
  std::shared_ptr<const ReadView> view;  // Dies after the lock: the last view closes the store.
  MutexLock lock(view_mutex_);
  view.swap(view_);
}

absl::Status CommitPipeline::Submit(std::unique_ptr<CommitUnit>& unit, WhenFull when_full) {
  {
    MutexLock lock(mutex_);
    if (!refusing_.ok()) return refusing_;
    size_t bytes = unit->SizeBytes();
    bool full = !queue_.empty() && figures_.queued_bytes + bytes > options_.max_queue_bytes;
    if (when_full == WhenFull::kWait && (full || !waiting_.empty())) {
      waiting_.push_back(std::move(unit));
      return absl::OkStatus();
    }
    if (full) {
      ++figures_.refused_units;
      return MakeError(
          absl::StatusCode::kResourceExhausted, kReasonQueueFull,
          "the write queue is full (" + std::to_string(options_.max_queue_bytes) + " bytes); try again later",
          100);
    }
    figures_.queued_bytes += bytes;
    queue_.push_back(std::move(unit));
    if (role_ != Role::kFree) {
      submitted_.NotifyOne();
      return absl::OkStatus();
    }
    role_ = Role::kHeld;
  }
  Answers answers = RunGroup();
  ReleaseRole(/*is_writer=*/false);
  Deliver(std::move(answers));
  return absl::OkStatus();
}

bool CommitPipeline::ReleaseRole(bool is_writer) {
  {
    MutexLock lock(mutex_);
    if (!queue_.empty()) {
      if (is_writer) return true;
      role_ = Role::kHandedToWriter;
    } else {
      role_ = Role::kFree;
    }
  }
  role_changed_.NotifyAll();
  return false;
}

void CommitPipeline::WriterLoop() {
  while (true) {
    {
      MutexLock lock(mutex_);
      while (role_ != Role::kHandedToWriter && !stopping_) role_changed_.Wait(mutex_);
      if (role_ != Role::kHandedToWriter) return;
      role_ = Role::kHeld;
    }
    do {
      Deliver(RunGroup());
    } while (ReleaseRole(/*is_writer=*/true));
  }
}

CommitPipeline::Units CommitPipeline::TakeUnits() {
  Units units;
  MutexLock lock(mutex_);
  if (last_group_units_ > 1 && last_write_duration_ > kLingerAbove) {
    auto deadline = std::chrono::steady_clock::now() + last_write_duration_ / kLingerDivisor;
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
  figures_.queued_bytes -= bytes;
  Admit();
  return units;
}

void CommitPipeline::Admit() {
  while (!waiting_.empty()) {
    size_t bytes = waiting_.front()->SizeBytes();
    if (!queue_.empty() && figures_.queued_bytes + bytes > options_.max_queue_bytes) return;
    figures_.queued_bytes += bytes;
    queue_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

void CommitPipeline::PutBack(Units units) {
  MutexLock lock(mutex_);
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    figures_.queued_bytes += (*unit)->SizeBytes();
    queue_.push_front(std::move(*unit));
  }
}

CommitPipeline::Answers CommitPipeline::RunGroup() {
  Answers answers;
  answers.units = TakeUnits();
  CommitGroup group(&state_);
  for (size_t i = 0; i < answers.units.size(); ++i) {
    answers.units[i]->Order(group);
    answers.change_sequences.push_back(group.next_sequence() - 1);
    if (group.SizeBytes() < kMaxCommitGroupBytes || i + 1 == answers.units.size()) continue;
    PutBack(Units(std::make_move_iterator(answers.units.begin() + i + 1),
                  std::make_move_iterator(answers.units.end())));
    answers.units.resize(i + 1);
  }

  if (!group.empty()) {
    rocksdb::WriteOptions options;
    options.sync = options_.durable;
    auto begin = std::chrono::steady_clock::now();
    rocksdb::Status status = state_.store->db()->Write(options, &group.Finish());
    last_write_duration_ = std::chrono::steady_clock::now() - begin;
    last_group_units_ = answers.units.size();
    if (!status.ok()) {
      answers.status = MakeError(absl::StatusCode::kUnknown, kReasonWriteOutcomeUnknown,
                                 "the write may or may not have been applied: " + status.ToString());
      Fail(FromRocksDB("a commit group could not be written", status));
      return answers;
    }
    uint64_t number = state_.next_group;
    group.Commit();
    options_.change_waiters->Ordered(group.changes());
    Publish(number);
    if (options_.durable) options_.change_waiters->Notify(group.changes());
    if (!group.time_entries().empty()) options_.on_time_entries(group.time_entries());
    MutexLock lock(mutex_);
    figures_.committed_units += static_cast<int64_t>(answers.units.size());
    figures_.write_time += last_write_duration_;
    ++figures_.groups;
  }
  return answers;
}

void CommitPipeline::Publish(uint64_t group) {
  auto view = std::make_shared<const ReadView>(state_.store, state_.catalog, state_.next_sequence - 1, group);
  std::shared_ptr<const ReadView> previous;  // Releases its snapshot after the lock.
  {
    MutexLock lock(view_mutex_);
    previous = std::move(view_);
    view_ = std::move(view);
    ++published_groups_;
    if (options_.durable) durable_sequence_ = view_->change_sequence();
  }
}

void CommitPipeline::Fail(const absl::Status& status) {
  Answers refused;
  refused.status = NotWritten(status);
  {
    MutexLock lock(mutex_);
    refusing_ = refused.status;
    for (auto* units : {&queue_, &waiting_}) {
      for (auto& unit : *units) refused.units.push_back(std::move(unit));
      units->clear();
    }
    figures_.queued_bytes = 0;
  }
  Deliver(std::move(refused));
  options_.on_failure(status);
}

void CommitPipeline::Deliver(Answers answers) {
  if (answers.units.empty()) return;
  if (answers.units.size() > 1) {
    MutexLock lock(answers_mutex_);
    answers_.push_back(std::move(answers));
    answers_changed_.NotifyAll();
    return;
  }
  Answer(answers);
}

void CommitPipeline::Answer(Answers& answers) {
  // Units that were refused before they were ordered have no sequence.
  answers.change_sequences.resize(answers.units.size());
  for (size_t i = 0; i < answers.units.size(); ++i) {
    answers.units[i]->Answer(answers.status, answers.change_sequences[i]);
    answers.units[i].reset();
  }
}

void CommitPipeline::PublisherLoop() {
  while (true) {
    Answers answers;
    {
      MutexLock lock(answers_mutex_);
      publisher_busy_ = false;
      if (answers_.empty()) answers_changed_.NotifyAll();  // Stop waits for this.
      while (answers_.empty() && !publisher_stopping_) answers_changed_.Wait(answers_mutex_);
      if (answers_.empty()) return;
      answers = std::move(answers_.front());
      answers_.pop_front();
      publisher_busy_ = true;
    }
    Answer(answers);
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

PipelineFigures CommitPipeline::figures() const {
  MutexLock lock(mutex_);
  return figures_;
}

absl::Status CommitPipeline::SyncNow() {
  std::shared_ptr<const ReadView> view;
  uint64_t groups = 0;
  {
    MutexLock lock(view_mutex_);
    view = view_;
    groups = published_groups_;
    // By groups: not every one of them has a change.
    if (options_.durable || view == nullptr || synced_groups_ >= groups) return absl::OkStatus();
  }
  // A synced write, however small, makes every earlier one durable. (SyncWAL has defects in this RocksDB.)
  rocksdb::WriteBatch marker;
  marker.PutLogData("sync");
  rocksdb::WriteOptions options;
  options.sync = true;
  rocksdb::Status status = view->store()->db()->Write(options, &marker);
  if (!status.ok()) return FromRocksDB("cannot sync the write-ahead log", status);
  {
    MutexLock lock(view_mutex_);
    durable_sequence_ = std::max(durable_sequence_, view->change_sequence());
    synced_groups_ = std::max(synced_groups_, groups);
  }
  options_.change_waiters->NotifyAll();
  return absl::OkStatus();
}

}  // namespace itemdb
