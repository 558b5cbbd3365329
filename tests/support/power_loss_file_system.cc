#include "tests/support/power_loss_file_system.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include "storage/base/check.h"

#ifdef ITEMDB_ADDRESS_SANITIZER
// RocksDB 7.8 leaks a new memtable when starting a new log fails, as it does on this file system.
extern "C" const char* __lsan_default_suppressions() { return "leak:rocksdb::DBImpl::SwitchMemtable\n"; }
#endif

namespace itemdb::testing {
namespace {

using rocksdb::DataVerificationInfo;
using rocksdb::DirFsyncOptions;
using rocksdb::FileOptions;
using rocksdb::FileSystem;
using rocksdb::FSDirectory;
using rocksdb::FSRandomAccessFile;
using rocksdb::FSRandomRWFile;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using Operation = InjectedFault::Operation;

// RocksDB may join paths with two slashes.
std::string Normal(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  if (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

}  // namespace

class PowerLossFileSystem::WritableFile : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WritableFile(std::unique_ptr<FSWritableFile> target, PowerLossFileSystem& disk, std::string path,
               std::shared_ptr<UnsyncedFile> file)
      : FSWritableFileOwnerWrapper(std::move(target)),
        disk_(disk),
        path_(std::move(path)),
        file_(std::move(file)) {}

  ~WritableFile() override { (void)Close(IOOptions(), nullptr); }

  // The file keeps its bytes until others are written over them from its beginning on.
  void Reuse() { position_ = 0; }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    storage::MutexLock lock(disk_.mutex_);
    IOStatus status = disk_.Admit(Operation::kAppend, path_);
    if (!status.ok()) return status;
    const uint64_t position = position_.value_or(file_->size);
    disk_.state_.BeforeOverwrite(path_, position, data.size());
    status = target()->Append(data, options, dbg);
    if (!status.ok()) return status;
    file_->size = std::max<uint64_t>(file_->size, position + data.size());
    if (position_.has_value()) position_ = position + data.size();
    return status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& /*checksum*/,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  // Used for direct I/O only, which appends or overwrites the padding of the last write.
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* dbg) override {
    storage::MutexLock lock(disk_.mutex_);
    IOStatus status = disk_.Admit(Operation::kAppend, path_);
    if (!status.ok()) return status;
    disk_.state_.BeforeOverwrite(path_, offset, data.size());
    status = target()->PositionedAppend(data, offset, options, dbg);
    if (status.ok()) file_->size = std::max<uint64_t>(file_->size, offset + data.size());
    return status;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const DataVerificationInfo& /*checksum*/, IODebugContext* dbg) override {
    return PositionedAppend(data, offset, options, dbg);
  }
  // RocksDB's file cuts itself to what was written when it is closed. Of a reused file that is a change.
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    storage::MutexLock lock(disk_.mutex_);
    if (std::exchange(is_closed_, true)) return IOStatus::OK();
    if (!position_.has_value() || *position_ == file_->size) return target()->Close(options, dbg);
    const IOStatus status = disk_.Admit(std::nullopt, path_);
    if (status.ok()) {
      disk_.state_.BeforeTruncate(path_, *position_);
      return target()->Close(options, dbg);
    }
    std::string rest(file_->size - *position_, '\0');
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(*position_));
    file.read(rest.data(), static_cast<std::streamsize>(rest.size()));
    (void)target()->Close(options, dbg);
    file.seekp(static_cast<std::streamoff>(*position_));
    file.write(rest.data(), static_cast<std::streamsize>(rest.size()));
    ITEMDB_CHECK(file.good());
    return status;
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* dbg) override {
    storage::MutexLock lock(disk_.mutex_);
    if (size == file_->size) return target()->Truncate(size, options, dbg);
    IOStatus status = disk_.Admit(std::nullopt, path_);
    if (!status.ok()) return status;
    disk_.state_.BeforeTruncate(path_, size);
    return target()->Truncate(size, options, dbg);
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.SyncFile(path_, file_);
  }
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.SyncFile(path_, file_);
  }
  IOStatus RangeSync(uint64_t /*offset*/, uint64_t /*bytes*/, const IOOptions& /*options*/,
                     IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }

 private:
  PowerLossFileSystem& disk_;
  // The path at the time of opening; used for faults, and to read the bytes that an overwrite replaces.
  const std::string path_;
  // Its fields are guarded by disk_.mutex_.
  const std::shared_ptr<UnsyncedFile> file_;
  // Where the next bytes go in a file that is reused; otherwise they go to its end.
  std::optional<uint64_t> position_;
  bool is_closed_ = false;
};

class PowerLossFileSystem::RandomRWFile : public rocksdb::FSRandomRWFileOwnerWrapper {
 public:
  RandomRWFile(std::unique_ptr<FSRandomRWFile> target, PowerLossFileSystem& disk, std::string path,
               std::shared_ptr<UnsyncedFile> file)
      : FSRandomRWFileOwnerWrapper(std::move(target)),
        disk_(disk),
        path_(std::move(path)),
        file_(std::move(file)) {}

  IOStatus Write(uint64_t offset, const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    storage::MutexLock lock(disk_.mutex_);
    IOStatus status = disk_.Admit(Operation::kAppend, path_);
    if (!status.ok()) return status;
    disk_.state_.BeforeOverwrite(path_, offset, data.size());
    status = FSRandomRWFileOwnerWrapper::Write(offset, data, options, dbg);
    if (status.ok()) file_->size = std::max<uint64_t>(file_->size, offset + data.size());
    return status;
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.SyncFile(path_, file_);
  }
  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.SyncFile(path_, file_);
  }

 private:
  PowerLossFileSystem& disk_;
  const std::string path_;
  const std::shared_ptr<UnsyncedFile> file_;
};

class PowerLossFileSystem::RandomAccessFile : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  RandomAccessFile(std::unique_ptr<FSRandomAccessFile> target, PowerLossFileSystem& disk, std::string path)
      : FSRandomAccessFileOwnerWrapper(std::move(target)), disk_(disk), path_(std::move(path)) {}

  IOStatus Read(uint64_t offset, size_t size, const IOOptions& options, Slice* result, char* scratch,
                IODebugContext* dbg) const override {
    IOStatus fault = Fault();
    return fault.ok() ? FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, dbg)
                      : fault;
  }
  IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count, const IOOptions& options,
                     IODebugContext* dbg) override {
    IOStatus fault = Fault();
    return fault.ok() ? FSRandomAccessFileOwnerWrapper::MultiRead(requests, count, options, dbg) : fault;
  }
  // Without Prefetch RocksDB reads on demand.
  IOStatus Prefetch(uint64_t /*offset*/, size_t /*size*/, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported();
  }

 private:
  IOStatus Fault() const {
    storage::MutexLock lock(disk_.mutex_);
    return disk_.TakeFault(Operation::kRead, path_);
  }

  PowerLossFileSystem& disk_;
  const std::string path_;
};

class PowerLossFileSystem::Directory : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(std::unique_ptr<FSDirectory> target, PowerLossFileSystem& disk, std::string path)
      : FSDirectoryWrapper(std::move(target)), disk_(disk), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.SyncDirectory(path_);
  }
  IOStatus FsyncWithDirOptions(const IOOptions& /*options*/, IODebugContext* /*dbg*/,
                               const DirFsyncOptions& /*reason*/) override {
    return disk_.SyncDirectory(path_);
  }

 private:
  PowerLossFileSystem& disk_;
  const std::string path_;
};

PowerLossFileSystem::PowerLossFileSystem(const std::string& root, std::shared_ptr<FileSystem> base)
    : FileSystemWrapper(std::move(base)), root_(Normal(root)), state_(root_) {}

PowerLossFileSystem::~PowerLossFileSystem() = default;

void PowerLossFileSystem::CutPowerAfter(uint64_t operations) {
  storage::MutexLock lock(mutex_);
  cut_at_operation_ = operations_ + operations;
}

uint64_t PowerLossFileSystem::operations() const {
  storage::MutexLock lock(mutex_);
  return operations_;
}

bool PowerLossFileSystem::power_is_cut() const {
  storage::MutexLock lock(mutex_);
  return power_is_cut_;
}

PowerLossReport PowerLossFileSystem::DropUnsynced(uint64_t seed, LostBytes lost_bytes) {
  storage::MutexLock lock(mutex_);
  power_is_cut_ = true;
  std::mt19937_64 random(seed);
  return state_.DropUnsynced(random, lost_bytes);
}

void PowerLossFileSystem::Inject(InjectedFault fault) {
  storage::MutexLock lock(mutex_);
  faults_.push_back(std::move(fault));
}

int PowerLossFileSystem::faults_left() const {
  storage::MutexLock lock(mutex_);
  return static_cast<int>(faults_.size());
}

void PowerLossFileSystem::ClearFaults() {
  storage::MutexLock lock(mutex_);
  faults_.clear();
}

void PowerLossFileSystem::SetFreeSpace(std::optional<uint64_t> bytes) {
  storage::MutexLock lock(mutex_);
  free_space_ = bytes;
}

IOStatus PowerLossFileSystem::TakeFault(std::optional<Operation> operation, const std::string& path) {
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (operation != fault->operation || (fault->matches && !fault->matches(path))) continue;
    IOStatus status = fault->status;
    if (--fault->times <= 0) faults_.erase(fault);
    return status;
  }
  return IOStatus::OK();
}

IOStatus PowerLossFileSystem::Admit(std::optional<Operation> operation, const std::string& path) {
  if (cut_at_operation_.has_value() && operations_ >= *cut_at_operation_) power_is_cut_ = true;
  if (power_is_cut_) return IOStatus::IOError("the power is cut", path);
  IOStatus fault = TakeFault(operation, path);
  if (fault.ok()) ++operations_;
  return fault;
}

bool PowerLossFileSystem::Covers(const std::string& path) const {
  return path == root_ || (path.starts_with(root_) && path[root_.size()] == '/');
}

IOStatus PowerLossFileSystem::SyncFile(const std::string& path, const std::shared_ptr<UnsyncedFile>& file) {
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kSync, path);
  if (status.ok()) {
    state_.SyncFile(file);
  } else {
    file->sync_failed = true;
  }
  return status;
}

IOStatus PowerLossFileSystem::SyncDirectory(const std::string& path) {
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kSyncDirectory, path);
  if (status.ok()) state_.SyncDirectory(path);
  return status;
}

IOStatus PowerLossFileSystem::NewWritableFile(const std::string& name, const FileOptions& options,
                                              std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->NewWritableFile(path, options, result, dbg);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kCreateFile, path);
  if (!status.ok()) return status;
  bool exists = target_->FileExists(path, options.io_options, dbg).ok();
  if (exists) state_.BeforeTruncate(path, 0);
  std::unique_ptr<FSWritableFile> file;
  status = target_->NewWritableFile(path, options, &file, dbg);
  if (!status.ok()) return status;
  *result = std::make_unique<WritableFile>(std::move(file), *this, path,
                                           exists ? state_.Find(path) : state_.CreateFile(path));
  return status;
}

IOStatus PowerLossFileSystem::ReopenWritableFile(const std::string& name, const FileOptions& options,
                                                 std::unique_ptr<FSWritableFile>* result,
                                                 IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->ReopenWritableFile(path, options, result, dbg);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kCreateFile, path);
  if (!status.ok()) return status;
  bool exists = target_->FileExists(path, options.io_options, dbg).ok();
  std::unique_ptr<FSWritableFile> file;
  status = target_->ReopenWritableFile(path, options, &file, dbg);
  if (!status.ok()) return status;
  *result = std::make_unique<WritableFile>(std::move(file), *this, path,
                                           exists ? state_.Find(path) : state_.CreateFile(path));
  return status;
}

IOStatus PowerLossFileSystem::ReuseWritableFile(const std::string& name, const std::string& old_name,
                                                const FileOptions& options,
                                                std::unique_ptr<FSWritableFile>* result,
                                                IODebugContext* dbg) {
  const std::string path = Normal(name), old_path = Normal(old_name);
  if (!Covers(path) && !Covers(old_path)) {
    return target_->ReuseWritableFile(path, old_path, options, result, dbg);
  }
  IOStatus status = RenameFile(old_path, path, options.io_options, dbg);
  if (!status.ok()) return status;
  storage::MutexLock lock(mutex_);
  std::unique_ptr<FSWritableFile> file;
  // Of a file that keeps its name: opened without cutting it.
  status = target_->ReuseWritableFile(path, path, options, &file, dbg);
  if (!status.ok()) return status;
  auto reused = std::make_unique<WritableFile>(std::move(file), *this, path, state_.Find(path));
  reused->Reuse();
  *result = std::move(reused);
  return status;
}

IOStatus PowerLossFileSystem::NewRandomRWFile(const std::string& name, const FileOptions& options,
                                              std::unique_ptr<FSRandomRWFile>* result, IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->NewRandomRWFile(path, options, result, dbg);
  storage::MutexLock lock(mutex_);
  std::unique_ptr<FSRandomRWFile> file;
  IOStatus status = target_->NewRandomRWFile(path, options, &file, dbg);
  if (!status.ok()) return status;
  *result = std::make_unique<RandomRWFile>(std::move(file), *this, path, state_.Find(path));
  return status;
}

IOStatus PowerLossFileSystem::NewRandomAccessFile(const std::string& name, const FileOptions& options,
                                                  std::unique_ptr<FSRandomAccessFile>* result,
                                                  IODebugContext* dbg) {
  std::string path = Normal(name);
  std::unique_ptr<FSRandomAccessFile> file;
  IOStatus status = target_->NewRandomAccessFile(path, options, &file, dbg);
  if (!status.ok()) return status;
  if (Covers(path)) file = std::make_unique<RandomAccessFile>(std::move(file), *this, path);
  *result = std::move(file);
  return status;
}

IOStatus PowerLossFileSystem::NewMemoryMappedFileBuffer(
    const std::string& /*path*/, std::unique_ptr<rocksdb::MemoryMappedFileBuffer>* /*result*/) {
  return IOStatus::NotSupported("memory-mapped writes are not recorded");
}

IOStatus PowerLossFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                           std::unique_ptr<FSDirectory>* result, IODebugContext* dbg) {
  std::string path = Normal(name);
  std::unique_ptr<FSDirectory> directory;
  IOStatus status = target_->NewDirectory(path, options, &directory, dbg);
  if (!status.ok()) return status;
  if (Covers(path)) {
    *result = std::make_unique<Directory>(std::move(directory), *this, path);
  } else {
    *result = std::move(directory);
  }
  return status;
}

IOStatus PowerLossFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                         IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->DeleteFile(path, options, dbg);
  storage::MutexLock lock(mutex_);
  IOStatus status = target_->FileExists(path, options, dbg);
  if (!status.ok()) return target_->DeleteFile(path, options, dbg);
  status = Admit(Operation::kDelete, path);
  if (!status.ok()) return status;
  std::string kept = state_.KeepAside(path);
  status = target_->DeleteFile(path, options, dbg);
  if (status.ok()) state_.DeleteFile(path, kept);
  return status;
}

IOStatus PowerLossFileSystem::RenameFile(const std::string& from_name, const std::string& to_name,
                                         const IOOptions& options, IODebugContext* dbg) {
  std::string from = Normal(from_name);
  std::string to = Normal(to_name);
  if (!Covers(from) && !Covers(to)) return target_->RenameFile(from, to, options, dbg);
  if (Covers(from) != Covers(to))
    return IOStatus::NotSupported("renamed across the border of the root", from);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kRename, to);
  if (!status.ok()) return status;
  std::string kept = state_.KeepAside(to);
  status = target_->RenameFile(from, to, options, dbg);
  if (status.ok()) state_.RenameFile(from, to, kept);
  return status;
}

IOStatus PowerLossFileSystem::LinkFile(const std::string& from_name, const std::string& to_name,
                                       const IOOptions& options, IODebugContext* dbg) {
  std::string from = Normal(from_name);
  std::string to = Normal(to_name);
  if (!Covers(from) && !Covers(to)) return target_->LinkFile(from, to, options, dbg);
  // RocksDB copies the file instead when linking is not supported.
  if (Covers(from) != Covers(to)) return IOStatus::NotSupported("linked across the border of the root", from);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(Operation::kCreateFile, to);
  if (status.ok()) status = target_->LinkFile(from, to, options, dbg);
  if (status.ok()) state_.LinkFile(from, to);
  return status;
}

IOStatus PowerLossFileSystem::CreateDir(const std::string& name, const IOOptions& options,
                                        IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->CreateDir(path, options, dbg);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(std::nullopt, path);
  if (status.ok()) status = target_->CreateDir(path, options, dbg);
  if (status.ok()) state_.CreateDirectory(path);
  return status;
}

IOStatus PowerLossFileSystem::CreateDirIfMissing(const std::string& name, const IOOptions& options,
                                                 IODebugContext* dbg) {
  std::string path = Normal(name);
  if (target_->FileExists(path, options, dbg).ok()) return target_->CreateDirIfMissing(path, options, dbg);
  return CreateDir(path, options, dbg);
}

IOStatus PowerLossFileSystem::DeleteDir(const std::string& name, const IOOptions& options,
                                        IODebugContext* dbg) {
  std::string path = Normal(name);
  if (!Covers(path)) return target_->DeleteDir(path, options, dbg);
  storage::MutexLock lock(mutex_);
  IOStatus status = Admit(std::nullopt, path);
  if (status.ok()) status = target_->DeleteDir(path, options, dbg);
  if (status.ok()) state_.DeleteDirectory(path);
  return status;
}

IOStatus PowerLossFileSystem::GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* bytes,
                                           IODebugContext* dbg) {
  {
    storage::MutexLock lock(mutex_);
    if (free_space_.has_value()) {
      *bytes = *free_space_;
      return IOStatus::OK();
    }
  }
  return target_->GetFreeSpace(path, options, bytes, dbg);
}

}  // namespace itemdb::testing
