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
// How long to wait for a store that is being reopened, and before a file that could not be read is read
// again.
constexpr std::chrono::seconds kRetryInterval(1);
// Findings that GetStatus shows, at most.
constexpr int kMaxShown = 100;

struct Free {
  void operator()(char* bytes) const { std::free(bytes); }
};
using Buffer = std::unique_ptr<char, Free>;

// Opens the file for reading past the page cache, or through it where that is not offered (tmpfs).
rocksdb::Status OpenFile(rocksdb::Env* env, const std::string& path,
                         std::unique_ptr<rocksdb::RandomAccessFile>* file) {
  rocksdb::EnvOptions options;
  options.use_direct_reads = true;
  if (env->NewRandomAccessFile(path, file, options).ok()) return rocksdb::Status::OK();
  options.use_direct_reads = false;
  return env->NewRandomAccessFile(path, file, options);
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

std::vector<DamagedFile> FileCheck::Findings() const {
  MutexLock lock(mutex_);
  return files_;
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
      files_ = std::move(found_files_);
    }
    found_.Clear();
    found_files_.clear();
    if (!thread_.WaitUntil(begin + engine_.options().check_interval)) return;
  } while (true);
}

bool FileCheck::CheckFiles() {
  std::optional<std::vector<rocksdb::LiveFileMetaData>> files = TableFiles();
  for (; !files.has_value(); files = TableFiles()) {
    if (!thread_.WaitFor(kRetryInterval)) return false;
  }
  for (const rocksdb::LiveFileMetaData& file : *files) {
    // A file without a checksum was not written by itemd.
    if (!file.file_checksum.empty() && !CheckFile(file)) return false;
  }
  return true;
}

bool FileCheck::CheckFile(const rocksdb::LiveFileMetaData& file) {
  FileRead read;
  if (!ReadFile(file, &read)) return false;
  // Not damage: too many open files, for example.
  if (!read.opened.ok() && !IsMissingFile(read.opened) && !read.opened.IsCorruption()) return true;
  if (!read.status.ok()) {
    // What a cable or a controller did passes.
    if (!thread_.WaitFor(kRetryInterval) || !ReadFile(file, &read)) return false;
  }
  if (read.opened.ok() && read.status.ok() && read.checksum == file.file_checksum) return true;
  if (!IsInUse(file)) return true;
  if (IsMissingFile(read.opened)) {
    Report(file, "is missing");
  } else if (!read.opened.ok()) {
    Report(file, "cannot be read: " + WithoutDirectories(read.opened.ToString()));
  } else if (!read.status.ok()) {
    Report(file, "cannot be read: " + WithoutDirectories(read.status.ToString()));
  } else if (read.bytes != file.size) {
    Report(file, "has " + std::to_string(read.bytes) + " bytes instead of " + std::to_string(file.size));
  } else {
    Report(file, "is not as it was written: its checksum differs, so reads may miss items or fail");
  }
  return true;
}

bool FileCheck::ReadFile(const rocksdb::LiveFileMetaData& file, FileRead* read) {
  rocksdb::FileChecksumGenContext context;
  context.file_name = file.name;
  const std::unique_ptr<rocksdb::FileChecksumGenerator> checksum =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator(context);
  const Buffer buffer(static_cast<char*>(std::aligned_alloc(kAlignment, kReadBytes)));
  std::unique_ptr<rocksdb::RandomAccessFile> reader;
  *read = FileRead();
  read->opened = OpenFile(engine_.env(), file.db_path + file.name, &reader);
  if (!read->opened.ok()) return true;
  rocksdb::Slice part;
  do {
    if (!WaitToRead(kReadBytes)) return false;
    read->status = reader->Read(read->bytes, kReadBytes, &part, buffer.get());
    if (!read->status.ok()) return true;
    checksum->Update(part.data(), part.size());
    read->bytes += part.size();
  } while (part.size() == kReadBytes);
  checksum->Finalize();
  read->checksum = checksum->GetChecksum();
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

std::optional<std::vector<rocksdb::LiveFileMetaData>> FileCheck::TableFiles() const {
  const auto view = engine_.View();
  if (!view.ok()) return std::nullopt;
  std::vector<rocksdb::LiveFileMetaData> files;
  (*view)->store()->db()->GetLiveFilesMetaData(&files);
  return files;
}

bool FileCheck::IsInUse(const rocksdb::LiveFileMetaData& file) const {
  const std::optional<std::vector<rocksdb::LiveFileMetaData>> files = TableFiles();
  return files.has_value() &&
         std::any_of(files->begin(), files->end(),
                     [&](const rocksdb::LiveFileMetaData& other) { return other.name == file.name; });
}

void FileCheck::Report(const rocksdb::LiveFileMetaData& file, const std::string& what) {
  const std::string finding = "the table file " + file.name.substr(1) + " of the column family " +
                              file.column_family_name + " " + what;
  if (found_.findings_size() < kMaxShown) found_.add_findings(finding);
  found_.set_finding_count(found_.finding_count() + 1);
  DamagedFile damaged = DescribeFile(file);
  damaged.blocks.push_back(
      {{damaged.name}, DamageMetBy::kCheck, NowMicros(), "the table file " + damaged.name + " " + what});
  {
    MutexLock lock(mutex_);
    // What was found before keeps its time.
    const auto before = std::find_if(files_.begin(), files_.end(), [&](const DamagedFile& other) {
      return other.name == damaged.name && other.blocks.front().error == damaged.blocks.front().error;
    });
    if (before != files_.end()) damaged.blocks = before->blocks;
    if (found_files_.size() < kMaxShown) {
      found_files_.push_back(damaged);
      if (before == files_.end()) files_.push_back(std::move(damaged));
    }
    const auto& known = figures_.findings();
    if (std::find(known.begin(), known.end(), finding) != known.end()) return;
    // Shown before the round ends, which may take days.
    if (known.size() < kMaxShown) figures_.add_findings(finding);
    figures_.set_finding_count(std::max(figures_.finding_count(), found_.finding_count()));
  }
  engine_.options().log->error(
      "the file check found damage; restore a backup, or write what is intact into a new database with itemd "
      "salvage finding={}",
      finding);
}

}  // namespace itemdb::storage
