// How far the creation of an index has come, in a file, so that it goes on after a restart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rocksdb/env.h"
#include "storage/api/options.h"
#include "storage/base/status.h"
#include "storage/indexes/record_sorter.h"

namespace itemdb {

struct BuildState {
  std::string database_id;
  uint64_t table_storage_id = 0;
  uint64_t index_storage_id = 0;
  // Items that these changes, and all after them, are of may have been read before or after the change.
  uint64_t changes_from = 0;
  // The last change of the state that was read last.
  uint64_t seen_through = 0;
  // The encoded primary key of the last item whose entry is in `runs`; empty for none.
  std::string read_through;
  int64_t items_read = 0;
  // Of these, those that cannot be in the index.
  int64_t items_skipped = 0;
  // Nothing is left to be read.
  bool all_read = false;
  SortedRuns runs;
};

// Where index creations keep their files.
inline std::string BuildDirectory(const DatabaseOptions& options) {
  return options.data_directory + "/builds";
}

// Of the file, in the directory of its runs.
inline constexpr char kBuildStateFileName[] = "STATE";
std::string FileNameOf(const std::string& path);

// What WriteBuildState wrote to `directory`; nothing when there is none that is whole, with all its files.
std::optional<BuildState> ReadBuildState(rocksdb::Env* env, const std::string& directory);
// Nothing goes on from it any more. Durable on return; errors as WriteBuildState.
absl::Status DeleteBuildState(rocksdb::Env* env, const std::string& directory);
// Durable on return. UNAVAILABLE, RESOURCE_EXHAUSTED: what the file system answers.
absl::Status WriteBuildState(rocksdb::Env* env, const std::string& directory, const BuildState& state);

}  // namespace itemdb
