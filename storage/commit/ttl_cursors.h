// TTL cursors: for each TTL index, the first entry that the expiry sweeper (expiry_sweeper.h) may still have
// to expire.
//
// The sweeper deletes expired entries from the beginning of the index, and each leaves a RocksDB tombstone.
// Without a cursor every sweep would step over all of these tombstones, though most of the time nothing is
// due. The sweeper sets the cursor to the first entry that it did not delete. A write that puts an earlier
// entry moves the cursor back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/mutex.h"

namespace itemdb::storage {

// An entry of a TTL index.
struct TimeEntry {
  uint64_t storage_id;
  std::string key;
};

// A cursor is an entry key: no entry before it has to be expired. Thread-safe.
class TtlCursors {
 public:
  // Moves cursors back to entries that were put. Must be called after the current view shows these entries.
  void Add(const std::vector<TimeEntry>& entries) {
    MutexLock lock(mutex_);
    for (const TimeEntry& entry : entries) {
      if (entry.key >= oldest_) Lower(entry.storage_id, entry.key);
    }
  }

  // If the cursor of the index is before `due`: returns the cursor and moves it to the end of the index, so
  // that only a later Add() or Requeue() moves it back. Otherwise nullopt. The cursor of an index that is
  // not known yet is the beginning, "".
  std::optional<std::string> Pop(uint64_t storage_id, std::string_view due) {
    MutexLock lock(mutex_);
    std::string& cursor = cursors_.try_emplace(storage_id).first->second;
    if (cursor >= due) return std::nullopt;
    std::string taken(kEnd);
    taken.swap(cursor);
    return taken;
  }
  // Moves the cursor back to `key`: entries from there on may have to be expired.
  void Requeue(uint64_t storage_id, std::string_view key) {
    MutexLock lock(mutex_);
    Lower(storage_id, key);
  }

  // Add() ignores entries before `oldest`. When `oldest` decreases, entries may have been ignored wrongly:
  // all cursors go back to the beginning.
  void SetOldest(std::string_view oldest) {
    MutexLock lock(mutex_);
    if (oldest < oldest_) cursors_.clear();
    oldest_ = oldest;
  }
  // Moves all cursors back to the beginning.
  void Reset() {
    MutexLock lock(mutex_);
    cursors_.clear();
  }
  // Deletes the cursors of all other indexes.
  void KeepOnly(const std::set<uint64_t>& storage_ids) {
    MutexLock lock(mutex_);
    std::erase_if(cursors_, [&](const auto& cursor) { return !storage_ids.contains(cursor.first); });
  }

 private:
  // Greater than every encoded key.
  static constexpr std::string_view kEnd = "\xFF";

  void Lower(uint64_t storage_id, std::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto cursor = cursors_.find(storage_id);
    if (cursor != cursors_.end() && key < cursor->second) cursor->second = key;
  }

  Mutex mutex_;
  std::map<uint64_t, std::string> cursors_ ABSL_GUARDED_BY(mutex_);
  std::string oldest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
