#include "storage/buckets/folder_bucket.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "absl/functional/function_ref.h"
#include "storage/base/limits.h"
#include "storage/buckets/object_digests.h"

namespace itemdb::storage {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kPartialEnd = ".partial";

// The error of a failed system call. `what` is a verb and an object: "write the file x".
absl::Status FileError(const std::string& what, int error) {
  const std::string message = "cannot " + what + ": " + std::system_category().message(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull, message);
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENOTDIR:
      return MakeError(absl::StatusCode::kPermissionDenied, kReasonBucketAccessDenied, message);
    default:
      return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable, message);
  }
}

absl::Status ObjectChangedError(const std::string& key) {
  return WithRule("IMP-19", MakeError(absl::StatusCode::kFailedPrecondition, kReasonObjectChanged,
                                      "the object was changed after the bucket had been listed: " + key));
}

int64_t ModifiedNs(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

absl::Status SyncFolder(const FileDescriptor& folder, const std::string& key) {
  return fsync(folder.get()) == 0 ? absl::OkStatus() : FileError("sync the folder of " + key, errno);
}

// The folder of the object `key` below `bucket`, and `*name`, the last segment of the key. Opens one folder
// after another: openat() with a whole path would follow links. With `makes` those that are missing are made,
// durably. On an error errno is kept in `*error`.
absl::StatusOr<FileDescriptor> OpenFolderOf(const FileDescriptor& bucket, const std::string& key, bool makes,
                                            std::string* name, int* error) {
  const auto fail = [&](const std::string& what) {
    *error = errno;
    return FileError(what, *error);
  };
  FileDescriptor folder(openat(bucket.get(), ".", kFolderFlags));
  if (folder.get() < 0) return fail("open the bucket");
  size_t begin = 0;
  for (size_t end; (end = key.find('/', begin)) != std::string::npos; begin = end + 1) {
    const std::string segment = key.substr(begin, end - begin);
    if (makes && mkdirat(folder.get(), segment.c_str(), 0777) == 0) {
      if (fsync(folder.get()) != 0) return fail("sync the folder above " + key.substr(0, end));
    } else if (makes && errno != EEXIST) {
      return fail("make the folder " + key.substr(0, end));
    }
    FileDescriptor child(openat(folder.get(), segment.c_str(), kFolderFlags));
    if (child.get() < 0) return fail("open the folder " + key.substr(0, end));
    folder = std::move(child);
  }
  *name = key.substr(begin);
  return folder;
}

// A regular file of a bucket.
struct FoundFile {
  const FileDescriptor& folder;
  const std::string& name;
  std::string key;
  struct stat status;
};

// Visits the regular files below a folder whose keys begin with a prefix.
class FolderWalk {
 public:
  using Visit = absl::FunctionRef<absl::Status(FoundFile file)>;

  FolderWalk(std::string_view prefix, const Cancellation& cancellation, Visit visit)
      : prefix_(prefix), cancellation_(cancellation), visit_(visit) {}

  // `path` is the key of `folder` with a slash, or empty for the bucket.
  absl::Status Walk(const FileDescriptor& folder, const std::string& path) {
    ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
    std::vector<std::string> names;
    ITEMDB_RETURN_IF_ERROR(ReadNames(folder, path, &names));
    for (const std::string& name : names) ITEMDB_RETURN_IF_ERROR(Add(folder, path + name, name));
    return absl::OkStatus();
  }

 private:
  static absl::Status ReadNames(const FileDescriptor& folder, const std::string& path,
                                std::vector<std::string>* names) {
    const std::string what = "read the folder " + path + " of the bucket";
    // fdopendir() takes the descriptor over.
    const int fd = openat(folder.get(), ".", kFolderFlags);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : fdopendir(fd), closedir);
    if (entries == nullptr) {
      const int error = errno;
      if (fd >= 0) (void)close(fd);
      return FileError(what, error);
    }
    errno = 0;
    while (const dirent* entry = readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names->emplace_back(name);
    }
    return errno == 0 ? absl::OkStatus() : FileError(what, errno);
  }

  absl::Status Add(const FileDescriptor& folder, std::string key, const std::string& name) {
    struct stat status {};
    if (fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      // A file that was deleted meanwhile is no object.
      return errno == ENOENT ? absl::OkStatus() : FileError("read the file " + key, errno);
    }
    if (S_ISDIR(status.st_mode)) {
      key.push_back('/');
      if (key.size() > kMaxObjectKeyBytes || (!key.starts_with(prefix_) && !prefix_.starts_with(key)))
        return absl::OkStatus();
      const FileDescriptor child(openat(folder.get(), name.c_str(), kFolderFlags));
      if (child.get() < 0) {
        return errno == ENOENT ? absl::OkStatus()
                               : FileError("read the folder " + key + " of the bucket", errno);
      }
      return Walk(child, key);
    }
    if (!S_ISREG(status.st_mode) || !key.starts_with(prefix_)) return absl::OkStatus();
    return visit_({folder, name, std::move(key), status});
  }

  const std::string_view prefix_;
  const Cancellation& cancellation_;
  const Visit visit_;
};

class ReadableFile final : public ReadableObject {
 public:
  ReadableFile(FileDescriptor file, BucketObject object)
      : file_(std::move(file)), object_(std::move(object)) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    for (;;) {
      const ssize_t count = read(file_.get(), out, size);
      if (count > 0) return static_cast<size_t>(count);
      if (count == 0) {
        ITEMDB_RETURN_IF_ERROR(CheckUnchanged());
        return 0;
      }
      if (errno != EINTR) return FileError("read the object " + object_.key, errno);
    }
  }
  absl::Status CheckUnchanged() const {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) return FileError("read the object " + object_.key, errno);
    // O_NOFOLLOW does not refuse pipes and devices.
    if (!S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) != object_.bytes ||
        ModifiedNs(status) != object_.modified_ns)
      return ObjectChangedError(object_.key);
    return absl::OkStatus();
  }

 private:
  const FileDescriptor file_;
  const BucketObject object_;
};

class WritableFile final : public WritableObject {
 public:
  WritableFile(std::string key, FileDescriptor folder, std::string name, FileDescriptor file)
      : key_(std::move(key)), folder_(std::move(folder)), name_(std::move(name)), file_(std::move(file)) {}
  ~WritableFile() override {
    if (file_.get() >= 0) (void)unlinkat(folder_.get(), PartialName(name_).c_str(), 0);
  }

  absl::Status Append(std::string_view bytes) override {
    digests_.Add(bytes);
    while (!bytes.empty()) {
      const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return FileError("write the object " + key_, errno);
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }
  absl::StatusOr<WrittenObject> Finish() override {
    if (fsync(file_.get()) != 0) return FileError("sync the object " + key_, errno);
    if (renameat(folder_.get(), PartialName(name_).c_str(), folder_.get(), name_.c_str()) != 0)
      return FileError("rename the object " + key_, errno);
    file_ = FileDescriptor();
    ITEMDB_RETURN_IF_ERROR(SyncFolder(folder_, key_));
    return digests_.Finish(key_);
  }

  // The name of the file while it is written.
  static std::string PartialName(const std::string& name) { return name + std::string(kPartialEnd); }

 private:
  const std::string key_;
  const FileDescriptor folder_;
  const std::string name_;
  // None after Finish.
  FileDescriptor file_;
  ObjectDigests digests_;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) (void)close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

absl::StatusOr<std::unique_ptr<FolderBucket>> FolderBucket::Open(const std::string& directory,
                                                                 const std::string& name,
                                                                 const Cancellation& cancellation) {
  std::string path = directory + "/" + name;
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos)
    return NoSuchBucketError("folder " + path);
  const FileDescriptor root(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root.get() < 0) {
    return errno == ENOENT ? NoSuchBucketError("folder " + path)
                           : FileError("use the export directory " + directory, errno);
  }
  FileDescriptor folder(openat(root.get(), name.c_str(), kFolderFlags));
  if (folder.get() < 0) {
    const int error = errno;
    struct stat status {};
    const bool is_link =
        fstatat(root.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    if (is_link) return FileError("use the symbolic link " + path + " as a bucket", ELOOP);
    // ENOTDIR: a file.
    if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
      return NoSuchBucketError("folder " + path);
    return FileError("use the bucket " + path, error);
  }
  return std::unique_ptr<FolderBucket>(new FolderBucket(std::move(folder), std::move(path), cancellation));
}

absl::StatusOr<std::vector<BucketObject>> FolderBucket::List(std::string_view prefix,
                                                             size_t max_objects) const {
  std::vector<BucketObject> objects;
  const auto add = [&](FoundFile file) -> absl::Status {
    if (file.key.size() > kMaxObjectKeyBytes || file.key.ends_with(kPartialEnd) || file.status.st_size == 0)
      return absl::OkStatus();
    if (objects.size() >= max_objects) {
      return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                       "the bucket has more than " + std::to_string(max_objects) +
                           " objects whose keys begin with the prefix");
    }
    objects.push_back({.key = std::move(file.key),
                       .bytes = static_cast<uint64_t>(file.status.st_size),
                       .modified_ns = ModifiedNs(file.status)});
    return absl::OkStatus();
  };
  ITEMDB_RETURN_IF_ERROR(FolderWalk(prefix, cancellation_, add).Walk(folder_, ""));
  std::sort(objects.begin(), objects.end(),
            [](const BucketObject& a, const BucketObject& b) { return a.key < b.key; });
  return objects;
}

absl::StatusOr<std::unique_ptr<ReadableObject>> FolderBucket::Open(const BucketObject& object) const {
  if (!HasPlainSegments(object.key)) return ObjectChangedError(object.key);
  std::string name;
  int error = 0;
  // What was listed as a file was replaced by something else.
  const auto is_change = [](int code) { return code == ENOENT || code == ENOTDIR || code == ELOOP; };
  const absl::StatusOr<FileDescriptor> folder =
      OpenFolderOf(folder_, object.key, /*makes=*/false, &name, &error);
  if (!folder.ok()) return is_change(error) ? ObjectChangedError(object.key) : folder.status();
  // O_NONBLOCK: opening a pipe would wait for its other end.
  FileDescriptor file(openat(folder->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return is_change(errno) ? ObjectChangedError(object.key)
                            : FileError("open the object " + object.key, errno);
  }
  auto readable = std::make_unique<ReadableFile>(std::move(file), object);
  ITEMDB_RETURN_IF_ERROR(readable->CheckUnchanged());
  return readable;
}

absl::StatusOr<std::unique_ptr<WritableObject>> FolderBucket::Create(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  std::string name;
  int error = 0;
  ITEMDB_ASSIGN_OR_RETURN(FileDescriptor folder, OpenFolderOf(folder_, key, /*makes=*/true, &name, &error));
  const std::string partial = WritableFile::PartialName(name);
  // Of a process that ended.
  (void)unlinkat(folder.get(), partial.c_str(), 0);
  FileDescriptor file(
      openat(folder.get(), partial.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) return FileError("write the object " + key, errno);
  return std::make_unique<WritableFile>(key, std::move(folder), std::move(name), std::move(file));
}

absl::Status FolderBucket::Delete(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  std::string name;
  int error = 0;
  const absl::StatusOr<FileDescriptor> folder = OpenFolderOf(folder_, key, /*makes=*/false, &name, &error);
  if (!folder.ok()) return error == ENOENT ? absl::OkStatus() : folder.status();
  if (unlinkat(folder->get(), name.c_str(), 0) != 0)
    return errno == ENOENT ? absl::OkStatus() : FileError("delete the object " + key, errno);
  return SyncFolder(*folder, key);
}

absl::Status FolderBucket::RemoveLeftovers(std::string_view prefix) const {
  const auto remove = [](FoundFile file) -> absl::Status {
    if (!file.key.ends_with(kPartialEnd)) return absl::OkStatus();
    if (unlinkat(file.folder.get(), file.name.c_str(), 0) != 0 && errno != ENOENT)
      return FileError("delete the file " + file.key, errno);
    return absl::OkStatus();
  };
  return FolderWalk(prefix, cancellation_, remove).Walk(folder_, "");
}

std::optional<uint64_t> FolderBucket::device() const {
  struct stat status {};
  if (fstat(folder_.get(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

}  // namespace itemdb::storage
