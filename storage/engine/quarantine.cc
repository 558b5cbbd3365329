#include "storage/engine/quarantine.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <vector>

#include "storage/encryption/environment.h"
#include "storage/engine/catalog_copy.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

// Bytes that are copied at once.
constexpr size_t kCopyBytes = 1 << 20;
constexpr std::string_view kQuarantine = "quarantine-";

// Does nothing if the file is encrypted and its header is damaged: nothing of it can be read.
rocksdb::Status CopyFile(rocksdb::Env* env, const std::string& from, const std::string& to) {
  std::unique_ptr<rocksdb::SequentialFile> source;
  std::unique_ptr<rocksdb::WritableFile> target;
  rocksdb::Status status = env->NewSequentialFile(from, &source, rocksdb::EnvOptions());
  if (status.IsCorruption()) return rocksdb::Status::OK();
  if (status.ok()) status = env->NewWritableFile(to, &target, rocksdb::EnvOptions());
  std::string buffer(kCopyBytes, '\0');
  while (status.ok()) {
    rocksdb::Slice chunk;
    status = source->Read(buffer.size(), &chunk, buffer.data());
    if (!status.ok() || chunk.empty()) break;
    status = target->Append(chunk);
  }
  if (status.ok()) status = target->Sync();
  if (status.ok()) status = target->Close();
  return status;
}

// The cause may have the name of a table, which must not be on disk if the database is encrypted.
std::string Readme(const std::string& cause, bool is_encrypted) {
  return "A database as it was when itemd was started with --recover=last-good, because:\n  " +
         (is_encrypted ? "the log of itemd has the cause" : cause) +
         "\nitemd does not read this folder. Delete it when nothing in it is needed any more.\n";
}

std::vector<std::string> Entries(rocksdb::Env* env, const std::string& directory, rocksdb::Status* status) {
  std::vector<std::string> entries;
  if (status->ok()) *status = env->GetChildren(directory, &entries);
  std::erase(entries, ".");
  std::erase(entries, "..");
  return entries;
}

// Deletes a folder that this program has made, with all that is in it. OK when there is none.
rocksdb::Status DeleteFolder(rocksdb::Env* env, const std::string& path) {
  if (env->FileExists(path).IsNotFound()) return rocksdb::Status::OK();
  rocksdb::Status status;
  for (const std::string& entry : Entries(env, path, &status)) {
    if (!status.ok()) break;
    const std::string child = path + "/" + entry;
    bool is_directory = false;
    (void)env->IsDirectory(child, &is_directory);
    status = is_directory ? DeleteFolder(env, child) : env->DeleteFile(child);
  }
  return status.ok() ? env->DeleteDir(path) : status;
}

// Makes `from` be `to`, durably; nothing when that was done.
rocksdb::Status RenameOnce(rocksdb::Env* env, const std::string& directory, const std::string& from,
                           const std::string& to) {
  if (env->FileExists(from).IsNotFound()) return rocksdb::Status::OK();
  rocksdb::Status status = env->RenameFile(from, to);
  for (const std::string& path : {from, to}) {
    const std::string parent = path.substr(0, path.rfind('/'));
    if (status.ok()) status = SyncDirectory(env, parent);
  }
  return status.ok() ? SyncDirectory(env, directory) : status;
}

}  // namespace

FolderSize MeasureFolder(rocksdb::Env* env, const std::string& path) {
  FolderSize size;
  rocksdb::Status status;
  for (const std::string& entry : Entries(env, path, &status)) {
    uint64_t bytes = 0;
    (void)env->GetFileSize(path + "/" + entry, &bytes);
    ++size.files;
    size.bytes += bytes;
  }
  return size;
}

RecoveryFolders::RecoveryFolders(rocksdb::Env* env, std::string directory)
    : env_(env),
      directory_(std::move(directory)),
      store_(directory_ + "/rocksdb"),
      folder_(directory_ + "/recovery"),
      copy_(folder_ + "/damaged"),
      recovered_(folder_ + "/rocksdb"),
      has_symbolic_links_(false) {}

RecoveryFolders::RecoveryFolders(rocksdb::Env* env, std::string directory, std::string folder)
    : env_(env),
      directory_(std::move(directory)),
      store_(directory_ + "/rocksdb"),
      folder_(std::move(folder)),
      copy_(folder_ + "/damaged"),
      recovered_(folder_ + "/rocksdb"),
      has_symbolic_links_(true) {}

std::string RecoveryFolders::Quarantine(int number) const {
  return directory_ + "/" + std::string(kQuarantine) + std::to_string(number);
}

absl::Status RecoveryFolders::Begin() {
  rocksdb::Status status = DeleteFolder(env_, folder_);
  if (status.ok()) status = env_->CreateDir(folder_);
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot make " + folder_, status);
}

bool RecoveryFolders::Link(const std::string& from, const std::string& to) const {
  if (!has_symbolic_links_) return env_->LinkFile(from, to).ok();
  std::error_code error;
  std::filesystem::create_symlink(std::filesystem::absolute(from), to, error);
  return !error;
}

absl::Status RecoveryFolders::Copy() {
  rocksdb::Status status = DeleteFolder(env_, copy_);
  if (status.ok()) status = env_->CreateDir(copy_);
  for (const std::string& file : Entries(env_, store_, &status)) {
    if (!status.ok()) break;
    // RocksDB's lock, and its log of events.
    if (file == "LOCK" || file.starts_with("LOG")) continue;
    const std::string from = store_ + "/" + file;
    const std::string to = copy_ + "/" + file;
    if (file.ends_with(".sst")) {
      if (Link(from, to)) continue;
      has_copied_ = true;
    }
    status = CopyFile(env_, from, to);
  }
  return status.ok() ? absl::OkStatus() : FromRocksDB("cannot copy " + store_ + " to " + copy_, status);
}

absl::StatusOr<int> RecoveryFolders::NextNumber() const {
  rocksdb::Status status;
  int highest = 0;
  for (const std::string& entry : Entries(env_, directory_, &status)) {
    if (!entry.starts_with(kQuarantine)) continue;
    int number = 0;
    std::from_chars(entry.data() + kQuarantine.size(), entry.data() + entry.size(), number);
    highest = std::max(highest, number);
  }
  if (!status.ok()) return FromRocksDB("cannot read " + directory_, status);
  return highest + 1;
}

absl::StatusOr<int> RecoveryFolders::TakePlace(DurabilityWatermark before, const std::string& cause) {
  ITEMDB_ASSIGN_OR_RETURN(const int number, NextNumber());
  const std::string quarantine = Quarantine(number);
  rocksdb::Status status = SyncDirectory(env_, folder_);
  if (status.ok()) status = env_->CreateDir(quarantine);
  for (const char* file : {kWatermarkFileName, kCatalogFileName, "SYNCED"}) {
    const std::string from = directory_ + "/" + file;
    if (status.ok() && env_->FileExists(from).ok()) status = CopyFile(env_, from, quarantine + "/" + file);
  }
  if (status.ok()) status = ReplaceFile(env_, quarantine + "/README", Readme(cause, IsEncrypted(directory_)));
  if (status.ok()) status = SyncDirectory(env_, directory_);
  if (!status.ok()) return FromRocksDB("cannot make " + quarantine, status);
  before.recovering = number;
  ITEMDB_RETURN_IF_ERROR(WriteWatermark(env_, directory_, before));
  ITEMDB_RETURN_IF_ERROR(Rename(number));
  return number;
}

absl::StatusOr<bool> RecoveryFolders::Continue(int number) {
  const bool has_moved_old = env_->FileExists(Quarantine(number) + "/rocksdb").ok();
  const bool has_new = env_->FileExists(recovered_).ok();
  if (!has_moved_old && !has_new) return false;
  if (env_->FileExists(folder_ + "/" + kWatermarkFileName).IsNotFound()) {
    return DataLossError("the recovery of " + directory_ + " cannot be continued, because files of " +
                         folder_ + " are missing. Move " + Quarantine(number) +
                         "/rocksdb and WATERMARK back to " + directory_ + " and begin again");
  }
  ITEMDB_RETURN_IF_ERROR(Rename(number));
  return true;
}

absl::Status RecoveryFolders::Rename(int number) {
  const std::string quarantine = Quarantine(number);
  rocksdb::Status status;
  if (env_->FileExists(recovered_).ok()) {
    if (env_->FileExists(quarantine + "/rocksdb").IsNotFound())
      status = RenameOnce(env_, directory_, store_, quarantine + "/rocksdb");
    if (status.ok()) status = RenameOnce(env_, directory_, recovered_, store_);
  }
  if (status.ok()) {
    status = RenameOnce(env_, directory_, folder_ + "/" + kWatermarkFileName,
                        directory_ + "/" + kWatermarkFileName);
  }
  if (!status.ok()) return FromRocksDB("cannot put the recovered store into " + directory_, status);
  Delete();
  return absl::OkStatus();
}

void RecoveryFolders::Delete() { (void)DeleteFolder(env_, folder_); }

}  // namespace itemdb::storage
