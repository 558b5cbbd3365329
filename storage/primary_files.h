// The primary's side of itemdb.v1.Replication: its archive and its newest backup, as files that a standby
// copies.
#pragma once

#include "itemdb/v1/replication.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// The longest piece of a file in one answer, in bytes.
inline constexpr int64_t kMaxReplicationBytes = 4 << 20;

// These implement Database's methods of the same names. They block on disk. Errors: replication.proto; also
// UNAVAILABLE: as the file system says.
absl::StatusOr<v1::ListReplicationFilesReply> ListReplicationFiles(
    const Engine& engine, const v1::ListReplicationFilesRequest& request);
// INVALID_ARGUMENT: `name` is no path within the folder, or the range is not allowed.
absl::StatusOr<v1::ReadReplicationFileReply> ReadReplicationFile(
    const Engine& engine, const v1::ReadReplicationFileRequest& request);
absl::StatusOr<v1::FencePrimaryReply> FencePrimary(Engine& engine, const v1::FencePrimaryRequest& request);

}  // namespace itemdb::storage
