#include "storage/changes/read_changes.h"

#include "storage/base/limits.h"
#include "storage/changes/log_reader.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<v1::ReadChangesReply> Read(const Engine& engine, const DurablePrefix& log,
                                          uint64_t after_sequence, int limit) {
  v1::ReadChangesReply reply;
  reply.set_change_sequence(log.last_sequence);
  size_t bytes = 0;
  uint64_t commit_end = 0;
  bool damaged = false;
  const absl::Status walked = WalkChanges(
      engine, *log.view, after_sequence, log.last_sequence,
      [&](const ChangeView& change, std::string_view encoded) {
        const bool full = reply.records_size() >= limit || bytes >= kMaxPageBytes;
        if (full && change.change_sequence > commit_end) return false;  // A page never ends inside a commit.
        damaged = !reply.add_records()->ParseFromArray(encoded.data(), static_cast<int>(encoded.size()));
        bytes += encoded.size();
        commit_end = change.commit_last_sequence;
        return !damaged;
      });
  // The page ends before a change that cannot be read. The next page meets it first, and fails.
  if (!walked.ok() && !(absl::IsDataLoss(walked) && reply.records_size() > 0)) return walked;
  if (damaged) return DataLossError("a record of the change log does not decode");
  reply.set_oldest_sequence(engine.trim_horizon().oldest());
  return reply;
}

}  // namespace

void ReadChanges(Engine& engine, const v1::ReadChangesRequest& request, Done<v1::ReadChangesReply> done,
                 CancellationPtr cancellation) {
  int limit = request.has_limit() ? request.limit() : kMaxReadChanges;
  if (limit < 1 || limit > kMaxReadChanges) {
    return std::move(done)(ValidationError(
        "SEM-105",
        "Limit must be 1 to " + std::to_string(kMaxReadChanges) + "; it is " + std::to_string(limit)));
  }
  auto log = ReadDurablePrefix(engine);
  if (!log.ok()) return std::move(done)(log.status());
  RunOnIoThread<v1::ReadChangesReply>(
      engine, IoPriority::kLong,
      [&engine, log = *std::move(log), after = request.after_sequence(), limit,
       cancellation = std::move(cancellation)]() -> absl::StatusOr<v1::ReadChangesReply> {
        ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
        return Read(engine, log, after, limit);
      },
      std::move(done));
}

}  // namespace itemdb::storage
