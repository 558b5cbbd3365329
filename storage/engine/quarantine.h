// The folders and files of a recovery with losses, and how its result takes the place of the damaged store.
//
//   DIRECTORY/rocksdb/               the damaged store, not changed
//   DIRECTORY/recovery/damaged/      a copy of it: table files are hard links, because they never change
//   DIRECTORY/recovery/rocksdb/      the recovered store
//   DIRECTORY/recovery/WATERMARK     the watermark for it
//   DIRECTORY/quarantine-N/          from before the N-th recovery: rocksdb/, WATERMARK, SYNCED, CATALOG;
//                                    and a README
//
// The steps, each durable before the next:
//   1. recovery/ is made, anew if there was one (last_good.h).
//   2. quarantine-N/ gets its copies of WATERMARK and CATALOG.
//   3. WATERMARK says "recovering N". From now on an ordinary opening is refused.
//   4. rocksdb/ is renamed to quarantine-N/rocksdb/.
//   5. recovery/rocksdb/ is renamed to rocksdb/.
//   6. recovery/WATERMARK is renamed to WATERMARK.
//   7. recovery/ is deleted.
// After a crash in step 1 or 2 the damaged store is as it was. After a crash in steps 3 to 6 the next opening
// with recover_last_good goes on with step 4, where each step is skipped that was done.
#pragma once

#include <cstdint>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"
#include "storage/engine/durability_watermark.h"

namespace itemdb::storage {

struct FolderSize {
  int64_t files = 0;
  uint64_t bytes = 0;
};
// Of the files in `path`, without those of its folders.
FolderSize MeasureFolder(rocksdb::Env* env, const std::string& path);

// The folders of a recovery. Errors of all functions as FromRocksDB. Not thread-safe.
class RecoveryFolders {
 public:
  RecoveryFolders(rocksdb::Env* env, std::string directory);
  // For a recovery that leaves `directory` as it is: `folder` stands for recovery/, and the table files of
  // the copy are symbolic links, because the folder may be on another file system.
  RecoveryFolders(rocksdb::Env* env, std::string directory, std::string folder);

  const std::string& store() const { return store_; }
  const std::string& copy() const { return copy_; }
  const std::string& recovered() const { return recovered_; }
  const std::string& folder() const { return folder_; }
  // quarantine-N.
  std::string Quarantine(int number) const;

  // Begins step 1: an empty recovery/.
  absl::Status Begin();
  // Makes the copy, in the place of an earlier one.
  absl::Status Copy();
  // The file system has no hard links, so the table files of the copy are copies.
  bool has_copied() const { return has_copied_; }

  // Steps 2 to 7. `before`: the watermark until now. Returns N.
  absl::StatusOr<int> TakePlace(DurabilityWatermark before, const std::string& cause);
  // Steps 4 to 7 of the recovery `number`, if it has done step 3. False: it must begin with step 1.
  absl::StatusOr<bool> Continue(int number);
  // Deletes recovery/, if there is one. Ignores errors.
  void Delete();

 private:
  // Makes a table file of the copy a link to that of the store.
  bool Link(const std::string& from, const std::string& to) const;
  // Steps 4 to 6.
  absl::Status Rename(int number);
  absl::StatusOr<int> NextNumber() const;

  rocksdb::Env* const env_;
  const std::string directory_;
  const std::string store_;
  const std::string folder_;
  const std::string copy_;
  const std::string recovered_;
  const bool has_symbolic_links_;
  bool has_copied_ = false;
};

}  // namespace itemdb::storage
