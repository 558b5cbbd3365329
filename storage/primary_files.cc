#include "storage/primary_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "storage/archive/archive_directory.h"
#include "storage/archive/promotion.h"
#include "storage/backup/backup_directory.h"
#include "storage/backup/backup_operations.h"

namespace itemdb::storage {
namespace {

namespace fs = std::filesystem;

absl::Status FileError(const std::string& path, const std::error_code& error) {
  return MakeError(absl::StatusCode::kUnavailable, kReasonUnavailable,
                   "cannot read " + path + ": " + error.message());
}

absl::StatusOr<std::string> ArchiveOf(const Engine& engine) {
  if (engine.archive() != nullptr) {
    // A thread for reads would be gone.
    ITEMDB_RETURN_IF_ERROR(engine.archive()->CheckAnswers());
    return engine.archive()->directory();
  }
  return MakeError(absl::StatusCode::kFailedPrecondition, kReasonValidation,
                   "this database keeps no archive, which a standby needs: start itemd with "
                   "--archive-directory, and without --standby");
}

// The first bytes of a segment.
constexpr std::streamsize kHeadBytes = 256;
std::string HeadOf(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), kHeadBytes);
  head.resize(static_cast<size_t>(file.gcount()));
  return head;
}

// Adds the file, unless it is gone.
absl::Status AddFile(const std::string& directory, v1::ReplicationFolder folder, const std::string& name,
                     v1::ListReplicationFilesReply* reply) {
  std::error_code error;
  const uintmax_t size = fs::file_size(directory + "/" + name, error);
  if (error == std::errc::no_such_file_or_directory) return absl::OkStatus();
  if (error) return FileError(directory + "/" + name, error);
  v1::ReplicationFile* const file = reply->add_files();
  file->set_folder(folder);
  file->set_name(name);
  file->set_size_bytes(static_cast<int64_t>(size));
  return absl::OkStatus();
}

absl::Status AddSegments(const std::string& archive, uint64_t from, v1::ListReplicationFilesReply* reply) {
  std::vector<uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(archive, error), end; !error && it != end; it.increment(error)) {
    const std::optional<uint64_t> number = ParseSegmentName(it->path().filename().string());
    if (!number.has_value()) continue;
    reply->set_last_segment(std::max(reply->last_segment(), *number));
    if (*number >= from) numbers.push_back(*number);
  }
  if (error) return FileError(archive, error);
  std::sort(numbers.begin(), numbers.end());
  ITEMDB_RETURN_IF_ERROR(AddFile(archive, v1::REPLICATION_FOLDER_ARCHIVE, kEncryptionFileName, reply));
  for (const uint64_t number : numbers) {
    const std::string name = SegmentName(number);
    const int before = reply->files_size();
    ITEMDB_RETURN_IF_ERROR(AddFile(archive, v1::REPLICATION_FOLDER_ARCHIVE, name, reply));
    if (reply->files_size() != before)
      reply->mutable_files(before)->set_head(
          HeadOf(archive + "/" + name).substr(0, static_cast<size_t>(reply->files(before).size_bytes())));
  }
  return absl::OkStatus();
}

// The segment that has the groups behind `backup`. NOT_FOUND: there is none.
absl::StatusOr<uint64_t> FirstSegment(const Engine& engine, const std::string& archive,
                                      const v1::DatabaseBackup& backup) {
  ITEMDB_ASSIGN_OR_RETURN(const ArchiveContents contents, ReadArchive(engine.env(), archive));
  for (const ArchiveChain& chain : contents.chains) {
    if (chain.id != backup.archive_chain_id()) continue;
    uint64_t first = 0;
    for (const SegmentHeader& segment : chain.segments)
      if (first == 0 || segment.after_sequence <= backup.store_sequence()) first = segment.number;
    if (first != 0) return first;
  }
  return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                   absl::StrCat("the archive does not go on from backup ", backup.backup_id(),
                                ", the newest; the primary makes another by itself"));
}

// Adds the files of the newest backup. Returns the first segment of the archive behind it.
absl::StatusOr<uint64_t> AddBackup(const Engine& engine, const std::string& archive,
                                   v1::ListReplicationFilesReply* reply) {
  const std::string path = BackupDirectoryOf(engine);
  ITEMDB_ASSIGN_OR_RETURN(
      const BackupDirectory directory,
      BackupDirectory::OpenReadOnly({.backups = engine.env(), .database = engine.env()}, path));
  ITEMDB_ASSIGN_OR_RETURN(const v1::DatabaseBackup backup, directory.Find(0));
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t first, FirstSegment(engine, archive, backup));
  ITEMDB_RETURN_IF_ERROR(AddFile(path, v1::REPLICATION_FOLDER_BACKUPS, kEncryptionFileName, reply));
  for (const std::string& name : directory.FilesOf(backup))
    ITEMDB_RETURN_IF_ERROR(AddFile(path, v1::REPLICATION_FOLDER_BACKUPS, name, reply));
  return first;
}

// The path of a file that ListReplicationFiles has told.
absl::StatusOr<std::string> PathOf(const Engine& engine, v1::ReplicationFolder folder,
                                   const std::string& name) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string archive, ArchiveOf(engine));
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(name, '/'))) {
    if (!part.empty() && part != "." && part != ".." && part.find('\0') == std::string::npos) continue;
    return ValidationError("name: \"" + name + "\" is no path within the folder");
  }
  switch (folder) {
    case v1::REPLICATION_FOLDER_ARCHIVE:
      if (name != kEncryptionFileName && !ParseSegmentName(name).has_value())
        return ValidationError("name: \"" + name + "\" is no file of the archive");
      return archive + "/" + name;
    case v1::REPLICATION_FOLDER_BACKUPS:
      return BackupDirectoryOf(engine) + "/" + name;
    default:
      return ValidationError("folder: the archive or the backups");
  }
}

}  // namespace

absl::StatusOr<v1::ListReplicationFilesReply> ListReplicationFiles(
    const Engine& engine, const v1::ListReplicationFilesRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string archive, ArchiveOf(engine));
  v1::ListReplicationFilesReply reply;
  reply.set_database_id(engine.database_id());
  // Before the files are looked at: what is added meanwhile is told next time.
  const auto [version, change] = engine.archive()->acknowledgements().version();
  reply.set_version(version);
  reply.set_change_sequence(change);
  uint64_t from = request.from_segment();
  if (request.with_backup()) {
    ITEMDB_ASSIGN_OR_RETURN(from, AddBackup(engine, archive, &reply));
    reply.set_first_segment(from);
  }
  ITEMDB_RETURN_IF_ERROR(AddSegments(archive, from, &reply));
  ITEMDB_ASSIGN_OR_RETURN(const auto promotion, ReadPromotion(engine.env(), archive));
  if (promotion.has_value()) *reply.mutable_promotion() = ToMessage(*promotion);
  return reply;
}

absl::StatusOr<v1::ReadReplicationFileReply> ReadReplicationFile(
    const Engine& engine, const v1::ReadReplicationFileRequest& request) {
  if (request.offset() < 0)
    return ValidationError(absl::StrCat("offset: ", request.offset(), "; at least 0 is needed"));
  if (request.max_bytes() < 1 || request.max_bytes() > kMaxReplicationBytes) {
    return ValidationError(
        absl::StrCat("max_bytes: ", request.max_bytes(), "; 1 to ", kMaxReplicationBytes, " are allowed"));
  }
  ITEMDB_ASSIGN_OR_RETURN(const std::string path, PathOf(engine, request.folder(), request.name()));
  // As the bytes are on disk: not through the file system that decrypts them.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  const absl::Cleanup close_file = [file] {
    if (file >= 0) close(file);
  };
  if (file < 0 && errno == ENOENT) {
    return MakeError(absl::StatusCode::kNotFound, kReasonResourceNotFound,
                     "there is no file " + request.name() + " any more");
  }
  v1::ReadReplicationFileReply reply;
  std::string* const content = reply.mutable_content();
  content->resize(static_cast<size_t>(request.max_bytes()));
  size_t filled = 0;
  while (file >= 0 && filled < content->size()) {
    const ssize_t got = pread(file, content->data() + filled, content->size() - filled,
                              static_cast<off_t>(request.offset() + static_cast<int64_t>(filled)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FileError(path, std::error_code(errno, std::generic_category()));
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  if (file < 0) return FileError(path, std::error_code(errno, std::generic_category()));
  content->resize(filled);
  return reply;
}

absl::StatusOr<v1::FencePrimaryReply> FencePrimary(Engine& engine, const v1::FencePrimaryRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(const std::string archive, ArchiveOf(engine));
  const Promotion promotion = FromMessage(request.promotion());
  if (promotion.database_id.empty())
    return ValidationError("promotion: the id of the promoted database is missing");
  if (request.primary_database_id() != engine.database_id()) {
    return MakeError(absl::StatusCode::kFailedPrecondition, kReasonValidation,
                     "this is the database " + engine.database_id() + ", and a standby of " +
                         request.primary_database_id() + " was promoted");
  }
  // What a file cannot tell now is refused in memory first.
  ITEMDB_RETURN_IF_ERROR(engine.BeginFence(promotion));
  const auto earlier = ReadPromotion(engine.env(), archive);
  if (earlier.ok() && earlier->has_value() && (*earlier)->database_id != promotion.database_id)
    return FencedError(**earlier, archive);
  ITEMDB_RETURN_IF_ERROR(WritePromotion(engine.env(), archive, promotion));
  v1::FencePrimaryReply reply;
  reply.set_is_finished(engine.Fence(promotion).ok());
  return reply;
}

}  // namespace itemdb::storage
