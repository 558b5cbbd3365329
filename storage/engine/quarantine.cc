#include "storage/engine/quarantine.h"

#include <memory>
#include <optional>
#include <vector>

#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

// Bytes that are copied at once.
constexpr size_t kCopyBytes = 1 << 20;
// Written last: a quarantine without it was interrupted.
constexpr char kReadmeFileName[] = "/README";

rocksdb::Status CopyFile(rocksdb::Env* env, const std::string& from, const std::string& to) {
  std::unique_ptr<rocksdb::SequentialFile> source;
  std::unique_ptr<rocksdb::WritableFile> target;
  rocksdb::Status status = env->NewSequentialFile(from, &source, rocksdb::EnvOptions());
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

std::string Readme(const std::string& cause) {
  return "The files of ../rocksdb as they were when itemd was started with --recover=last-good, because:\n "
         " " +
         cause + "\nitemd does not read this folder. Delete it when nothing in it is needed any more.\n";
}

// RocksDB's lock and its log of events say nothing about the data.
bool BelongsToData(const std::string& file) {
  return file != "." && file != ".." && file != "LOCK" && !file.starts_with("LOG") &&
         file != kReadmeFileName + 1;
}

std::string PathOf(const std::string& directory, int number) {
  return directory + "/quarantine-" + std::to_string(number);
}

// The first number without a complete quarantine.
int NextNumber(rocksdb::Env* env, const std::string& directory) {
  int number = 1;
  while (env->FileExists(PathOf(directory, number) + kReadmeFileName).ok()) ++number;
  return number;
}

// Makes the folder `to` have the data files of `from`, and no others, by links or copies.
rocksdb::Status LinkFiles(rocksdb::Env* env, const std::string& from, const std::string& to,
                          Quarantine* counted) {
  std::vector<std::string> files, others;
  rocksdb::Status status = env->CreateDirIfMissing(to);
  if (status.ok()) status = env->GetChildren(to, &others);
  if (status.ok()) status = env->GetChildren(from, &files);
  for (const std::string& file : others)
    if (status.ok() && BelongsToData(file)) status = env->DeleteFile(to + "/" + file);
  for (const std::string& file : files) {
    if (!status.ok()) break;
    if (!BelongsToData(file)) continue;
    if (!env->LinkFile(from + "/" + file, to + "/" + file).ok())
      status = CopyFile(env, from + "/" + file, to + "/" + file);
    uint64_t bytes = 0;
    if (status.ok()) status = env->GetFileSize(to + "/" + file, &bytes);
    ++counted->files;
    counted->bytes += bytes;
  }
  return status.ok() ? SyncDirectory(env, to) : status;
}

}  // namespace

absl::StatusOr<Quarantine> QuarantineStore(rocksdb::Env* env, const std::string& directory,
                                           const std::string& store_path, const std::string& cause) {
  Quarantine quarantine;
  quarantine.path = PathOf(directory, NextNumber(env, directory));
  rocksdb::Status status = LinkFiles(env, store_path, quarantine.path, &quarantine);
  if (status.ok()) status = ReplaceFile(env, quarantine.path + kReadmeFileName, Readme(cause));
  if (status.ok()) status = SyncDirectory(env, directory);
  if (!status.ok())
    return FromRocksDB("cannot keep the files of " + store_path + " in " + quarantine.path, status);
  return quarantine;
}

absl::StatusOr<std::optional<Quarantine>> RestoreQuarantine(rocksdb::Env* env, const std::string& directory,
                                                            const std::string& store_path) {
  const int number = NextNumber(env, directory) - 1;
  if (number == 0) return std::nullopt;
  Quarantine quarantine;
  quarantine.path = PathOf(directory, number);
  const rocksdb::Status status = LinkFiles(env, quarantine.path, store_path, &quarantine);
  if (!status.ok()) return FromRocksDB("cannot restore " + store_path + " from " + quarantine.path, status);
  return quarantine;
}

}  // namespace itemdb::storage
