#include "storage/store/failed_jobs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace itemdb::storage {
namespace {

// Whether the compaction failed because a file that it read is damaged. An error of writing names another
// file, or is of the disk as a whole.
bool CannotRead(const rocksdb::CompactionJobInfo& job) {
  if (job.status.IsCorruption()) return true;
  const std::optional<DamagedPlace> place = PlaceOfDamage(job.status);
  return place.has_value() &&
         std::any_of(job.input_files.begin(), job.input_files.end(),
                     [&](const std::string& path) { return path.ends_with(place->file); });
}

}  // namespace

void FailedJobs::OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) {
  if (job.status.ok()) {
    MutexLock lock(mutex_);
    succeeded_families_.insert(job.cf_name);
    return;
  }
  const bool cannot_read = CannotRead(job);
  if (cannot_read && damage_ != nullptr) damage_->Record(job.status, DamageMetBy::kCompaction);
  MutexLock lock(mutex_);
  if (!cannot_read) {
    unreadable_.erase(std::this_thread::get_id());
    return;
  }
  unreadable_[std::this_thread::get_id()] = job.cf_name;
}

void FailedJobs::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) {
  if (reason == rocksdb::BackgroundErrorReason::kCompaction) {
    MutexLock lock(mutex_);
    const auto family = unreadable_.extract(std::this_thread::get_id());
    if (!family.empty() || status->IsCorruption()) {
      if (!family.empty()) {
        stopped_families_.insert(family.mapped());
        succeeded_families_.erase(family.mapped());
      }
      *status = rocksdb::Status::OK();
      return;
    }
  }
  // RocksDB repeats compactions by itself.
  const auto least = reason == rocksdb::BackgroundErrorReason::kCompaction ? rocksdb::Status::kFatalError
                                                                           : rocksdb::Status::kSoftError;
  if (status->severity() >= least) *has_failed_ = true;
}

std::set<std::string> FailedJobs::TakeStoppedFamilies() {
  MutexLock lock(mutex_);
  return std::exchange(stopped_families_, {});
}

std::set<std::string> FailedJobs::succeeded_families() {
  MutexLock lock(mutex_);
  return succeeded_families_;
}

}  // namespace itemdb::storage
