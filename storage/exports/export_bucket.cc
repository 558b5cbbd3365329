#include "storage/exports/export_bucket.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "storage/base/check.h"

namespace itemdb::storage {
namespace {

constexpr std::string_view kPartialEnd = ".partial";
constexpr size_t kMaxKeyBytes = 1'024;
// A file name has at most 255 bytes; the temporary one is longer than the segment.
constexpr size_t kMaxSegmentBytes = 255 - kPartialEnd.size();

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

absl::Status SyncFolder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return FileError("open the folder " + path, errno);
  const int error = fsync(folder) == 0 ? 0 : errno;
  close(folder);
  return error == 0 ? absl::OkStatus() : FileError("sync the folder " + path, error);
}

std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Makes the folder of the object `key` in `bucket`, durably. None of the folders may be a symbolic link.
absl::Status MakeFolders(const std::string& bucket, const std::string& key) {
  std::string folder = bucket;
  for (size_t begin = 0, end; (end = key.find('/', begin)) != std::string::npos; begin = end + 1) {
    const std::string parent = folder;
    folder.append("/").append(key, begin, end - begin);
    if (mkdir(folder.c_str(), 0777) == 0) {
      ITEMDB_RETURN_IF_ERROR(SyncFolder(parent));
    } else if (errno != EEXIST) {
      return FileError("make the folder " + folder, errno);
    }
    struct stat info;
    if (lstat(folder.c_str(), &info) != 0) return FileError("read the folder " + folder, errno);
    if (!S_ISDIR(info.st_mode)) return FileError("use " + folder + " as a folder", ENOTDIR);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckObjectKey(std::string_view key) {
  const auto fail = [&](const std::string& why) {
    return ValidationError("the key of an object is the path of a file in the bucket: " + why);
  };
  if (key.size() > kMaxKeyBytes)
    return fail("it must have at most " + std::to_string(kMaxKeyBytes) + " bytes; it has " +
                std::to_string(key.size()));
  if (key.find('\0') != std::string_view::npos) return fail("it must not have a zero byte");
  while (true) {
    const size_t end = key.find('/');
    const std::string_view segment = key.substr(0, end);
    if (segment.empty() || segment == "." || segment == "..")
      return fail("none of its segments may be empty, '.' or '..'");
    if (segment.size() > kMaxSegmentBytes)
      return fail("its segments must have at most " + std::to_string(kMaxSegmentBytes) + " bytes");
    if (end == std::string_view::npos) return absl::OkStatus();
    key.remove_prefix(end + 1);
  }
}

absl::StatusOr<ExportBucket> ExportBucket::Open(const std::string& directory, const std::string& bucket) {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(bucket));
  const auto missing = [&] {
    return MakeError(absl::StatusCode::kNotFound, kReasonNoSuchBucket,
                     "The specified bucket does not exist: there is no folder " + directory + "/" + bucket);
  };
  std::error_code error;
  const std::string root = std::filesystem::canonical(directory, error);
  if (error == std::errc::no_such_file_or_directory) return missing();
  if (error) return FileError("use the export directory " + directory, error.value());
  const std::string path = root + "/" + bucket;
  struct stat info;
  if (lstat(path.c_str(), &info) != 0)
    return errno == ENOENT ? missing() : FileError("use the bucket " + path, errno);
  if (S_ISLNK(info.st_mode)) return FileError("use the symbolic link " + path + " as a bucket", ELOOP);
  if (!S_ISDIR(info.st_mode)) return missing();
  return ExportBucket(path);
}

absl::StatusOr<std::unique_ptr<BucketFile>> ExportBucket::Create(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  ITEMDB_RETURN_IF_ERROR(MakeFolders(path_, key));
  const std::string path = path_ + "/" + key;
  const std::string partial = path + std::string(kPartialEnd);
  const int file = open(partial.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return FileError("write the file " + partial, errno);
  return std::unique_ptr<BucketFile>(new BucketFile(key, path, file));
}

absl::StatusOr<WrittenObject> ExportBucket::Write(const std::string& key, std::string_view contents) const {
  ITEMDB_ASSIGN_OR_RETURN(const std::unique_ptr<BucketFile> file, Create(key));
  ITEMDB_RETURN_IF_ERROR(file->Append(contents));
  return file->Finish();
}

absl::Status ExportBucket::Delete(const std::string& key) const {
  ITEMDB_RETURN_IF_ERROR(CheckObjectKey(key));
  ITEMDB_RETURN_IF_ERROR(MakeFolders(path_, key));
  const std::string path = path_ + "/" + key;
  if (unlink(path.c_str()) != 0)
    return errno == ENOENT ? absl::OkStatus() : FileError("delete the file " + path, errno);
  return SyncFolder(FolderOf(path));
}

struct BucketFile::Digests {
  EVP_MD_CTX* const md5 = EVP_MD_CTX_new();
  EVP_MD_CTX* const sha256 = EVP_MD_CTX_new();

  Digests() {
    ITEMDB_CHECK(md5 != nullptr && sha256 != nullptr);
    ITEMDB_CHECK(EVP_DigestInit_ex(md5, EVP_md5(), nullptr) == 1);
    ITEMDB_CHECK(EVP_DigestInit_ex(sha256, EVP_sha256(), nullptr) == 1);
  }
  ~Digests() {
    EVP_MD_CTX_free(md5);
    EVP_MD_CTX_free(sha256);
  }
  Digests(const Digests&) = delete;
  Digests& operator=(const Digests&) = delete;

  void Add(std::string_view bytes) {
    ITEMDB_CHECK(EVP_DigestUpdate(md5, bytes.data(), bytes.size()) == 1);
    ITEMDB_CHECK(EVP_DigestUpdate(sha256, bytes.data(), bytes.size()) == 1);
  }
  static std::string Finish(EVP_MD_CTX* context) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    ITEMDB_CHECK(EVP_DigestFinal_ex(context, digest, &size) == 1);
    return std::string(reinterpret_cast<const char*>(digest), size);
  }
};

BucketFile::BucketFile(std::string key, std::string path, int file)
    : key_(std::move(key)), path_(std::move(path)), file_(file), digests_(std::make_unique<Digests>()) {}

BucketFile::~BucketFile() {
  if (file_ < 0) return;
  close(file_);
  (void)unlink((path_ + std::string(kPartialEnd)).c_str());
}

absl::Status BucketFile::Append(std::string_view bytes) {
  digests_->Add(bytes);
  bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write the file " + path_, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::StatusOr<WrittenObject> BucketFile::Finish() {
  if (fsync(file_) != 0) return FileError("sync the file " + path_, errno);
  if (rename((path_ + std::string(kPartialEnd)).c_str(), path_.c_str()) != 0)
    return FileError("rename the file " + path_, errno);
  close(std::exchange(file_, -1));
  ITEMDB_RETURN_IF_ERROR(SyncFolder(FolderOf(path_)));
  return WrittenObject{.key = key_,
                       .bytes = bytes_,
                       .md5 = Digests::Finish(digests_->md5),
                       .sha256 = Digests::Finish(digests_->sha256)};
}

}  // namespace itemdb::storage
