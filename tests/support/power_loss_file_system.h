// A RocksDB file system with a simulated power cut, for tests of durability.
//
// Passes every operation through to a real directory and records what the program has not made durable. A
// killed process loses nothing that it wrote, because the kernel has it, so a test that only kills cannot
// find a missing sync. This file system can:
//
//   auto disk = std::make_shared<PowerLossFileSystem>(root);
//   disk->CutPowerAfter(seed % 500);           // changing operations until the power fails
//   ... run a database on `disk` until it fails, then destroy it ...
//   disk->DropUnsynced(seed);                  // the real directory now holds what the disk kept
//   ... open the database there with the real file system ...
//
// Only FSWritableFile::Sync, Fsync and FSDirectory::Fsync make anything durable; RangeSync, Flush and Close
// do not. No real sync is made, so tests are fast. unsynced_state.h says what a power cut may leave.
//
// Memory-mapped buffers are NotSupported. Files of RocksDB's logger, and LOCK, are not recorded.
//
// Thread-safe. Every changing operation runs under one mutex, so that the real directory and the records
// agree. The power fails between two operations, never inside one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"
#include "tests/support/unsynced_state.h"

namespace itemdb::testing {

// An error that later operations return; see PowerLossFileSystem::Inject.
struct InjectedFault {
  // kRead: reads at an offset, as RocksDB reads table files; they fail whether or not the power is cut.
  enum class Operation { kAppend, kSync, kCreateFile, kRename, kDelete, kSyncDirectory, kRead };
  Operation operation = Operation::kSync;
  // Selects files by absolute path (kRename: the new path). Empty: all files. Must not call the file system.
  std::function<bool(const std::string& path)> matches;
  // How many matching operations fail before the fault is used up.
  int times = 1;
  rocksdb::IOStatus status = rocksdb::IOStatus::IOError("injected fault");
};

class PowerLossFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // `root` is an existing directory, absolute, without symbolic links; its present content is durable.
  // Operations on other paths are passed through. Uses the sibling directory `<root>.kept`.
  explicit PowerLossFileSystem(const std::string& root,
                               std::shared_ptr<rocksdb::FileSystem> base = rocksdb::FileSystem::Default());
  ~PowerLossFileSystem() override;

  // ---- for the test ----

  // Lets `operations` more changing operations (creating, appending, syncing, renaming, ...) succeed; every
  // later one fails with an I/O error. Reads still succeed.
  void CutPowerAfter(uint64_t operations);
  // Changing operations that have succeeded. A first run without a cut shows how many there are.
  uint64_t operations() const;
  bool power_is_cut() const;

  // Cuts the power, unless it is cut, and turns the real directory into what `seed` lets a power cut leave.
  // Call after the database on this file system is destroyed. Later changes through this object fail.
  PowerLossReport DropUnsynced(uint64_t seed, LostBytes lost_bytes = LostBytes::kEnd);

  // Faults are tried in the order of injection. A failed append writes nothing. After a failed sync the bytes
  // that it should have made durable stay readable and can be lost, even if later syncs succeed.
  void Inject(InjectedFault fault);
  // Injected faults that are not used up.
  int faults_left() const;
  // Removes all injected faults.
  void ClearFaults();

  // The bytes that GetFreeSpace reports; nullopt: the real value.
  void SetFreeSpace(std::optional<uint64_t> bytes);

  // ---- rocksdb::FileSystem ----

  static const char* kClassName() { return "PowerLossFileSystem"; }
  const char* Name() const override { return kClassName(); }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result,
                                       rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                                      const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus NewRandomRWFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSRandomRWFile>* result,
                                    rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus NewMemoryMappedFileBuffer(
      const std::string& path, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* result) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const rocksdb::IOOptions& options,
                                 std::unique_ptr<rocksdb::FSDirectory>* result,
                                 rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus LinkFile(const std::string& from, const std::string& to,
                             const rocksdb::IOOptions& options, rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus CreateDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus CreateDirIfMissing(const std::string& path, const rocksdb::IOOptions& options,
                                       rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus DeleteDir(const std::string& path, const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* dbg) override;
  rocksdb::IOStatus GetFreeSpace(const std::string& path, const rocksdb::IOOptions& options, uint64_t* bytes,
                                 rocksdb::IODebugContext* dbg) override;

 private:
  class WritableFile;
  class RandomRWFile;
  class RandomAccessFile;
  class Directory;

  // The first fault for `operation` on `path`; OK if there is none.
  rocksdb::IOStatus TakeFault(std::optional<InjectedFault::Operation> operation, const std::string& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts one changing operation, or returns why it fails. `operation` is empty if it has no faults.
  rocksdb::IOStatus Admit(std::optional<InjectedFault::Operation> operation, const std::string& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether `path` is the root or below it.
  bool Covers(const std::string& path) const;
  rocksdb::IOStatus SyncFile(const std::string& path, const std::shared_ptr<UnsyncedFile>& file);
  rocksdb::IOStatus SyncDirectory(const std::string& path);

  const std::string root_;
  mutable storage::Mutex mutex_;
  UnsyncedState state_ ABSL_GUARDED_BY(mutex_);
  bool power_is_cut_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t operations_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> cut_at_operation_ ABSL_GUARDED_BY(mutex_);
  std::vector<InjectedFault> faults_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> free_space_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::testing
