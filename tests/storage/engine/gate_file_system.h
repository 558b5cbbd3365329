// A file system whose syncs can be held up, for tests of a slow disk.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"

namespace itemdb::testing {

// Passes everything through to `base`. While the gate is shut, syncs of matching files wait. Thread-safe.
class GateFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // `matches` selects files by path.
  GateFileSystem(std::shared_ptr<rocksdb::FileSystem> base,
                 std::function<bool(const std::string& path)> matches)
      : FileSystemWrapper(std::move(base)), matches_(std::move(matches)) {}

  // Applies to files that are created from now on.
  void SetMatches(std::function<bool(const std::string& path)> matches) {
    storage::MutexLock lock(mutex_);
    matches_ = std::move(matches);
  }
  void Shut() {
    storage::MutexLock lock(mutex_);
    shut_ = true;
  }
  void Open() {
    storage::MutexLock lock(mutex_);
    shut_ = false;
    changed_.NotifyAll();
  }
  // Waits until at least one sync waits at the gate.
  void AwaitWaiting() {
    storage::MutexLock lock(mutex_);
    while (waiting_ == 0) changed_.Wait(mutex_);
  }
  // Matching syncs so far, including those that wait.
  int syncs() const {
    storage::MutexLock lock(mutex_);
    return syncs_;
  }

  static const char* kClassName() { return "GateFileSystem"; }
  const char* Name() const override { return kClassName(); }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override {
    rocksdb::IOStatus status = target()->NewWritableFile(path, options, result, dbg);
    if (status.ok() && Matches(path)) *result = std::make_unique<File>(std::move(*result), *this);
    return status;
  }

 private:
  class File : public rocksdb::FSWritableFileOwnerWrapper {
   public:
    File(std::unique_ptr<rocksdb::FSWritableFile> target, GateFileSystem& gate)
        : FSWritableFileOwnerWrapper(std::move(target)), gate_(gate) {}
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
      gate_.Pass();
      return FSWritableFileOwnerWrapper::Sync(options, dbg);
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override {
      gate_.Pass();
      return FSWritableFileOwnerWrapper::Fsync(options, dbg);
    }

   private:
    GateFileSystem& gate_;
  };

  bool Matches(const std::string& path) const {
    storage::MutexLock lock(mutex_);
    return matches_(path);
  }

  void Pass() {
    storage::MutexLock lock(mutex_);
    ++syncs_;
    ++waiting_;
    changed_.NotifyAll();
    while (shut_) changed_.Wait(mutex_);
    --waiting_;
  }

  std::function<bool(const std::string& path)> matches_ ABSL_GUARDED_BY(mutex_);
  mutable storage::Mutex mutex_;
  storage::CondVar changed_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  int syncs_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace itemdb::testing
