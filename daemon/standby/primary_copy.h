// A copy of the archive of a primary, kept up by asking it (itemdb.v1.Replication), and of its newest backup
// while a standby makes a base of that. The storage layer follows the copy as it follows an archive that it
// can read.
//
//   DIRECTORY/PRIMARY    the id of the primary's database
//   DIRECTORY/TOLD       the promotion that the primary has confirmed
//   DIRECTORY/archive    segments: those of the primary that the standby has not followed yet
//   DIRECTORY/backups    one backup, until the standby has made its base of it
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/log/log.h"
#include "itemdb/options.h"
#include "itemdb/v1/replication.pb.h"
#include "storage/api/primary_link.h"
#include "storage/base/background_thread.h"
#include "storage/base/mutex.h"
#include "storage/database.h"

namespace spdlog {
class logger;
}

namespace itemdb::daemon {

class ReplicationClient;

struct PrimaryCopyOptions {
  // How to reach the primary.
  ClientOptions primary;
  // Made by FetchBackup.
  std::string directory;
  common::Log log;
};

// Thread-safe, but for Start and Stop.
class PrimaryCopy final : public storage::PrimaryLink {
 public:
  // Does not connect and makes nothing. INVALID_ARGUMENT: the options of the connection are not allowed
  // (Client::Open).
  static absl::StatusOr<std::shared_ptr<PrimaryCopy>> Open(PrimaryCopyOptions options);
  ~PrimaryCopy() override;

  std::string archive() const { return options_.directory + "/archive"; }
  std::string backups() const { return options_.directory + "/backups"; }

  // Copies what the primary adds to its archive while `database` is a standby. When it was promoted and the
  // primary does not know, tells it until it does. `database` must live until Stop.
  void Start(const storage::Database& database);
  void Stop();

  absl::Status FetchBackup(const storage::Cancellation& cancellation) override;
  void DropBackup() override;
  absl::Status Fence(const v1::StandbyPromotion& promotion) override;
  State GetState() const override;

 private:
  PrimaryCopy(PrimaryCopyOptions options, std::unique_ptr<const ReplicationClient> primary);

  void Loop(const storage::Database& database);
  // One round of the loop, and how long to wait after it.
  struct Round {
    absl::Status status;
    std::chrono::milliseconds wait;
  };
  Round CopyRound(const storage::Database& database);
  // Copies what is new. With `waits`, first waits until the primary has something, half a second at most.
  absl::StatusOr<v1::ListReplicationFilesReply> CopyArchive(bool waits);
  // Copies what the list has and the copy has not.
  absl::Status CopyFiles(const v1::ListReplicationFilesReply& list, const storage::Cancellation& cancellation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(copying_);
  absl::Status CopyFile(const v1::ReplicationFile& file, int64_t from,
                        const storage::Cancellation& cancellation) ABSL_EXCLUSIVE_LOCKS_REQUIRED(copying_);
  // Deletes the segments of the copy if the primary has another archive now.
  void DropOtherArchive(const v1::ListReplicationFilesReply& list) ABSL_EXCLUSIVE_LOCKS_REQUIRED(copying_);
  // FAILED_PRECONDITION: the copy is of another database.
  absl::Status CheckPrimary(const std::string& database_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(copying_);
  // The id of the database that is followed; empty: none yet.
  std::string PrimaryId() const;
  // `status` with the reasons of the storage layer.
  absl::Status FromPrimary(const absl::Status& status) const;
  std::string PathOf(const v1::ReplicationFile& file) const;
  void SetState(const absl::Status& status);

  const PrimaryCopyOptions options_;
  const std::unique_ptr<const ReplicationClient> primary_;
  storage::Cancellation stopped_;

  // One round of copying at a time.
  storage::Mutex copying_;
  // What was copied last before this process began, or before an error, may not be on disk as it was written:
  // a power failure keeps the size of a file and loses bytes. It is copied again.
  bool copies_last_again_ ABSL_GUARDED_BY(copying_) = true;
  // Bytes were replaced that the standby may have read.
  bool has_replaced_ ABSL_GUARDED_BY(copying_) = false;

  // Touched only by the thread: what the primary is told. The version of the last list, if the standby has
  // applied all of it; 0: nothing.
  uint64_t applied_version_ = 0;

  mutable storage::Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_);

  storage::BackgroundThread thread_;
};

}  // namespace itemdb::daemon
