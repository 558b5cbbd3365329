#include "daemon/standby/primary_copy.h"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "daemon/standby/replication_client.h"
#include "itemdb/client.h"
#include "itemdb/errors.h"

namespace itemdb::daemon {
namespace {

namespace fs = std::filesystem;

// After an error.
constexpr std::chrono::milliseconds kRetryInterval(100);
// How often a primary that did not answer is told again that its standby was promoted.
constexpr std::chrono::seconds kFenceInterval(5);
// Bytes of one call. No more than these are in the copy and not synced.
constexpr int64_t kPieceBytes = 4 << 20;
// How often a primary is asked that could not finish its archive.
constexpr int kFenceAttempts = 3;
// How long the standby may take to apply what was copied, before more is copied.
constexpr std::chrono::seconds kMaxApply(1);
constexpr std::chrono::microseconds kApplyInterval(200);
constexpr char kSegmentPrefix[] = "segment-";
constexpr char kEncryptionName[] = "ENCRYPTION";
constexpr char kPrimaryName[] = "/PRIMARY";
constexpr char kToldName[] = "/TOLD";

absl::Status FileError(const std::string& what, int error) {
  return storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable,
                            what + ": " + std::error_code(error, std::generic_category()).message());
}

absl::Status MakeDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? FileError("cannot make " + path, error.value()) : absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = directory >= 0 && fsync(directory) == 0;
  const int error = errno;
  if (directory >= 0) close(directory);
  return synced ? absl::OkStatus() : FileError("cannot sync " + path, error);
}

// 0: `name` is not that of a segment.
uint64_t SegmentNumber(const std::string& name) {
  uint64_t number = 0;
  if (!name.starts_with(kSegmentPrefix)) return 0;
  return absl::SimpleAtoi(name.substr(sizeof(kSegmentPrefix) - 1), &number) ? number : 0;
}

// Names come from another machine: only those that the list may have become paths here.
absl::Status CheckName(const v1::ReplicationFile& file) {
  bool is_allowed = !file.name().empty();
  if (file.folder() == v1::REPLICATION_FOLDER_ARCHIVE) {
    is_allowed = file.name() == kEncryptionName || SegmentNumber(file.name()) != 0;
  } else {
    for (const std::string& part : std::vector<std::string>(absl::StrSplit(file.name(), '/')))
      is_allowed &= !part.empty() && part != "." && part != "..";
  }
  if (is_allowed) return absl::OkStatus();
  return storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable,
                            "the primary names a file \"" + file.name() + "\", which is none of its own");
}

// A small file of one line; empty if it cannot be read.
std::string ReadText(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

absl::Status WriteText(const std::string& path, const std::string& line) {
  const std::string next = path + ".next";
  std::ofstream file(next, std::ios::trunc);
  file << line << '\n';
  file.close();
  if (!file || std::rename(next.c_str(), path.c_str()) != 0) return FileError("cannot write " + path, errno);
  return SyncDirectory(fs::path(path).parent_path().string());
}

// What TOLD has when the primary has confirmed the promotion.
std::string ToldText(const v1::StandbyPromotion& promotion) {
  return promotion.database_id() + " " + std::to_string(promotion.change_sequence()) + " " +
         std::to_string(promotion.time_us());
}

// The paths of the segments in `directory`, by their numbers.
std::map<uint64_t, fs::path> SegmentsIn(const std::string& directory) {
  std::map<uint64_t, fs::path> segments;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (const uint64_t number = SegmentNumber(it->path().filename().string())) segments[number] = it->path();
  return segments;
}

}  // namespace

PrimaryCopy::PrimaryCopy(PrimaryCopyOptions options, std::unique_ptr<const ReplicationClient> primary)
    : options_(std::move(options)), primary_(std::move(primary)) {}

PrimaryCopy::~PrimaryCopy() { Stop(); }

absl::StatusOr<std::shared_ptr<PrimaryCopy>> PrimaryCopy::Open(PrimaryCopyOptions options) {
  ITEMDB_ASSIGN_OR_RETURN(Client client, Client::Open(options.primary));
  auto primary = std::make_unique<const ReplicationClient>(std::move(client));
  return std::shared_ptr<PrimaryCopy>(new PrimaryCopy(std::move(options), std::move(primary)));
}

void PrimaryCopy::Start(const storage::Database& database) {
  thread_.Start([this, &database] { Loop(database); });
}

void PrimaryCopy::Stop() {
  stopped_.Cancel();
  thread_.Stop();
}

void PrimaryCopy::Loop(const storage::Database& database) {
  std::chrono::milliseconds wait(0);
  absl::Status logged;
  while (thread_.WaitFor(wait)) {
    Round round{.status = absl::OkStatus(), .wait = kRetryInterval};
    const auto promotion = database.FindOwnPromotion();
    if (!promotion.ok()) {
      round.status = promotion.status();
    } else if (promotion->has_value() && ToldText(**promotion) != ReadText(options_.directory + kToldName)) {
      round = {.status = Fence(**promotion), .wait = kFenceInterval};
    } else if (!database.IsStandby()) {
      return;
    } else {
      round = CopyRound(database);
    }
    wait = round.wait;
    SetState(round.status);
    if (round.status.code() != logged.code()) {
      if (round.status.ok()) {
        options_.log->info("the primary answers again");
      } else {
        options_.log->error("the primary cannot be followed endpoint={} error={}", options_.primary.endpoint,
                            storage::MessageOf(round.status));
      }
    }
    logged = std::move(round.status);
  }
}

PrimaryCopy::Round PrimaryCopy::CopyRound(const storage::Database& database) {
  const auto list = CopyArchive(/*waits=*/true);
  applied_version_ = 0;
  if (!list.ok()) return {.status = list.status(), .wait = kRetryInterval};
  if (list->has_promotion()) database.OtherWasPromoted(list->promotion());
  bool has_replaced = false;
  {
    storage::MutexLock copying(copying_);
    has_replaced = std::exchange(has_replaced_, false);
  }
  database.FollowNow(has_replaced);
  const auto deadline = std::chrono::steady_clock::now() + kMaxApply;
  while (database.durable_sequence() < list->change_sequence()) {
    // Behind: it is not told that it has this, and goes on without waiting for more.
    if (std::chrono::steady_clock::now() >= deadline || !stopped_.Check().ok())
      return {.status = absl::OkStatus(), .wait = std::chrono::milliseconds(0)};
    std::this_thread::sleep_for(kApplyInterval);
  }
  applied_version_ = list->version();
  // The primary makes the next call wait.
  return {.status = absl::OkStatus(), .wait = std::chrono::milliseconds(0)};
}

void PrimaryCopy::SetState(const absl::Status& status) {
  storage::MutexLock lock(mutex_);
  state_.error = status;
  if (status.ok()) state_.complete_at_us = absl::ToUnixMicros(absl::Now());
}

storage::PrimaryLink::State PrimaryCopy::GetState() const {
  storage::MutexLock lock(mutex_);
  return state_;
}

absl::Status PrimaryCopy::FromPrimary(const absl::Status& status) const {
  const std::string message = "primary " + options_.primary.endpoint + ": " + std::string(status.message());
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return storage::MakeError(status.code(), storage::kReasonResourceNotFound, message);
    case absl::StatusCode::kFailedPrecondition:
      if (ReasonOf(status) == kReasonFenced)
        return storage::MakeError(status.code(), storage::kReasonFenced, message);
      return storage::MakeError(status.code(), storage::kReasonValidation, message);
    default:
      return storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable, message);
  }
}

std::string PrimaryCopy::PathOf(const v1::ReplicationFile& file) const {
  return (file.folder() == v1::REPLICATION_FOLDER_ARCHIVE ? archive() : backups()) + "/" + file.name();
}

std::string PrimaryCopy::PrimaryId() const { return ReadText(options_.directory + kPrimaryName); }

absl::Status PrimaryCopy::CheckPrimary(const std::string& database_id) {
  const std::string known = PrimaryId();
  if (known == database_id) return absl::OkStatus();
  if (known.empty()) return WriteText(options_.directory + kPrimaryName, database_id);
  return storage::MakeError(absl::StatusCode::kFailedPrecondition, storage::kReasonDataDirectoryForeign,
                            options_.primary.endpoint + " serves the database " + database_id +
                                ", and this is a standby of " + known);
}

absl::Status PrimaryCopy::FetchBackup(const storage::Cancellation& cancellation) {
  v1::ListReplicationFilesRequest request;
  request.set_with_backup(true);
  const auto list = primary_->ListFiles(request);
  if (!list.ok()) return FromPrimary(list.status());
  storage::MutexLock copying(copying_);
  ITEMDB_RETURN_IF_ERROR(MakeDirectories(archive()));
  ITEMDB_RETURN_IF_ERROR(CheckPrimary(list->database_id()));
  std::error_code ignored;
  for (const auto& [number, path] : SegmentsIn(archive())) fs::remove(path, ignored);
  // Of a backup that was copied before, what this one has too is not copied again.
  std::set<std::string> wanted;
  for (const v1::ReplicationFile& file : list->files())
    if (file.folder() == v1::REPLICATION_FOLDER_BACKUPS) wanted.insert(PathOf(file));
  std::vector<fs::path> others;
  for (fs::recursive_directory_iterator it(backups(), ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (it->is_regular_file() && !wanted.contains(it->path().string())) others.push_back(it->path());
  for (const fs::path& other : others) fs::remove(other, ignored);
  options_.log->info("copying a backup of the primary endpoint={} files={}", options_.primary.endpoint,
                     wanted.size());
  return CopyFiles(*list, cancellation);
}

void PrimaryCopy::DropBackup() {
  std::error_code error;
  fs::remove_all(backups(), error);
  if (error) options_.log->warn("a backup cannot be deleted path={} reason={}", backups(), error.message());
}

absl::StatusOr<v1::ListReplicationFilesReply> PrimaryCopy::CopyArchive(bool waits) {
  const auto segments = SegmentsIn(archive());
  v1::ListReplicationFilesRequest request;
  if (!segments.empty()) request.set_from_segment(segments.begin()->first);
  if (waits) request.set_copied_version(applied_version_);
  request.set_wait(waits);
  const auto list = primary_->ListFiles(request);
  if (!list.ok()) return FromPrimary(list.status());
  storage::MutexLock copying(copying_);
  ITEMDB_RETURN_IF_ERROR(CheckPrimary(list->database_id()));
  DropOtherArchive(*list);
  ITEMDB_RETURN_IF_ERROR(CopyFiles(*list, stopped_));
  return list;
}

void PrimaryCopy::DropOtherArchive(const v1::ListReplicationFilesReply& list) {
  const auto segments = SegmentsIn(archive());
  bool is_other = !segments.empty() && segments.rbegin()->first > list.last_segment();
  for (const v1::ReplicationFile& file : list.files()) {
    const auto own = segments.find(SegmentNumber(file.name()));
    if (file.folder() != v1::REPLICATION_FOLDER_ARCHIVE || own == segments.end()) continue;
    std::string head(file.head().size(), '\0');
    std::ifstream stream(own->second, std::ios::binary);
    stream.read(head.data(), static_cast<std::streamsize>(head.size()));
    is_other |= !file.head().starts_with(head.substr(0, static_cast<size_t>(stream.gcount())));
  }
  if (!is_other) return;
  options_.log->warn("the primary has another archive now; what was copied of the one before is deleted");
  std::error_code ignored;
  for (const auto& [number, path] : segments) fs::remove(path, ignored);
  has_replaced_ = true;
}

absl::Status PrimaryCopy::CopyFiles(const v1::ListReplicationFilesReply& list,
                                    const storage::Cancellation& cancellation) {
  const auto segments = SegmentsIn(archive());
  const uint64_t last = segments.empty() ? 0 : segments.rbegin()->first;
  const bool copies_last_again = std::exchange(copies_last_again_, true);
  has_replaced_ |= copies_last_again;
  for (const v1::ReplicationFile& file : list.files()) {
    ITEMDB_RETURN_IF_ERROR(CheckName(file));
    std::error_code error;
    const uintmax_t found = fs::file_size(PathOf(file), error);
    int64_t from = error ? 0 : static_cast<int64_t>(found);
    const bool is_archive = file.folder() == v1::REPLICATION_FOLDER_ARCHIVE;
    const uint64_t number = is_archive ? SegmentNumber(file.name()) : 0;
    if (copies_last_again && (!is_archive || (number != 0 && number == last)))
      from = std::max<int64_t>(0, from - kPieceBytes);
    // Small, and replaced when keys are replaced.
    if (is_archive && number == 0 && from != file.size_bytes()) from = 0;
    if (from >= file.size_bytes() && !(error && file.size_bytes() == 0)) continue;
    ITEMDB_RETURN_IF_ERROR(CopyFile(file, from, cancellation));
  }
  copies_last_again_ = false;
  return absl::OkStatus();
}

absl::Status PrimaryCopy::CopyFile(const v1::ReplicationFile& file, int64_t from,
                                   const storage::Cancellation& cancellation) {
  const std::string path = PathOf(file);
  const std::string directory = fs::path(path).parent_path().string();
  ITEMDB_RETURN_IF_ERROR(MakeDirectories(directory));
  const bool is_new = !fs::exists(path);
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return FileError("cannot write " + path, errno);
  const absl::Cleanup close_file = [descriptor] { close(descriptor); };
  if (is_new) ITEMDB_RETURN_IF_ERROR(SyncDirectory(directory));
  while (from < file.size_bytes()) {
    ITEMDB_RETURN_IF_ERROR(cancellation.Check());
    ITEMDB_RETURN_IF_ERROR(stopped_.Check());
    const auto content =
        primary_->ReadFile(file.folder(), file.name(), from, std::min(kPieceBytes, file.size_bytes() - from));
    if (!content.ok()) return FromPrimary(content.status());
    if (content->empty())
      return FromPrimary(absl::UnavailableError("the file " + file.name() + " became shorter"));
    size_t written = 0;
    while (written < content->size()) {
      const ssize_t put = pwrite(descriptor, content->data() + written, content->size() - written,
                                 static_cast<off_t>(from + static_cast<int64_t>(written)));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return FileError("cannot write " + path, errno);
      written += static_cast<size_t>(put);
    }
    if (fdatasync(descriptor) != 0) return FileError("cannot sync " + path, errno);
    from += static_cast<int64_t>(written);
  }
  return absl::OkStatus();
}

absl::Status PrimaryCopy::Fence(const v1::StandbyPromotion& promotion) {
  absl::StatusOr<bool> is_finished = false;
  for (int attempt = 0; attempt < kFenceAttempts && is_finished.ok() && !*is_finished; ++attempt)
    is_finished = primary_->Fence(PrimaryId(), promotion);
  if (!is_finished.ok()) {
    // Another database at the address is no primary that goes on.
    const absl::Status error = FromPrimary(is_finished.status());
    return storage::ReasonOf(error) == storage::kReasonFenced
               ? error
               : storage::MakeError(absl::StatusCode::kUnavailable, storage::kReasonUnavailable,
                                    storage::MessageOf(error));
  }
  absl::Status copied = *is_finished ? CopyArchive(/*waits=*/false).status()
                                     : absl::UnavailableError("it could not finish its archive");
  if (!copied.ok()) {
    return storage::MakeError(
        absl::StatusCode::kAborted, storage::kReasonUnavailable,
        "the primary " + options_.primary.endpoint +
            " takes no more writes, but the rest of its archive is not here: " + storage::MessageOf(copied));
  }
  options_.log->info("the old primary takes no more writes endpoint={}", options_.primary.endpoint);
  return WriteText(options_.directory + kToldName, ToldText(promotion));
}

}  // namespace itemdb::daemon
