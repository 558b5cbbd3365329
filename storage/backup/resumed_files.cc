#include "storage/backup/resumed_files.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "rocksdb/file_system.h"
#include "storage/base/mutex.h"

namespace itemdb::storage {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

// BackupEngine's folder of files that several backups may share.
constexpr char kSharedFolder[] = "shared_checksum";
constexpr char kResumedFolder[] = "resumed";

// The path of the file that has the path `unfinished` until it is whole: shared_checksum/.NAME.tmp.
std::optional<std::string> WhenFinished(std::string_view unfinished) {
  constexpr std::string_view kEnd = ".tmp";
  if (!unfinished.ends_with(kEnd)) return std::nullopt;
  unfinished.remove_suffix(kEnd.size());
  const size_t name = unfinished.rfind('/') + 1;
  std::string path(unfinished.substr(0, name));
  if (unfinished.substr(name).starts_with('.')) unfinished.remove_prefix(1);
  return path.append(unfinished.substr(name));
}

// The size of the file, from its name: 000012_sSESSION_4096.sst. std::nullopt: the name has another form.
std::optional<uint64_t> SizeInName(std::string_view name) {
  const size_t end = name.rfind('.');
  const size_t begin = name.rfind('_');
  uint64_t size = 0;
  if (end == name.npos || begin == name.npos || begin > end || name.find("_s") >= begin) return std::nullopt;
  if (!absl::SimpleAtoi(absl::string_view(name.data() + begin + 1, end - begin - 1), &size))
    return std::nullopt;
  return size;
}

// Whether this thread copies a file that is there already. BackupEngine opens both files, copies and closes
// on one thread.
thread_local bool only_reads = false;

// Takes the bytes of a file that is there already.
class SkippedCopy : public rocksdb::FSWritableFile {
 public:
  SkippedCopy() { only_reads = true; }
  ~SkippedCopy() override { only_reads = false; }

  IOStatus Append(const Slice& data, const IOOptions&, IODebugContext*) override {
    size_ += data.size();
    return IOStatus::OK();
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* dbg) override {
    return Append(data, options, dbg);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const IOOptions&, IODebugContext*) override { return size_; }

 private:
  uint64_t size_ = 0;
};

// Reading alone counts less than reading and writing.
constexpr int64_t kReadFraction = 4;

class CopyLimiter : public rocksdb::RateLimiter {
 public:
  explicit CopyLimiter(std::shared_ptr<rocksdb::RateLimiter> bound) : bound_(std::move(bound)) {}

  void SetBytesPerSecond(int64_t bytes_per_second) override { bound_->SetBytesPerSecond(bytes_per_second); }
  void Request(const int64_t bytes, const rocksdb::Env::IOPriority priority, rocksdb::Statistics* statistics,
               OpType operation) override {
    bound_->Request(only_reads ? bytes / kReadFraction : bytes, priority, statistics, operation);
  }
  int64_t GetSingleBurstBytes() const override { return bound_->GetSingleBurstBytes(); }
  int64_t GetTotalBytesThrough(const rocksdb::Env::IOPriority priority) const override {
    return bound_->GetTotalBytesThrough(priority);
  }
  int64_t GetTotalRequests(const rocksdb::Env::IOPriority priority) const override {
    return bound_->GetTotalRequests(priority);
  }
  int64_t GetBytesPerSecond() const override { return bound_->GetBytesPerSecond(); }

 private:
  const std::shared_ptr<rocksdb::RateLimiter> bound_;
};

}  // namespace

class ResumedFiles::FileSystem : public rocksdb::FileSystemWrapper {
 public:
  FileSystem(const std::shared_ptr<rocksdb::FileSystem>& base, const std::string& directory)
      : FileSystemWrapper(base),
        shared_(directory + "/" + kSharedFolder + "/"),
        kept_(directory + "/" + kResumedFolder + "/") {}
  static const char* kClassName() { return "itemdb.ResumedFiles"; }
  const char* Name() const override { return kClassName(); }

  // `resumed`: by the path in the shared folder, where the file is, and its size.
  struct Resumed {
    std::string path;
    uint64_t size = 0;
  };
  // From now on BackupEngine deletes no file that may be shared.
  void Begin(std::map<std::string, Resumed> resumed) {
    MutexLock lock(mutex_);
    is_begun_ = true;
    resumed_ = std::move(resumed);
    bytes_ = 0;
  }
  void End() {
    MutexLock lock(mutex_);
    is_begun_ = false;
    resumed_.clear();
  }
  int64_t bytes() const {
    MutexLock lock(mutex_);
    return bytes_;
  }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* dbg) override {
    if (!Find(path).has_value()) return target()->NewWritableFile(path, options, result, dbg);
    *result = std::make_unique<SkippedCopy>();
    return IOStatus::OK();
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* dbg) override {
    const std::optional<Resumed> resumed = Find(from);
    if (!resumed.has_value()) return target()->RenameFile(from, to, options, dbg);
    const IOStatus moved = target()->RenameFile(resumed->path, to, options, dbg);
    MutexLock lock(mutex_);
    if (moved.ok()) bytes_ += static_cast<int64_t>(resumed->size);
    resumed_.erase(to);
    return moved;
  }

  IOStatus DeleteFile(const std::string& path, const IOOptions& options, IODebugContext* dbg) override {
    const bool is_shared = path.starts_with(shared_) && path[shared_.size()] != '.';
    const bool is_kept = is_shared && [this] {
      MutexLock lock(mutex_);
      return is_begun_;
    }();
    if (!is_kept) return target()->DeleteFile(path, options, dbg);
    const IOStatus made = target()->CreateDirIfMissing(kept_, options, dbg);
    return made.ok() ? target()->RenameFile(path, kept_ + path.substr(shared_.size()), options, dbg) : made;
  }

 private:
  // The file that is there already, if `unfinished` is the path of its copy.
  std::optional<Resumed> Find(const std::string& unfinished) const {
    if (!unfinished.starts_with(shared_)) return std::nullopt;
    const std::optional<std::string> finished = WhenFinished(unfinished);
    if (!finished.has_value()) return std::nullopt;
    MutexLock lock(mutex_);
    const auto found = resumed_.find(*finished);
    return found == resumed_.end() ? std::nullopt : std::optional(found->second);
  }

  const std::string shared_;
  const std::string kept_;
  mutable Mutex mutex_;
  bool is_begun_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::string, Resumed> resumed_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

ResumedFiles::ResumedFiles(rocksdb::Env* env, std::string directory)
    : env_(env),
      directory_(std::move(directory)),
      file_system_(std::make_shared<FileSystem>(env->GetFileSystem(), directory_)),
      resuming_(rocksdb::NewCompositeEnv(file_system_)) {}
ResumedFiles::~ResumedFiles() = default;

std::shared_ptr<rocksdb::RateLimiter> ResumedFiles::Bound(std::shared_ptr<rocksdb::RateLimiter> bound) {
  return std::make_shared<CopyLimiter>(std::move(bound));
}

void ResumedFiles::Begin(const std::set<std::string>& of_backups) {
  const std::string shared = directory_ + "/" + kSharedFolder;
  const std::string kept = directory_ + "/" + kResumedFolder;
  std::vector<std::string> names;
  // There is no such folder before the first backup.
  (void)env_->GetChildren(shared, &names);
  for (const std::string& name : names) {
    if (name.starts_with('.') || of_backups.contains(std::string(kSharedFolder) + "/" + name)) continue;
    if (!env_->CreateDirIfMissing(kept).ok()) return;
    (void)env_->RenameFile(shared + "/" + name, kept + "/" + name);
  }
  names.clear();
  (void)env_->GetChildren(kept, &names);
  std::map<std::string, FileSystem::Resumed> resumed;
  for (const std::string& name : names) {
    const std::string path = kept + "/" + name;
    uint64_t size = 0;
    if (!env_->GetFileSize(path, &size).ok() || size != SizeInName(name)) continue;
    resumed[shared + "/" + name] = {.path = path, .size = size};
  }
  file_system_->Begin(std::move(resumed));
}

void ResumedFiles::End() { file_system_->End(); }

void ResumedFiles::Discard() {
  const std::string kept = directory_ + "/" + kResumedFolder;
  std::vector<std::string> names;
  if (!env_->GetChildren(kept, &names).ok()) return;
  for (const std::string& name : names) (void)env_->DeleteFile(kept + "/" + name);
  (void)env_->DeleteDir(kept);
}

int64_t ResumedFiles::bytes() const { return file_system_->bytes(); }

}  // namespace itemdb::storage
