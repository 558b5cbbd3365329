#include "storage/engine/key_rotation.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "spdlog/spdlog.h"
#include "storage/store/durable_file.h"

namespace itemdb::storage {
namespace {

// How long to wait before files that are still there are tried again: readers may keep them, or damage may
// keep them from being compacted.
constexpr std::chrono::seconds kFirstPause(1);
constexpr std::chrono::seconds kLongestPause(600);

// Files of RocksDB that it makes anew at each start or that a compaction rewrites.
bool IsMadeAnew(const std::string& name) {
  return name.ends_with(".sst") || name.ends_with(".log") || name.starts_with("MANIFEST-");
}

// The paths of the files that need another key than the first.
std::vector<std::filesystem::path> FindOldPaths(const Environment& environment,
                                                const std::string& directory) {
  std::vector<std::filesystem::path> old;
  for (const auto& [id, paths] : FindEncryptedFiles(directory))
    if (id != environment.keys().front().id) old.insert(old.end(), paths.begin(), paths.end());
  return old;
}

// Undoes one DisableFileDeletions: RocksDB 7 takes that as an argument, RocksDB 9 does nothing else.
template <typename Db>
void EnableFileDeletions(Db* db) {
  if constexpr (requires { db->EnableFileDeletions(/*force=*/false); }) {
    (void)db->EnableFileDeletions(/*force=*/false);
  } else {
    (void)db->EnableFileDeletions();
  }
}

}  // namespace

absl::Status RewriteSmallFiles(const Environment& environment, const std::string& directory) {
  if (environment.keys().size() < 2) return absl::OkStatus();
  for (const std::filesystem::path& path : FindOldPaths(environment, directory)) {
    const std::string folder = path.parent_path().filename();
    if (IsMadeAnew(path.filename()) || folder == "builds" || folder == "restores" || folder == "recovery")
      continue;
    // A graph may be large, and can be made again.
    if (folder == "vector-graphs") {
      (void)environment.env()->DeleteFile(path);
      continue;
    }
    std::string contents;
    rocksdb::Status status = rocksdb::ReadFileToString(environment.env(), path, &contents);
    if (status.ok()) status = ReplaceFile(environment.env(), path, contents);
    if (!status.ok()) return FromRocksDB("cannot encrypt " + path.string() + " with another key", status);
  }
  return absl::OkStatus();
}

KeyRotation::KeyRotation(Engine& engine) : engine_(engine) {
  if (!engine.environment().keys().empty()) thread_.Start([this] { Loop(); });
}

KeyRotation::~KeyRotation() {
  stopped_ = true;
  thread_.Stop();
}

std::set<std::string> KeyRotation::FindOldFiles() const {
  std::set<std::string> old;
  for (const auto& path : FindOldPaths(engine_.environment(), engine_.options().data_directory))
    old.insert(path.filename());
  return old;
}

void KeyRotation::Loop() {
  const common::Log& log = engine_.options().log;
  const std::string& key = engine_.environment().keys().front().id;
  std::chrono::seconds pause = kFirstPause;
  std::set<std::string> old = FindOldFiles();
  if (old.empty()) {
    shown_old_files_ = 0;
    return;
  }
  total_ = old.size();
  ShowProgress();
  log.info("files that need an older encryption key are rewritten files={} key={}", old.size(), key);
  while (!old.empty()) {
    if (!RewriteTableFiles(old)) return;
    const size_t before = old.size();
    old = FindOldFiles();
    total_ = std::max(total_, old.size());
    rewritten_ = total_ - old.size();
    ShowProgress();
    if (old.empty()) break;
    pause = old.size() < before ? kFirstPause : std::min(2 * pause, kLongestPause);
    if (!thread_.WaitFor(pause)) return;
  }
  shown_old_files_ = 0;
  log.info(
      "all files of the data directory need only the first encryption key; the others may be removed from "
      "the key file, unless backups need them key={}",
      key);
}

void KeyRotation::ShowProgress() {
  // A file that was compacted may still be there, for a reader: only Loop, which looks, shows that none is.
  const size_t left = total_ - std::min(rewritten_, total_);
  shown_rewritten_ = static_cast<int64_t>(total_ - left);
  shown_old_files_ = static_cast<int64_t>(std::max<size_t>(left, 1));
}

void KeyRotation::Describe(v1::GetStatusReply* reply) const {
  const int64_t old_files = shown_old_files_;
  if (old_files < 0) return;
  v1::EncryptionStatus* encryption = reply->mutable_encryption();
  encryption->set_key_id(engine_.environment().keys().front().id);
  encryption->set_old_files(old_files);
  encryption->set_rewritten_files(shown_rewritten_);
}

void KeyRotation::LogProgress() {
  ++rewritten_;
  ShowProgress();
  const size_t tenths = std::min<size_t>(10 * rewritten_ / total_, 10);
  if (tenths <= logged_tenths_) return;
  logged_tenths_ = tenths;
  engine_.options().log->info(
      "files that need an older encryption key are being rewritten percent={} rewritten={} files={}",
      10 * tenths, std::min(rewritten_, total_), total_);
}

bool KeyRotation::RewriteTableFiles(const std::set<std::string>& names) {
  const auto view = engine_.View();
  if (!view.ok()) return true;
  const std::shared_ptr<Store> store = (*view)->store();
  // RocksDB looks for files that it no longer needs, such as replayed logs, every six hours; and when
  // deletions are allowed again.
  if (store->db()->DisableFileDeletions().ok()) EnableFileDeletions(store->db());
  std::vector<rocksdb::LiveFileMetaData> files;
  store->db()->GetLiveFilesMetaData(&files);
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (!names.contains(file.name.substr(1))) continue;
    if (engine_.IsFailed() || !engine_.disk_space().CheckNow().ok()) return true;
    const auto number =
        std::find(std::begin(Store::kFamilyNames), std::end(Store::kFamilyNames), file.column_family_name);
    if (number == std::end(Store::kFamilyNames)) continue;
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.allow_write_stall = false;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    options.canceled = &stopped_;
    const rocksdb::Slice first(file.smallestkey), last(file.largestkey);
    const rocksdb::Status status = store->db()->CompactRange(
        options, store->family(static_cast<Store::FamilyNumber>(number - std::begin(Store::kFamilyNames))),
        &first, &last);
    if (stopped_) return false;
    if (status.ok())
      LogProgress();
    else
      engine_.options().log->warn(
          "a file that needs an older encryption key could not be rewritten file={} error={}",
          file.name.substr(1), WithoutDirectories(status.ToString()));
    const auto milliseconds =
        1000 * static_cast<int64_t>(file.size) / engine_.options().reclaim_bytes_per_second;
    if (!thread_.WaitFor(std::chrono::milliseconds(milliseconds))) return false;
  }
  return true;
}

}  // namespace itemdb::storage
