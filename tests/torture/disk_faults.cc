// What libtorture_disk.so injects: errors and short writes, a full disk, power cuts.
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/processes/child_process.h"
#include "tests/torture/faults.h"

namespace itemdb::torture {
namespace {

// Draws errors of one kind of operation, or of all.
void SetFaults(Session& session, bool with_reads) {
  DiskControl& disk = session.disk();
  constexpr uint32_t kOperations[] = {
      kWrite,  kSync,          kCreate,
      kRename, kUnlink,        kSyncDirectory,
      kRead,   kWrite | kSync, kWrite | kSync | kCreate | kRename | kUnlink | kSyncDirectory};
  uint32_t operations = kOperations[session.Pick(0, std::size(kOperations) - 1)];
  if (!with_reads && operations == kRead) operations = kSync;
  disk.fault_files = session.Chance(50) ? uint32_t{kAllFiles} : 1u << session.Pick(0, 5);
  disk.fault_errno = session.Chance(70) ? EIO : ENOSPC;
  disk.fault_one_in = static_cast<uint32_t>(session.Chance(50) ? 1 : session.Pick(2, 50));
  disk.faults_left = session.Chance(50) ? session.Pick(1, 20) : -1;
  disk.fault_random = session.random()();
  disk.faults_injected = 0;
  disk.fault_operations = operations;
}

// Removes the faults. Returns how many there were.
int64_t ClearFaults(Session& session) {
  DiskControl& disk = session.disk();
  disk.fault_operations = 0;
  disk.faults_left = 0;
  return static_cast<int64_t>(disk.faults_injected);
}

// The daemon must go on by itself.
void ExpectWrites(Session& session, Episode& episode, const char* after) {
  episode.load.until_stop = static_cast<int>(session.Pick(1, 100));
  const absl::Time end = absl::Now() + absl::Seconds(60);
  while (episode.load.until_stop > 0 && absl::Now() < end) SleepMs(1);
  EXPECT_LE(episode.load.until_stop, 0)
      << "no writes for 60 s after " << after << ": " << LastLines(session.daemon().log(), 8);
}

}  // namespace

bool IsRefusedByDisk(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return absl::IsUnavailable(status) || reason == kReasonWriteOutcomeUnknown || reason == kReasonDiskFull ||
         reason == kReasonDeadlineExceeded;
}

void IoErrors(Session& session, Episode& episode) {
  const int64_t phases = session.Pick(1, 4);
  for (int64_t i = 0; i < phases; ++i) {
    SetFaults(session, /*with_reads=*/true);
    SleepMs(session.Pick(5, 400));
    // The daemon may also be stopped while its disk fails.
    if (i + 1 == phases && session.Chance(30)) break;
    session.Count("io_error", ClearFaults(session));
    session.Count("io_error_phase");
    ExpectWrites(session, episode, "I/O errors");
  }
}

void ShortWrites(Session& session, Episode&) {
  DiskControl& disk = session.disk();
  disk.fault_files = kAllFiles;
  disk.fault_errno = 0;
  disk.fault_one_in = static_cast<uint32_t>(session.Pick(1, 10));
  disk.faults_left = -1;
  disk.faults_injected = 0;
  disk.fault_operations = kWrite;
  SleepMs(session.Pick(5, 300));
  session.Count("short_write", ClearFaults(session));
}

void DiskFull(Session& session, Episode& episode) {
  DiskControl& disk = session.disk();
  constexpr int64_t kMiB = 1 << 20;
  const int64_t times = session.Pick(1, 3);
  for (int64_t i = 0; i < times; ++i) {
    // Sometimes below the daemon's floor at once, sometimes full before it looks, sometimes nothing is left.
    disk.free_bytes = session.Chance(40)   ? 0
                      : session.Chance(50) ? session.Pick(1, 2 * kMiB)
                                           : session.Pick(255 * kMiB, 257 * kMiB);
    SleepMs(session.Pick(10, 1'200));
    if (i + 1 == times && session.Chance(30)) break;
    disk.free_bytes = -1;
    session.Count("disk_full");
    ExpectWrites(session, episode, "a full disk");
  }
}

void CutPower(Session& session, Episode& episode) {
  DiskControl& disk = session.disk();
  episode.load.stopping = true;
  episode.may_lose_changes = session.relaxed();
  disk.cut_seed = session.random()();
  disk.cut_at = disk.operations + static_cast<uint64_t>(session.Pick(1, 300));
  for (int i = 0; i < 3'000 && disk.cut_done == 0; ++i) SleepMs(1);
  if (disk.cut_done == 0) {
    session.Count("power_cut_that_became_a_kill");
    session.daemon().Kill();
    return;
  }
  session.daemon().Wait();
  session.Count("power_cut");
  session.Count("power_cut_bytes", static_cast<int64_t>(disk.lost_bytes));
  session.Count("power_cut_entries", static_cast<int64_t>(disk.undone_entries));
}

void CutPowerAndTearSectors(Session& session, Episode& episode) {
  session.disk().cut_any_sectors = 1;
  CutPower(session, episode);
}

void CutPowerDuringStart(Session& session, Episode&) {
  DiskControl& disk = session.disk();
  const int64_t times = session.Pick(1, 4);
  for (int64_t i = 0; i < times; ++i) {
    session.PrepareStart();
    disk.fault_operations = 0;
    disk.free_bytes = -1;
    disk.cut_seed = session.random()();
    disk.cut_at = static_cast<uint64_t>(session.Pick(1, 120));
    session.daemon().Launch(session.arguments());
    for (int64_t wait = session.Pick(0, 1'000); wait > 0 && disk.cut_done == 0; --wait) SleepMs(1);
    if (disk.cut_done != 0) {
      session.daemon().Wait();
      session.Count("power_cut_during_start");
    } else {
      session.daemon().Kill();
      session.Count("kill_during_start");
    }
  }
  session.Start();
}

void IoErrorsDuringStart(Session& session, Episode&) {
  const int64_t times = session.Pick(1, 3);
  for (int64_t i = 0; i < times; ++i) {
    session.PrepareStart();
    SetFaults(session, /*with_reads=*/true);
    session.daemon().Launch(session.arguments());
    const absl::Status started = session.daemon().AwaitServing();
    session.Count("io_error", ClearFaults(session));
    session.Count("start_with_io_errors");
    if (!started.ok()) continue;
    SleepMs(session.Pick(0, 50));
    session.daemon().Kill();
  }
  session.Start();
}

}  // namespace itemdb::torture
