#include "daemon/standby/replication_client.h"

#include <string>
#include <utility>

#include "client/access.h"
#include "client/call.h"

namespace itemdb::daemon {
namespace {

// Longer than the primary takes to list its files; a primary that does not answer counts as lost soon.
constexpr absl::Duration kListTimeout = absl::Seconds(5);
constexpr absl::Duration kReadTimeout = absl::Seconds(30);
// The primary drains its writes and finishes its archive.
constexpr absl::Duration kFenceTimeout = absl::Seconds(4);

CallOptions Once(absl::Duration timeout) {
  return {.timeout = timeout, .retry = RetryOptions{.max_attempts = 1}};
}

}  // namespace

absl::StatusOr<v1::ListReplicationFilesReply> ReplicationClient::ListFiles(
    const v1::ListReplicationFilesRequest& request) const {
  return Call<v1::ListReplicationFilesReply, v1::ListReplicationFilesReply>(
      ClientAccess::CoreOf(primary_), "/itemdb.v1.Replication/ListReplicationFiles", CallKind::kRead, request,
      Once(kListTimeout), [](const v1::ListReplicationFilesReply& reply) { return reply; });
}

absl::StatusOr<std::string> ReplicationClient::ReadFile(v1::ReplicationFolder folder, const std::string& name,
                                                        int64_t offset, int64_t max_bytes) const {
  v1::ReadReplicationFileRequest request;
  request.set_folder(folder);
  request.set_name(name);
  request.set_offset(offset);
  request.set_max_bytes(max_bytes);
  return Call<v1::ReadReplicationFileReply, std::string>(
      ClientAccess::CoreOf(primary_), "/itemdb.v1.Replication/ReadReplicationFile", CallKind::kRead, request,
      Once(kReadTimeout), [](const v1::ReadReplicationFileReply& reply) { return reply.content(); });
}

absl::StatusOr<bool> ReplicationClient::Fence(const std::string& primary,
                                              const v1::StandbyPromotion& promotion) const {
  v1::FencePrimaryRequest request;
  request.set_primary_database_id(primary);
  *request.mutable_promotion() = promotion;
  // Repeating it changes nothing.
  return Call<v1::FencePrimaryReply, bool>(
      ClientAccess::CoreOf(primary_), "/itemdb.v1.Replication/FencePrimary", CallKind::kRead, request,
      Once(kFenceTimeout), [](const v1::FencePrimaryReply& reply) { return reply.is_finished(); });
}

}  // namespace itemdb::daemon
