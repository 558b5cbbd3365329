// A RocksDB file system whose power can be cut: for tests of what a database keeps.
//
// It passes everything through to a real directory and remembers what the program has not made durable. A
// killed process loses nothing that it wrote, because the kernel has it; so killing cannot show a missing
// sync. This can:
//
//   auto disk = std::make_shared<PowerLossFileSystem>(root);
//   disk->CutPowerAfter(seed % 500);           // operations until the machine is dead
//   ... run a database on `disk` until it fails, then destroy it ...
//   disk->LoseUnsynced(seed);                  // the real directory is now what the disk kept
//   ... open the database there with the real file system ...
//
// Only FSWritableFile::Sync, Fsync and FSDirectory::Fsync make anything durable; RangeSync, Flush and Close
// do not. No real sync is made, so tests run at memory speed. What a cut may leave is written in
// unsynced_state.h.
//
// Not offered: memory-mapped buffers (NotSupported). Logger files that RocksDB opens itself and LOCK are
// passed through unrecorded.
//
// Thread-safe. Every operation that changes something runs under one mutex, so that the real directory and
// the record agree and the power fails between two operations, never inside one.
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

// An error to be returned by operations to come; see PowerLossFileSystem::Inject.
struct InjectedFault {
  // Reads are those at a place of a file, as of tables; they fail whether or not the power is cut.
  enum class Operation { kAppend, kSync, kCreateFile, kRename, kDelete, kSyncDirectory, kRead };
  Operation operation = Operation::kSync;
  // Chooses files by absolute path; for kRename the new name. Empty: all. Must not call the file system.
  std::function<bool(const std::string& path)> matches;
  // How many matching operations fail before the fault is used up.
  int times = 1;
  rocksdb::IOStatus status = rocksdb::IOStatus::IOError("injected fault");
};

class PowerLossFileSystem : public rocksdb::FileSystemWrapper {
 public:
  // `root` is an existing directory, absolute, without symbolic links; what it holds is durable. Paths
  // elsewhere are passed through. The sibling `<root>.kept` is used until destruction.
  explicit PowerLossFileSystem(const std::string& root,
                               std::shared_ptr<rocksdb::FileSystem> base = rocksdb::FileSystem::Default());
  ~PowerLossFileSystem() override;

  // ---- for the test ----

  // After `operations` more changing operations (creating, appending, syncing, renaming, ...) every further
  // one fails with an I/O error. Reads go on.
  void CutPowerAfter(uint64_t operations);
  // Changing operations so far that succeeded: run once without a cut to learn where cuts make sense.
  uint64_t operations() const;
  bool power_is_cut() const;

  // Makes the real directory what `seed` lets a power cut leave, and cuts the power if that has not happened.
  // To be called after the database on this file system is destroyed. Afterwards this object refuses every
  // change.
  PowerLossReport LoseUnsynced(uint64_t seed);

  // Faults are tried in the order of injection. A failed append writes nothing. After a failed sync the bytes
  // that it should have made durable stay readable and can still be lost, whatever later syncs of that file
  // answer.
  void Inject(InjectedFault fault);
  // Faults injected that have not been used up.
  int faults_left() const;
  // Takes all of them back.
  void ClearFaults();

  // What GetFreeSpace answers, in bytes; nullopt: the truth.
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

  // The first fault that `operation` on `path` meets; OK: none.
  rocksdb::IOStatus TakeFault(std::optional<InjectedFault::Operation> operation, const std::string& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Counts one changing operation, or says why it must fail. `operation` is empty for those without faults.
  rocksdb::IOStatus Admit(std::optional<InjectedFault::Operation> operation, const std::string& path)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether `path` is the root or below it.
  bool Covers(const std::string& path) const;
  rocksdb::IOStatus SyncFile(const std::string& path, const std::shared_ptr<UnsyncedFile>& file);
  rocksdb::IOStatus SyncDirectory(const std::string& path);

  const std::string root_;
  mutable Mutex mutex_;
  UnsyncedState state_ ABSL_GUARDED_BY(mutex_);
  bool power_is_cut_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t operations_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<uint64_t> cut_at_operation_ ABSL_GUARDED_BY(mutex_);
  std::vector<InjectedFault> faults_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> free_space_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::testing
