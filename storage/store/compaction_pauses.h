// Compactions pause after one has met damage.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "rocksdb/db.h"
#include "storage/base/mutex.h"
#include "storage/store/damage_register.h"

namespace itemdb::storage {

class FailedJobs;

// After a compaction met damage: pauses the automatic compactions of its column family, and keeps RocksDB
// from slowing or stopping writes because files pile up behind the damaged one. RocksDB would repeat the
// compaction each second. After the pause it may try again, as the file may be gone. Each failure doubles the
// pause, to at most kMaxPause. RocksDB's limits for writes are set again when the family has no known damage
// any more, a compaction has succeeded, and few files are left in level 0.
class CompactionPauses {
 public:
  static constexpr std::chrono::hours kMaxPause{1};

  // The column families whose compactions began to pause, and those that are as before again.
  struct Changes {
    std::vector<std::string> begun;
    std::vector<std::string> ended;
  };

  // `first_pause`: how long the compactions of a family pause after they met damage for the first time.
  CompactionPauses(std::chrono::milliseconds first_pause, std::shared_ptr<FailedJobs> failed_jobs)
      : first_pause_(first_pause), failed_jobs_(std::move(failed_jobs)) {}

  // Begins and ends pauses of `families`. `list_damage` is called when it decides. Called periodically, by
  // one thread.
  Changes Update(rocksdb::DB& db, absl::Span<rocksdb::ColumnFamilyHandle* const> families,
                 absl::FunctionRef<std::vector<DamagedFile>()> list_damage,
                 std::chrono::steady_clock::time_point now);
  // The names of the column families whose compactions pause. Thread-safe.
  std::vector<std::string> PausedFamilies() const;

 private:
  // RocksDB's options of a column family by name.
  using FamilyOptions = std::unordered_map<std::string, std::string>;

  // The compactions of one family after damage. They pause until `until`; after that the pause is over, and
  // the next one will be `next`.
  struct Pause {
    bool pauses = false;
    std::chrono::steady_clock::time_point until;
    std::chrono::milliseconds next{0};
    // RocksDB's limits for writes as they were before, and the files of level 0 at the lowest one.
    FamilyOptions limits;
    uint64_t level0_files = 0;
  };

  const std::chrono::milliseconds first_pause_;
  const std::shared_ptr<FailedJobs> failed_jobs_;
  mutable Mutex mutex_;
  // By the name of the family, until its limits are set again.
  std::map<std::string, Pause> pauses_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace itemdb::storage
