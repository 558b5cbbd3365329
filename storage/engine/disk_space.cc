#include "storage/engine/disk_space.h"

#include <utility>

#include "spdlog/spdlog.h"
#include "storage/engine/ballast.h"
#include "storage/store/durable_file.h"
#include "storage/store/store.h"

namespace itemdb::storage {
namespace {

// Making the ballast must not bring the free space below the floor again.
constexpr uint64_t kRoomForBallast = 256 << 20;
// What an opened store needs beside the old log's data: a manifest, a new log.
constexpr uint64_t kOpeningBytes = 4 << 20;
constexpr size_t kProbeBytes = 64 << 10;

const char* const kAcceptedNames[] = {"all", "deletions", "none"};

}  // namespace

DiskSpace::DiskSpace(rocksdb::Env* env, std::string directory, uint64_t floor_bytes, common::Log log)
    : env_(env), directory_(std::move(directory)), floor_bytes_(floor_bytes), log_(std::move(log)) {}

uint64_t DiskSpace::FreeBytes() const {
  uint64_t bytes = 0;
  return env_->GetFreeSpace(directory_, &bytes).ok() ? bytes : 0;
}

DiskSpace::Accepted DiskSpace::Measure() {
  uint64_t free_bytes = 0;
  if (!env_->GetFreeSpace(directory_, &free_bytes).ok()) return accepted_;
  if (free_bytes >= floor_bytes_) return Accepted::kAll;
  if (free_bytes >= floor_bytes_ / 8) return Accepted::kFreeing;
  if (!DeleteBallast(env_, directory_)) return Accepted::kNone;
  log_->warn("the ballast was deleted so that deletions are possible free_bytes={}", free_bytes);
  return Accepted::kFreeing;
}

void DiskSpace::Update() {
  const Accepted now = Measure();
  if (now == accepted_.exchange(now)) return;
  log_->warn("free space crossed a floor accepted_writes={} free_bytes={} floor_bytes={}",
             kAcceptedNames[static_cast<int>(now)], FreeBytes(), floor_bytes_);
}

void DiskSpace::KeepBallast() const {
  if (FreeBytes() >= floor_bytes_ + kRoomForBallast) EnsureBallast(env_, directory_);
}

absl::Status DiskSpace::CheckWrite(WriteSpace space) {
  const Accepted accepted = accepted_.load(std::memory_order_relaxed);
  if (accepted == Accepted::kAll || (accepted == Accepted::kFreeing && space == WriteSpace::kFrees))
    return absl::OkStatus();
  ++refused_;
  return FullError("nothing was written", space == WriteSpace::kFrees ? floor_bytes_ / 8 : floor_bytes_);
}

absl::Status DiskSpace::CheckNow() const {
  uint64_t free_bytes = 0;
  if (!env_->GetFreeSpace(directory_, &free_bytes).ok() || free_bytes >= floor_bytes_)
    return absl::OkStatus();
  return FullError("it waits for space", floor_bytes_);
}

absl::Status DiskSpace::CheckOpening(uint64_t log_bytes) const {
  uint64_t free_bytes = 0;
  const uint64_t needed = log_bytes + kOpeningBytes;
  if (env_->GetFreeSpace(directory_, &free_bytes).ok() &&
      free_bytes + BallastBytes(env_, directory_) < needed) {
    return FullError("the store cannot be opened again", needed);
  }
  const std::string probe = directory_ + "/PROBE";
  rocksdb::Status written = ReplaceFile(env_, probe, std::string(kProbeBytes, '\0'));
  for (const std::string& left : {probe, probe + ".next"}) (void)env_->DeleteFile(left);
  // An exhausted disk or quota: opening gives the ballast up.
  if (written.ok() || (IsNoSpace(written) && BallastBytes(env_, directory_) > 0)) return absl::OkStatus();
  return FromRocksDB("no file can be written to " + directory_, written);
}

absl::Status DiskSpace::FullError(std::string_view what, uint64_t floor) const {
  return MakeError(absl::StatusCode::kResourceExhausted, kReasonDiskFull,
                   std::string(what) + ": the disk has less than " + std::to_string(floor) + " bytes free",
                   1000);
}

}  // namespace itemdb::storage
