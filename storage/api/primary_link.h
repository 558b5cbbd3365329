// How a standby gets the files of a primary whose directories it cannot read: copies of them are kept in
// DatabaseOptions::standby_archive and standby_backups, by whoever implements this (daemon/standby).
#pragma once

#include "itemdb/v1/admin.pb.h"
#include "storage/base/cancellation.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Thread-safe. All but State block on the network.
class PrimaryLink {
 public:
  virtual ~PrimaryLink() = default;

  // Copies the newest backup of the primary, and the archive from there on; what was copied of the archive
  // before is deleted.
  //
  // NOT_FOUND: the primary has no such backup now. UNAVAILABLE: it cannot be reached, or the copy cannot be
  // written. FAILED_PRECONDITION: it is not the database that the copy is of, or keeps no archive.
  virtual absl::Status FetchBackup(const Cancellation& cancellation) = 0;
  // Deletes the copy of the backup: nothing needs it any more, or it is damaged.
  virtual void DropBackup() = 0;
  // Tells the primary that the standby was promoted, and copies the rest of its archive.
  //
  // FAILED_PRECONDITION (FENCED): another standby was promoted. UNAVAILABLE: the primary cannot be reached,
  // or another database is in its place. ABORTED: it takes no more writes, but the rest of its archive could
  // not be finished or copied.
  virtual absl::Status Fence(const v1::StandbyPromotion& promotion) = 0;

  struct State {
    // Why the copy does not go on; OK if it does.
    absl::Status error;
    // When the copy was last complete, in microseconds since the Unix epoch; 0: never.
    int64_t complete_at_us = 0;
  };
  virtual State GetState() const = 0;
};

}  // namespace itemdb::storage
