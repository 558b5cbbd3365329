// The calls of itemdb.v1.Replication, by which a standby copies the files of its primary. Built on
// what the client library keeps for itself.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "itemdb/client.h"
#include "itemdb/v1/replication.pb.h"

namespace itemdb::daemon {

// Thread-safe. Blocks. Each call is made once. Errors: replication.proto, and those of every call (errors.h).
class ReplicationClient {
 public:
  explicit ReplicationClient(Client primary) : primary_(std::move(primary)) {}

  absl::StatusOr<v1::ListReplicationFilesReply> ListFiles(
      const v1::ListReplicationFilesRequest& request) const;
  // Fewer than `max_bytes` at the end of the file.
  absl::StatusOr<std::string> ReadFile(v1::ReplicationFolder folder, const std::string& name, int64_t offset,
                                       int64_t max_bytes) const;
  // `primary` is the id of the database that was followed. Returns whether its archive is finished.
  absl::StatusOr<bool> Fence(const std::string& primary, const v1::StandbyPromotion& promotion) const;

 private:
  const Client primary_;
};

}  // namespace itemdb::daemon
