// How a database is opened. The daemon's flags and configuration file become these.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "storage/base/limits.h"

namespace rocksdb {
class FileSystem;
}
namespace spdlog {
class logger;
}

namespace itemdb {

struct DatabaseOptions {
  // Created when missing. Must be empty or hold a database of this program.
  std::string data_directory;
  // Sync every commit group to disk before its writes are answered. When false, up to a second of answered
  // writes can be lost with the machine (not with the process).
  bool durable = true;
  // Open a database that was refused because of lost or damaged data: keep what is readable, rebuild the
  // indexes, log what is lost.
  bool recover_last_good = false;
  // Block cache shared by all tables and indexes, in bytes. More keeps more data in memory.
  size_t block_cache_bytes = 256 << 20;
  // Memtables of all tables and indexes together, in bytes. More means fewer, larger flushes.
  size_t memtable_bytes = 128 << 20;
  // What creating an index on a live table sorts in memory, in bytes, taken from the block cache while it
  // does; the rest is sorted in files. More means fewer of them.
  size_t index_build_bytes = 32 << 20;
  // Writes waiting for the commit pipeline, in bytes; beyond it writes are refused (QUEUE_FULL).
  size_t max_queue_bytes = 64 << 20;
  // Items with one partition key together with their entries in local indexes, of a table that has such, in
  // bytes (SEM-092); writes that would make them larger are refused (ITEM_COLLECTION_SIZE_LIMIT_EXCEEDED).
  int64_t max_item_collection_bytes = int64_t{10} << 30;
  // Writes are refused (DISK_FULL) while the file system has less free space than this, in bytes.
  uint64_t free_space_floor_bytes = 256 << 20;
  // Changes older than this leave the change log (SEM-103). Zero: none does for its age.
  std::chrono::milliseconds change_retention = std::chrono::hours(24);
  // The oldest changes leave the log when its table files have more bytes than this; 0: no bound.
  uint64_t max_change_log_bytes = 0;
  // How long the disk space of deleted tables and indexes may wait, so that that of many small ones is
  // reclaimed at once; that of large ones does not.
  std::chrono::milliseconds reclaim_interval = std::chrono::minutes(1);
  // How fast what shares table files with deleted tables and indexes is rewritten without them, in bytes a
  // second. More gives space back sooner, less leaves more of the disk to writers.
  int64_t reclaim_bytes_per_second = 16 << 20;
  // How often the log is looked at for changes to trim.
  std::chrono::milliseconds change_trim_interval = std::chrono::seconds(10);
  // Turning a table's time to live on or off is refused so long after the last time (SEM-111). The service
  // has about an hour; here nothing needs it.
  std::chrono::milliseconds time_to_live_wait{0};
  // How long expired items that could not be deleted because something of their table is damaged are left
  // alone before they are looked at again.
  std::chrono::milliseconds damaged_expiry_interval = std::chrono::minutes(1);
  // Records that a check in the background compares a second, round after round through the whole database;
  // 0: there is none.
  int64_t background_check_rate = 0;
  // Threads for reads that miss the block cache and for long pages.
  int io_threads = 4;
  // How long a state is held (HoldState).
  std::chrono::milliseconds max_held_state_age = std::chrono::seconds(kMaxHeldStateSeconds);
  // Where background work and RocksDB log. Required.
  std::shared_ptr<spdlog::logger> log;
  // Tests only: the time, in microseconds since the Unix epoch, that writes and times to live go by. Called
  // by several threads. Default: the real one.
  std::function<int64_t()> clock_us;
  // Tests only: the file system under RocksDB and WATERMARK. Default: the real one.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

}  // namespace itemdb
