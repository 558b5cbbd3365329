// The changes of the moved tables in their DynamoDB Streams, one of each table.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/moving/change_feed.h"
#include "tools/moving/table_stream.h"

namespace itemdb::tools {

class StreamFeed : public ChangeFeed {
 public:
  // Goes on where `state` is. `side` is borrowed. The errors of TableStream::Open.
  static absl::StatusOr<std::unique_ptr<ChangeFeed>> Open(const Side& side, const MoveState& state);

  absl::StatusOr<ChangedBatch> Read(bool checks) override;
  void Save(MoveState& state) const override;
  // The last round of reads that found nothing more in any stream.
  uint64_t place() const override { return complete_; }
  int64_t behind() const override { return -1; }
  // DynamoDB allows five reads of a shard in a second.
  absl::Duration poll_interval() const override { return absl::Milliseconds(200); }
  // Streams show changes late, and may answer with few or none although more follow: what was acknowledged
  // before may come long after. Who must have all compares all.
  bool is_exact() const override { return false; }
  absl::StatusOr<uint64_t> Mark() const override { return begun_ + 1; }

 private:
  explicit StreamFeed(const Side& side) : side_(side) {}

  const Side& side_;
  // In the order of the move's tables.
  std::vector<TableStream> streams_;
  // Rounds are counted from 1.
  std::atomic<uint64_t> begun_{0};
  uint64_t complete_ = 0;
};

}  // namespace itemdb::tools
