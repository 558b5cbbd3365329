// Flushes and compactions that failed.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "rocksdb/listener.h"
#include "storage/base/mutex.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

// Records that a flush or compaction failed in a way from which RocksDB does not recover by itself.
//
// A compaction that cannot read a table file is a different failure: the other data of the file can still be
// read, and other files can still be written. Reopening the store would not help: the compaction would meet
// the damage again. Thread-safe.
class FailedJobs : public rocksdb::EventListener {
 public:
  // `has_failed` becomes true when RocksDB refuses writes until the store is opened again. `damage` gets what
  // compactions cannot read; null: nobody does.
  FailedJobs(std::shared_ptr<std::atomic<bool>> has_failed, std::shared_ptr<DamageRegister> damage)
      : has_failed_(std::move(has_failed)), damage_(std::move(damage)) {}

  // RocksDB calls this for failed compactions too, before OnBackgroundError, on the same thread.
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& job) override;
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;
  // See max_bgerror_resume_count in rocksdb_options.cc; this is the same for a full disk.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
    *auto_recovery = false;
  }

  // The families of which a compaction has met damage since the last call.
  std::set<std::string> TakeStoppedFamilies();
  // The families of which a compaction has succeeded since the last one that met damage.
  std::set<std::string> succeeded_families();

 private:
  const std::shared_ptr<std::atomic<bool>> has_failed_;
  const std::shared_ptr<DamageRegister> damage_;
  Mutex mutex_;
  // By thread: the family of a compaction that could not read a file, until OnBackgroundError.
  std::map<std::thread::id, std::string> unreadable_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> stopped_families_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> succeeded_families_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
