// What the torture driver and libtorture_disk.so, which it loads into itemd, share: one structure in a file
// that both map. The driver sets faults; the library counts what it did.
//
// All members are atomics that need no lock, because two processes use them.
#pragma once

#include <atomic>
#include <cstdint>

namespace itemdb::torture {

// Environment variables of itemd that the library reads.
inline constexpr char kControlVariable[] = "ITEMDB_TORTURE_CONTROL";  // Path of the mapped file.
inline constexpr char kRootVariable[] = "ITEMDB_TORTURE_ROOT";        // The data directory; it must exist.

// Bits of DiskControl::fault_operations.
enum DiskOperation : uint32_t {
  kWrite = 1,
  kSync = 2,
  kCreate = 4,
  kRename = 8,
  kUnlink = 16,
  kSyncDirectory = 32,
  kRead = 64,
};

// Bits of DiskControl::fault_files.
enum DiskFile : uint32_t {
  kLogFile = 1,    // RocksDB's write-ahead log.
  kTableFile = 2,  // *.sst
  kManifestFile = 4,
  kWatermarkFile = 8,
  kBuildFile = 16,
  kOtherFile = 32,
  kAllFiles = 63,
};

struct DiskControl {
  // Changing operations since the process was started: creating, writing, syncing, renaming, deleting.
  std::atomic<uint64_t> operations;

  // The power fails before operation number `cut_at`; 0: it does not. The library then leaves in the data
  // directory what `cut_seed` lets survive, sets `cut_done` and kills the process.
  std::atomic<uint64_t> cut_at;
  std::atomic<uint64_t> cut_seed;
  // Not 0: unsynced sectors are lost in any order (LostBytes::kAnySectors).
  std::atomic<uint32_t> cut_any_sectors;
  std::atomic<uint32_t> cut_done;
  std::atomic<uint64_t> lost_bytes;
  std::atomic<uint64_t> undone_overwrites;
  std::atomic<uint64_t> undone_entries;

  // While `faults_left` is not 0, one in `fault_one_in` of these operations on these files fails with
  // `fault_errno`. With 0 as errno writes are short instead, which POSIX allows. A failed write has written
  // a part.
  std::atomic<uint32_t> fault_operations;
  std::atomic<uint32_t> fault_files;
  std::atomic<int32_t> fault_errno;
  std::atomic<uint32_t> fault_one_in;
  std::atomic<int64_t> faults_left;
  std::atomic<uint64_t> fault_random;
  std::atomic<uint64_t> faults_injected;

  // Bytes that the disk has left, kept by the library; below 0: the real disk counts.
  std::atomic<int64_t> free_bytes;

  // Added to the wall clock of the process.
  std::atomic<int64_t> clock_shift_seconds;
  // Pause of a sync, because none is made.
  std::atomic<uint32_t> sync_microseconds;
};

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

}  // namespace itemdb::torture
