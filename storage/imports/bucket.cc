#include "storage/imports/bucket.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "storage/base/limits.h"

namespace itemdb::storage {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string ErrorText() { return std::system_category().message(errno); }

absl::Status UnreadableError(const std::string& what) {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "cannot read " + what + ": " + ErrorText());
}

int64_t ModifiedNs(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Lists folders and the folders in them.
class Lister {
 public:
  Lister(std::string_view prefix, const Cancellation& cancellation, std::vector<BucketObject>* objects)
      : prefix_(prefix), cancellation_(cancellation), objects_(*objects) {}

  // `path` is the key of `folder` with a slash, or empty for the bucket.
  absl::Status List(FileDescriptor folder, const std::string& path) {
    ITEMDB_RETURN_IF_ERROR(cancellation_.Check());
    // fdopendir() takes the descriptor over.
    const int fd = fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(fd), closedir);
    if (entries == nullptr) {
      if (fd >= 0) (void)close(fd);
      return UnreadableError("the folder " + path + " of the bucket");
    }
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return UnreadableError("the folder " + path + " of the bucket");
    for (const std::string& name : names) ITEMDB_RETURN_IF_ERROR(Add(folder, path + name, name));
    return absl::OkStatus();
  }

 private:
  absl::Status Add(const FileDescriptor& folder, std::string key, const std::string& name) {
    struct stat status {};
    // A file that was deleted meanwhile is no object.
    if (key.size() > kMaxObjectKeyBytes ||
        fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return absl::OkStatus();
    if (S_ISDIR(status.st_mode)) {
      key.push_back('/');
      if (!key.starts_with(prefix_) && !prefix_.starts_with(key)) return absl::OkStatus();
      FileDescriptor child(openat(folder.get(), name.c_str(), kFolderFlags));
      if (child.get() < 0) return UnreadableError("the folder " + key + " of the bucket");
      return List(std::move(child), key);
    }
    if (!S_ISREG(status.st_mode) || status.st_size == 0 || !key.starts_with(prefix_)) return absl::OkStatus();
    if (objects_.size() >= kMaxImportObjects) {
      return MakeError(absl::StatusCode::kResourceExhausted, kReasonLimitExceeded,
                       "the bucket has more than " + std::to_string(kMaxImportObjects) +
                           " objects whose keys begin with the prefix");
    }
    objects_.push_back({std::move(key), static_cast<uint64_t>(status.st_size), ModifiedNs(status)});
    return absl::OkStatus();
  }

  const std::string_view prefix_;
  const Cancellation& cancellation_;
  std::vector<BucketObject>& objects_;
};

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) (void)close(fd_);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

absl::StatusOr<Bucket> Bucket::Open(const std::string& directory, const std::string& name) {
  const bool is_name = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
                       name.find('\0') == std::string::npos;
  FileDescriptor folder(is_name ? open((directory + "/" + name).c_str(), kFolderFlags) : -1);
  if (folder.get() >= 0) return Bucket(std::move(folder));
  // ELOOP and ENOTDIR: a symbolic link, or a file.
  if (!is_name || errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == ENAMETOOLONG) {
    return WithRule("IMP-09", MakeError(absl::StatusCode::kNotFound, kReasonNoSuchBucket,
                                        "The specified bucket does not exist: " + name));
  }
  return UnreadableError("the bucket " + name);
}

absl::StatusOr<std::vector<BucketObject>> Bucket::List(std::string_view prefix,
                                                       const Cancellation& cancellation) const {
  std::vector<BucketObject> objects;
  FileDescriptor folder(openat(folder_.get(), ".", kFolderFlags));
  if (folder.get() < 0) return UnreadableError("the bucket");
  ITEMDB_RETURN_IF_ERROR(Lister(prefix, cancellation, &objects).List(std::move(folder), ""));
  std::sort(objects.begin(), objects.end(),
            [](const BucketObject& a, const BucketObject& b) { return a.key < b.key; });
  return objects;
}

absl::StatusOr<FileDescriptor> Bucket::OpenObject(const BucketObject& object) const {
  // One folder after another: openat() with a whole path would follow links of folders.
  FileDescriptor folder;
  int parent = folder_.get();
  std::string_view rest = object.key;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    const std::string name(rest.substr(0, slash));
    errno = ENOENT;
    FileDescriptor child(name == ".." ? -1 : openat(parent, name.c_str(), kFolderFlags));
    if (child.get() < 0) return UnreadableError("the object " + object.key);
    folder = std::move(child);
    parent = folder.get();
    rest.remove_prefix(slash + 1);
  }
  // O_NONBLOCK: opening a pipe would wait for its other end.
  FileDescriptor file(
      openat(parent, std::string(rest).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) return UnreadableError("the object " + object.key);
  if (!S_ISREG(status.st_mode)) {
    return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                     "the object " + object.key + " is no regular file");
  }
  return file;
}

bool IsUnchanged(const FileDescriptor& fd, const BucketObject& object) {
  struct stat status {};
  return fstat(fd.get(), &status) == 0 && static_cast<uint64_t>(status.st_size) == object.bytes &&
         ModifiedNs(status) == object.modified_ns;
}

}  // namespace itemdb::storage
