// The promotion of a standby, told in the archive that it followed, so that the database that writes the
// archive takes no more writes: two databases must not go on from the same commit.
//
//   ARCHIVE/PROMOTED   written by the standby when it is promoted
//   ARCHIVE/FENCED     written by the database of the archive when it has seen PROMOTED: nothing will be
//                      added to the archive any more
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "itemdb/v1/admin.pb.h"
#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

struct Promotion {
  // Of the standby.
  std::string database_id;
  // The last change that the standby had when it was promoted. More may have followed.
  uint64_t change_sequence = 0;
  // Microseconds since the Unix epoch.
  int64_t time_us = 0;
};

v1::StandbyPromotion ToMessage(const Promotion& promotion);
Promotion FromMessage(const v1::StandbyPromotion& message);

// Replaces PROMOTED, durably. Errors: of the file system.
absl::Status WritePromotion(rocksdb::Env* env, const std::string& archive, const Promotion& promotion);
// std::nullopt: no standby was promoted. DATA_LOSS: the file is damaged. UNAVAILABLE: the file system says
// so.
absl::StatusOr<std::optional<Promotion>> ReadPromotion(rocksdb::Env* env, const std::string& archive);
// Deletes PROMOTED. Errors: of the file system.
absl::Status DeletePromotion(rocksdb::Env* env, const std::string& archive);

// The answer to writes of a database whose standby was promoted: FAILED_PRECONDITION (FENCED).
absl::Status FencedError(const Promotion& promotion, const std::string& archive);
// Writes FENCED, durably. Errors: of the file system.
absl::Status WriteFenced(rocksdb::Env* env, const std::string& archive);
// Deletes FENCED, if it is there: the database of the archive takes writes.
void DeleteFenced(rocksdb::Env* env, const std::string& archive);
// Whether FENCED is there.
bool IsFenced(rocksdb::Env* env, const std::string& archive);
// Whether nothing will be added to the archive any more: FENCED is there, or no process has the archive open.
// The second is not noticed if the process runs on another machine and the file system has no locks.
bool IsClosed(rocksdb::Env* env, const std::string& archive);

}  // namespace itemdb::storage
