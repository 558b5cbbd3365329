#include "storage/store/spare_log.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace itemdb::storage {
namespace {

using rocksdb::FileOptions;
using rocksdb::FSWritableFile;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// The length of spares, in SpareLogOptions::after_bytes. The first of an opening has a length of its own, the
// others are as long as the log before.
constexpr uint64_t kMinSpareLength = 2;
constexpr uint64_t kFirstSpareLength = 8;
constexpr uint64_t kMaxSpareLength = 16;

// Synced at once, so that the syncs of commit groups never wait for many megabytes.
constexpr size_t kZerosAtOnce = 1 << 20;

bool IsLog(const std::string& path) { return path.ends_with(".log"); }

}  // namespace

// A log that is open for writing. Thread-safe as rocksdb::FSWritableFile is: one caller at a time.
class SpareLogFileSystem::Log : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  Log(std::unique_ptr<FSWritableFile> file, SpareLogFileSystem& owner, std::string path, bool was_spare)
      : FSWritableFileOwnerWrapper(std::move(file)),
        owner_(owner),
        path_(std::move(path)),
        was_spare_(was_spare) {}
  ~Log() override { owner_.Closed(path_, bytes_); }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Count(target()->Append(data, options, dbg), data.size());
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verification, IODebugContext* dbg) override {
    return Count(target()->Append(data, options, verification, dbg), data.size());
  }
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    const IOStatus cut = was_spare_ ? target()->Truncate(bytes_, options, dbg) : IOStatus::OK();
    const IOStatus closed = target()->Close(options, dbg);
    return cut.ok() ? closed : cut;
  }

 private:
  IOStatus Count(IOStatus status, size_t bytes) {
    if (!status.ok()) return status;
    bytes_ += bytes;
    owner_.Grown(path_, bytes_);
    return status;
  }

  SpareLogFileSystem& owner_;
  const std::string path_;
  const bool was_spare_;
  uint64_t bytes_ = 0;
};

SpareLogFileSystem::SpareLogFileSystem(const std::shared_ptr<rocksdb::FileSystem>& base,
                                       SpareLogOptions options)
    : FileSystemWrapper(base),
      options_(std::move(options)),
      spare_path_(options_.directory + "/" + kSpareLogFileName),
      spare_bytes_(kFirstSpareLength * options_.after_bytes) {}

SpareLogFileSystem::~SpareLogFileSystem() {
  std::thread thread;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.NotifyAll();
  if (thread.joinable()) thread.join();
  MutexLock lock(mutex_);
  if (spare_ == Spare::kReady) (void)target_->DeleteFile(spare_path_, IOOptions(), nullptr);
}

uint64_t SpareLogFileSystem::reused() const {
  MutexLock lock(mutex_);
  return reused_;
}

void SpareLogFileSystem::Await() {
  MutexLock lock(mutex_);
  while (spare_ == Spare::kWanted || spare_ == Spare::kBeingMade) changed_.Wait(mutex_);
}

IOStatus SpareLogFileSystem::NewWritableFile(const std::string& path, const FileOptions& options,
                                             std::unique_ptr<FSWritableFile>* result, IODebugContext* dbg) {
  if (!IsLog(path)) return target_->NewWritableFile(path, options, result, dbg);
  bool has_spare = false;
  {
    MutexLock lock(mutex_);
    has_spare = spare_ == Spare::kReady;
    if (has_spare || spare_ == Spare::kFailed) spare_ = Spare::kNone;
  }
  std::unique_ptr<FSWritableFile> file;
  has_spare = has_spare && target_->ReuseWritableFile(path, spare_path_, options, &file, dbg).ok();
  if (has_spare) {
    MutexLock lock(mutex_);
    ++reused_;
    lengths_[path] = 0;
  } else {
    const IOStatus status = target_->NewWritableFile(path, options, &file, dbg);
    if (!status.ok()) return status;
  }
  *result = std::make_unique<Log>(std::move(file), *this, path, has_spare);
  return IOStatus::OK();
}

IOStatus SpareLogFileSystem::GetFileSize(const std::string& path, const IOOptions& options, uint64_t* bytes,
                                         IODebugContext* dbg) {
  {
    MutexLock lock(mutex_);
    const auto length = lengths_.find(path);
    if (length != lengths_.end()) {
      *bytes = length->second;
      return IOStatus::OK();
    }
  }
  return target_->GetFileSize(path, options, bytes, dbg);
}

IOStatus SpareLogFileSystem::GetChildrenFileAttributes(const std::string& directory, const IOOptions& options,
                                                       std::vector<rocksdb::FileAttributes>* result,
                                                       IODebugContext* dbg) {
  const IOStatus status = target_->GetChildrenFileAttributes(directory, options, result, dbg);
  MutexLock lock(mutex_);
  for (rocksdb::FileAttributes& file : *result) {
    const auto length = lengths_.find(directory + "/" + file.name);
    if (length != lengths_.end()) file.size_bytes = length->second;
  }
  return status;
}

void SpareLogFileSystem::Grown(const std::string& path, uint64_t bytes) {
  {
    MutexLock lock(mutex_);
    const auto length = lengths_.find(path);
    if (length != lengths_.end()) length->second = bytes;
    if (bytes < options_.after_bytes || spare_ != Spare::kNone || stopping_) return;
    spare_ = Spare::kWanted;
    try {
      if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
    } catch (const std::system_error&) {
      spare_ = Spare::kFailed;
    }
  }
  changed_.NotifyAll();
}

void SpareLogFileSystem::Closed(const std::string& path, uint64_t bytes) {
  MutexLock lock(mutex_);
  lengths_.erase(path);
  if (bytes < options_.after_bytes) return;
  spare_bytes_ =
      std::clamp(bytes, kMinSpareLength * options_.after_bytes, kMaxSpareLength * options_.after_bytes);
}

IOStatus SpareLogFileSystem::Make(uint64_t bytes) {
  uint64_t free = 0;
  IOStatus status = target_->GetFreeSpace(options_.directory, IOOptions(), &free, nullptr);
  if (status.ok() && free < options_.free_space_floor_bytes + 2 * bytes)
    status = IOStatus::NoSpace("too little free space for a spare log");
  std::unique_ptr<FSWritableFile> file;
  if (status.ok()) status = target_->NewWritableFile(spare_path_, FileOptions(), &file, nullptr);
  const std::string zeros(std::min<uint64_t>(kZerosAtOnce, bytes), '\0');
  for (uint64_t made = 0; made < bytes && status.ok(); made += zeros.size()) {
    status = file->Append(Slice(zeros.data(), std::min<uint64_t>(zeros.size(), bytes - made)), IOOptions(),
                          nullptr);
    if (status.ok()) status = file->Sync(IOOptions(), nullptr);
    MutexLock lock(mutex_);
    if (stopping_) status = IOStatus::Aborted("the file system is closed");
  }
  if (status.ok()) status = file->Close(IOOptions(), nullptr);
  return status;
}

void SpareLogFileSystem::Loop() {
  while (true) {
    uint64_t bytes = 0;
    {
      MutexLock lock(mutex_);
      while (spare_ != Spare::kWanted && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      spare_ = Spare::kBeingMade;
      bytes = spare_bytes_;
    }
    const IOStatus made = Make(bytes);
    if (!made.ok()) (void)target_->DeleteFile(spare_path_, IOOptions(), nullptr);
    {
      MutexLock lock(mutex_);
      spare_ = made.ok() ? Spare::kReady : Spare::kFailed;
    }
    changed_.NotifyAll();
  }
}

}  // namespace itemdb::storage
