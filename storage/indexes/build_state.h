// The progress of a backfill in a file, from which it resumes after a restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/api/options.h"
#include "storage/base/status.h"
#include "storage/indexes/record_sorter.h"

namespace itemdb::storage {

struct BuildState {
  std::string database_id;
  uint64_t table_storage_id = 0;
  uint64_t index_storage_id = 0;
  // The first change after the first view; it and all later ones are pinned in the change log. Items may have
  // been read before or after these changes.
  uint64_t first_pinned_change = 0;
  // The change sequence of the last view that was read.
  uint64_t last_view_sequence = 0;
  // The encoded primary key of the last item that was read; its entry is in `runs`. Empty for none.
  std::string last_read_key;
  int64_t items_read = 0;
  // Those of the items read that cannot be in the index.
  int64_t items_skipped = 0;
  bool all_items_read = false;
  SortedRuns runs;
};

// The directory for the files of backfills.
inline std::string BuildDirectory(const DatabaseOptions& options) {
  return options.data_directory + "/builds";
}

// The name of the state's file, in the directory of the runs.
inline constexpr char kBuildStateFileName[] = "STATE";
std::string FileNameOf(const std::string& path);

// The state that WriteBuildState wrote. nullopt: it is missing or damaged, or one of its files is missing.
std::optional<BuildState> ReadBuildState(rocksdb::Env* env, const std::string& directory);
// Deletes the state's file: no backfill resumes from it. Durable on return; errors as WriteBuildState.
absl::Status DeleteBuildState(rocksdb::Env* env, const std::string& directory);
// Durable on return. UNAVAILABLE, RESOURCE_EXHAUSTED: errors of the file system.
absl::Status WriteBuildState(rocksdb::Env* env, const std::string& directory, const BuildState& state);

}  // namespace itemdb::storage
