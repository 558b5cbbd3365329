#include "storage/store/compaction_pauses.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "storage/store/failed_jobs.h"

namespace itemdb::storage {
namespace {

// Practically unlimited: files that cannot be compacted pile up in level 0, where they only slow reads.
const std::unordered_map<std::string, std::string> kPausing = {{"disable_auto_compactions", "true"},
                                                               {"level0_slowdown_writes_trigger", "1000000"},
                                                               {"level0_stop_writes_trigger", "1000000"},
                                                               {"soft_pending_compaction_bytes_limit", "0"},
                                                               {"hard_pending_compaction_bytes_limit", "0"}};

std::unordered_map<std::string, std::string> LimitsForWrites(const rocksdb::Options& options) {
  return {
      {"level0_slowdown_writes_trigger", std::to_string(options.level0_slowdown_writes_trigger)},
      {"level0_stop_writes_trigger", std::to_string(options.level0_stop_writes_trigger)},
      {"soft_pending_compaction_bytes_limit", std::to_string(options.soft_pending_compaction_bytes_limit)},
      {"hard_pending_compaction_bytes_limit", std::to_string(options.hard_pending_compaction_bytes_limit)}};
}

bool HasFewerFiles(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, uint64_t level0_files) {
  std::string text;
  uint64_t files = 0;
  return db.GetProperty(family, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &text) &&
         absl::SimpleAtoi(text, &files) && files < level0_files;
}

}  // namespace

CompactionPauses::Changes CompactionPauses::Update(rocksdb::DB& db,
                                                   absl::Span<rocksdb::ColumnFamilyHandle* const> families,
                                                   absl::FunctionRef<std::vector<DamagedFile>()> list_damage,
                                                   std::chrono::steady_clock::time_point now) {
  Changes changes;
  const std::set<std::string> stopped = failed_jobs_->TakeStoppedFamilies();
  const std::set<std::string> succeeded = failed_jobs_->succeeded_families();
  const auto is_damaged = [&](const std::string& family) {
    const std::vector<DamagedFile> damage = list_damage();
    return std::any_of(damage.begin(), damage.end(),
                       [&](const DamagedFile& file) { return file.family == family; });
  };
  for (rocksdb::ColumnFamilyHandle* family : families) {
    const std::string& name = family->GetName();
    FamilyOptions changed;
    {
      MutexLock lock(mutex_);
      auto known = pauses_.find(name);
      if (stopped.contains(name)) {
        if (known == pauses_.end()) {
          const rocksdb::Options before = db.GetOptions(family);
          known = pauses_.emplace(name, Pause()).first;
          known->second.next = first_pause_;
          known->second.limits = LimitsForWrites(before);
          known->second.level0_files = static_cast<uint64_t>(before.level0_slowdown_writes_trigger);
          changes.begun.push_back(name);
        }
        Pause& pause = known->second;
        pause.pauses = true;
        pause.until = now + pause.next;
        pause.next = std::min<std::chrono::milliseconds>(2 * pause.next, kMaxPause);
        changed = kPausing;
      } else if (known != pauses_.end()) {
        Pause& pause = known->second;
        if (pause.pauses && now >= pause.until) {
          pause.pauses = false;
          changed = {{"disable_auto_compactions", "false"}};
        } else if (!pause.pauses && succeeded.contains(name) &&
                   HasFewerFiles(db, family, pause.level0_files) && !is_damaged(name)) {
          changed = std::move(pause.limits);
          pauses_.erase(known);
          changes.ended.push_back(name);
        }
      }
    }
    if (!changed.empty()) (void)db.SetOptions(family, changed);
  }
  return changes;
}

std::vector<std::string> CompactionPauses::PausedFamilies() const {
  std::vector<std::string> paused;
  MutexLock lock(mutex_);
  for (const auto& [name, pause] : pauses_) {
    if (pause.pauses) paused.push_back(name);
  }
  return paused;
}

}  // namespace itemdb::storage
