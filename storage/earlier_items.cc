#include "storage/earlier_items.h"

#include <chrono>
#include <utility>

#include "storage/store/keyspace.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {
namespace {

constexpr size_t kMaxWaitingTasks = 16;
constexpr std::chrono::minutes kKeptUnused(1);

class RestoredItems : public ItemsBefore {
 public:
  explicit RestoredItems(const EarlierDatabase& database) : database_(database) {}

  absl::StatusOr<std::optional<std::string>> Find(uint64_t storage_id, std::string_view key) const override {
    const Store& store = database_.store();
    rocksdb::PinnableSlice bytes;
    const rocksdb::Status found =
        GetRecord(store, Keyspace(store.items(), storage_id), rocksdb::ReadOptions(), key, &bytes);
    if (found.IsNotFound()) return std::nullopt;
    if (!found.ok()) return FromRocksDB("cannot read the restored database", found);
    const std::optional<StoredRecord> record = DecodeRecord(storage_id, key, ToView(bytes));
    if (!record.has_value()) return DataLossError("an item of the restored database is damaged");
    return std::string(record->payload);
  }

 private:
  const EarlierDatabase& database_;
};

}  // namespace

void EarlierItems::Run(uint64_t change_sequence, CancellationPtr cancellation, EarlierItemsTask task) {
  Waiting waiting{change_sequence, std::move(cancellation), std::move(task)};
  if (absl::Status refused = Queue(waiting); !refused.ok())
    return std::move(waiting.task)(std::move(refused));
  thread_.Wake();
}

absl::Status EarlierItems::Queue(Waiting& waiting) {
  MutexLock lock(mutex_);
  if (has_stopped_)
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is being closed");
  if (waiting_.size() >= kMaxWaitingTasks) {
    return MakeError(absl::StatusCode::kResourceExhausted, kReasonQueueFull,
                     "16 calls wait for an earlier state of the database to be restored", 1000);
  }
  waiting_.push_back(std::move(waiting));
  if (!std::exchange(has_started_, true)) thread_.Start([this] { Loop(); });
  return absl::OkStatus();
}

void EarlierItems::Stop() {
  {
    MutexLock lock(mutex_);
    has_stopped_ = true;
  }
  stop_.Cancel();
  thread_.Stop();
  while (std::optional<Waiting> waiting = TakeFirst()) {
    std::move(waiting->task)(
        MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is being closed"));
  }
  database_.reset();
}

std::optional<EarlierItems::Waiting> EarlierItems::TakeFirst() {
  MutexLock lock(mutex_);
  if (waiting_.empty()) return std::nullopt;
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void EarlierItems::Loop() {
  auto last_use = BackgroundThread::Clock::now();
  do {
    while (!thread_.stopping()) {
      std::optional<Waiting> waiting = TakeFirst();
      if (!waiting.has_value()) break;
      RunTask(*std::move(waiting));
      last_use = BackgroundThread::Clock::now();
    }
    if (BackgroundThread::Clock::now() >= last_use + kKeptUnused) database_.reset();
  } while (thread_.WaitUntil(database_ == nullptr ? BackgroundThread::Clock::time_point::max()
                                                  : last_use + kKeptUnused));
}

void EarlierItems::RunTask(Waiting waiting) {
  if (absl::Status prepared = Prepare(waiting); !prepared.ok()) {
    return std::move(waiting.task)(std::move(prepared));
  }
  const RestoredItems items(*database_);
  std::move(waiting.task)(&items);
}

absl::Status EarlierItems::CheckMayRestore() {
  const auto now = BackgroundThread::Clock::now();
  while (!restores_.empty() && restores_.front().begin + kRestoresPeriod <= now) restores_.pop_front();
  BackgroundThread::Clock::duration took{0};
  for (const Restored& restore : restores_) took += restore.took;
  const size_t most = took >= kMaxRestoring ? kMinRestores : kMaxRestores;
  if (restores_.size() < most) return absl::OkStatus();
  const auto next = restores_[restores_.size() - most].begin + kRestoresPeriod;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  return MakeError(
      absl::StatusCode::kResourceExhausted, kReasonQueueFull,
      "earlier states of the database were restored " + std::to_string(restores_.size()) +
          " times in the last hour to undo changes; another one may be in " +
          std::to_string(std::chrono::ceil<std::chrono::seconds>(wait).count()) +
          " seconds. The one that was restored last, after change " + std::to_string(restored_to_) +
          ", is kept for a minute after its last use. 'itemctl pitr restore' makes a table of any state");
}

absl::Status EarlierItems::Prepare(const Waiting& waiting) {
  ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(waiting.cancellation));
  if (database_ != nullptr && restored_to_ == waiting.change_sequence) return absl::OkStatus();
  ITEMDB_RETURN_IF_ERROR(CheckMayRestore());
  // Both use the same folder.
  database_.reset();
  restores_.push_back({.begin = BackgroundThread::Clock::now()});
  auto restored = EarlierDatabase::Restore(engine_, {.change = waiting.change_sequence}, kUndoFolder, stop_,
                                           waiting.cancellation);
  restores_.back().took = BackgroundThread::Clock::now() - restores_.back().begin;
  // Refused before anything was copied: no backup yet, a failed write, an archive that does not answer, an
  // unknown position, a caller that does not wait for the backup.
  const absl::StatusCode code = restored.status().code();
  if (code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kOutOfRange ||
      code == absl::StatusCode::kNotFound || code == absl::StatusCode::kCancelled ||
      code == absl::StatusCode::kDeadlineExceeded)
    restores_.pop_back();
  if (!stop_.Check().ok())
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, "the database is being closed");
  ITEMDB_ASSIGN_OR_RETURN(database_, std::move(restored));
  restored_to_ = waiting.change_sequence;
  return absl::OkStatus();
}

}  // namespace itemdb::storage
