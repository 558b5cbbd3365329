// From where on in the indexes of times to live there may be entries that nobody has dealt with.
//
// Whoever deletes what has expired leaves nothing behind but tombstones, which would have to be stepped over
// from the beginning each time; and most of the time nothing is due. So it remembers the first entry that it
// has left, and writes say when they have made one before it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/mutex.h"

namespace itemdb {

// An entry of the index of a time to live.
struct TimeEntry {
  uint64_t storage_id;
  std::string key;
};

// Thread-safe. A mark is a key: there is nothing to be done before it.
class ExpiryMarks {
 public:
  // Moves marks back to where entries were made. To be called when a view that is asked for shows them.
  void Made(const std::vector<TimeEntry>& entries) {
    MutexLock lock(mutex_);
    for (const TimeEntry& entry : entries) {
      if (entry.key >= oldest_) Lower(entry.storage_id, entry.key);
    }
  }

  // The mark of an index, if it is before `due`; then it is taken away, and only what is made from now on, or
  // put back, is before the end. Of an index that is not known: the beginning.
  std::optional<std::string> Take(uint64_t storage_id, std::string_view due) {
    MutexLock lock(mutex_);
    std::string& mark = marks_.try_emplace(storage_id).first->second;
    if (mark >= due) return std::nullopt;
    std::string taken(kEnd);
    taken.swap(mark);
    return taken;
  }
  // Says that there is something to be done from `key` on.
  void PutBack(uint64_t storage_id, std::string_view key) {
    MutexLock lock(mutex_);
    Lower(storage_id, key);
  }

  // Entries before `oldest` are of no interest. When there were before it had been greater, everything is to
  // be looked at anew.
  void SetOldest(std::string_view oldest) {
    MutexLock lock(mutex_);
    if (oldest < oldest_) marks_.clear();
    oldest_ = oldest;
  }
  // Everything is to be looked at anew.
  void Forget() {
    MutexLock lock(mutex_);
    marks_.clear();
  }
  // Forgets the marks of all other indexes.
  void KeepOnly(const std::set<uint64_t>& storage_ids) {
    MutexLock lock(mutex_);
    std::erase_if(marks_, [&](const auto& mark) { return !storage_ids.contains(mark.first); });
  }

 private:
  // After every encoded key.
  static constexpr std::string_view kEnd = "\xFF";

  void Lower(uint64_t storage_id, std::string_view key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    auto mark = marks_.find(storage_id);
    if (mark != marks_.end() && key < mark->second) mark->second = key;
  }

  Mutex mutex_;
  std::map<uint64_t, std::string> marks_ ABSL_GUARDED_BY(mutex_);
  std::string oldest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb
