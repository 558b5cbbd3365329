// The database as it was after an earlier commit, in a folder of the data directory, for reading.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "storage/base/cancellation.h"
#include "storage/encryption/environment.h"
#include "storage/engine/engine.h"
#include "storage/restore.h"
#include "storage/scratch_folder.h"
#include "storage/store/store.h"

namespace itemdb::storage {

// Which commit. Neither: the last one.
struct EarlierCommit {
  // The last change of the commit.
  uint64_t change = 0;
  // The last commit up to this time, in microseconds since the Unix epoch.
  int64_t time_us = 0;
};

// The folder is deleted with the object. Thread-safe.
class EarlierDatabase {
 public:
  // Restores a backup and replays the archive on it, in the folder `folder` (scratch_folder.h). Blocks, first
  // until there is a backup to begin with. One database at a time for each folder.
  //
  // OUT_OF_RANGE (RESTORE_POINT_UNKNOWN): there is no archive, or it does not have the commit.
  // RESOURCE_EXHAUSTED (DISK_FULL): the data directory has not the space above its free-space floor.
  // DATA_LOSS: a backup or the archive is damaged. CANCELLED, DEADLINE_EXCEEDED: within moments of
  // `cancellation`, or, while it waits for a backup, of `caller`, which may be null. Otherwise errors as
  // RestoreDatabase.
  static absl::StatusOr<std::unique_ptr<EarlierDatabase>> Restore(const Engine& engine,
                                                                  const EarlierCommit& commit,
                                                                  const char* folder,
                                                                  const Cancellation& cancellation,
                                                                  const CancellationPtr& caller = nullptr);

  // For RestoreDatabase, but for its data directory and cancellation. What waits for the archive is not in
  // it. Errors as Restore.
  static absl::StatusOr<RestoreOptions> Options(const Engine& engine, const EarlierCommit& commit);

  const Store& store() const { return *store_; }
  // The last change that it has.
  uint64_t change_sequence() const { return change_sequence_; }
  const std::string& path() const { return folder_.path(); }

 private:
  EarlierDatabase(const Engine& engine, const char* folder)
      : folder_(engine, folder), environment_(/*file_system=*/nullptr) {}

  // In the order of their construction: the store goes before its files.
  const ScratchFolder folder_;
  Environment environment_;
  std::shared_ptr<Store> store_;
  uint64_t change_sequence_ = 0;
};

}  // namespace itemdb::storage
