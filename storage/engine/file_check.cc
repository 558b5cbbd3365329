#include "storage/engine/file_check.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/file_checksum.h"
#include "spdlog/spdlog.h"
#include "storage/base/wall_clock.h"

namespace itemdb::storage {
namespace {

using Clock = BackgroundThread::Clock;

// Bytes per read. Direct I/O needs addresses and sizes that are multiples of the disk's blocks.
constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kAlignment = 4096;
// Findings that GetStatus shows, at most.
constexpr int kMaxShown = 100;

struct Free {
  void operator()(char* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<char, Free>;

std::string PathOf(const rocksdb::LiveFileMetaData& file) { return file.db_path + file.name; }

// Opens the file for reading past the page cache, or through it where that is not offered (tmpfs).
rocksdb::Status OpenFile(rocksdb::Env* env, const std::string& path,
                         std::unique_ptr<rocksdb::RandomAccessFile>* file) {
  rocksdb::EnvOptions options;
  options.use_direct_reads = true;
  if (env->NewRandomAccessFile(path, file, options).ok()) return rocksdb::Status::OK();
  options.use_direct_reads = false;
  return env->NewRandomAccessFile(path, file, options);
}

std::vector<rocksdb::LiveFileMetaData> TableFiles(rocksdb::DB* db) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  return files;
}

}  // namespace

FileCheck::FileCheck(Engine& engine) : engine_(engine) {
  const int64_t rate = engine.options().file_check_bytes_per_second;
  if (rate == 0) return;
  figures_.set_bytes_per_second(rate);
  thread_.Start([this] { Loop(); });
}

void FileCheck::Describe(v1::GetStatusReply* reply) const {
  MutexLock lock(mutex_);
  if (figures_.bytes_per_second() > 0) *reply->mutable_file_check() = figures_;
}

void FileCheck::Loop() {
  do {
    const auto begin = Clock::now();
    next_read_ = begin;
    if (!CheckFiles()) return;
    {
      MutexLock lock(mutex_);
      figures_.set_rounds(figures_.rounds() + 1);
      figures_.set_last_end_time_us(NowMicros());
      *figures_.mutable_findings() = std::move(*found_.mutable_findings());
      figures_.set_finding_count(found_.finding_count());
    }
    found_.Clear();
    if (!thread_.WaitUntil(begin + engine_.options().check_interval)) return;
  } while (true);
}

bool FileCheck::CheckFiles() {
  std::vector<rocksdb::LiveFileMetaData> files;
  if (const auto view = engine_.View(); view.ok()) files = TableFiles((*view)->store()->db());
  for (const rocksdb::LiveFileMetaData& file : files) {
    if (!CheckFile(file)) return false;
  }
  return true;
}

bool FileCheck::CheckFile(const rocksdb::LiveFileMetaData& file) {
  rocksdb::FileChecksumGenContext context;
  context.file_name = file.name;
  context.requested_checksum_func_name = file.file_checksum_func_name;
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(context);
  // A file without a checksum, or with one of another kind, was not written by itemd.
  if (checksum == nullptr || file.file_checksum.empty()) return true;

  const Buffer buffer(static_cast<char*>(std::aligned_alloc(kAlignment, kReadBytes)));
  std::unique_ptr<rocksdb::RandomAccessFile> reader;
  rocksdb::Status status = OpenFile(engine_.env(), PathOf(file), &reader);
  uint64_t offset = 0;
  while (status.ok()) {
    if (!WaitToRead(kReadBytes)) return false;
    rocksdb::Slice read;
    status = reader->Read(offset, kReadBytes, &read, buffer.get());
    if (!status.ok() || read.empty()) break;
    checksum->Update(read.data(), read.size());
    offset += read.size();
    if (read.size() < kReadBytes) break;
  }
  const bool is_whole = status.ok() && offset == file.size;
  if (is_whole) {
    checksum->Finalize();
    if (checksum->GetChecksum() == file.file_checksum) return true;
  }
  if (!IsInUse(file)) return true;
  if (!status.ok()) {
    Report(file, "cannot be read: " + status.ToString());
  } else if (!is_whole) {
    Report(file, "has " + std::to_string(offset) + " bytes instead of " + std::to_string(file.size));
  } else {
    Report(file, "is not as it was written: its checksum differs, so reads may miss items or fail");
  }
  return true;
}

bool FileCheck::WaitToRead(size_t bytes) {
  if (!thread_.WaitUntil(next_read_)) return false;
  const double seconds =
      static_cast<double>(bytes) / static_cast<double>(engine_.options().file_check_bytes_per_second);
  next_read_ = std::max(next_read_, Clock::now()) +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  return true;
}

bool FileCheck::IsInUse(const rocksdb::LiveFileMetaData& file) const {
  const auto view = engine_.View();
  if (!view.ok()) return false;
  const std::vector<rocksdb::LiveFileMetaData> files = TableFiles((*view)->store()->db());
  return std::any_of(files.begin(), files.end(),
                     [&](const rocksdb::LiveFileMetaData& other) { return other.name == file.name; });
}

void FileCheck::Report(const rocksdb::LiveFileMetaData& file, const std::string& what) {
  const std::string finding = "the table file " + file.name.substr(1) + " of the column family " +
                              file.column_family_name + " " + what;
  if (found_.findings_size() < kMaxShown) found_.add_findings(finding);
  found_.set_finding_count(found_.finding_count() + 1);
  MutexLock lock(mutex_);
  const auto& known = figures_.findings();
  if (std::find(known.begin(), known.end(), finding) != known.end()) return;
  engine_.options().log->error(
      "the file check found damage; restore a backup, or write what is intact into a new database with itemd "
      "salvage finding=\"{}\"",
      finding);
  // Shown before the round ends, which may take days.
  if (known.size() < kMaxShown) figures_.add_findings(finding);
  figures_.set_finding_count(std::max(figures_.finding_count(), found_.finding_count()));
}

}  // namespace itemdb::storage
