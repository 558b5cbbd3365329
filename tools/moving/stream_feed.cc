#include "tools/moving/stream_feed.h"

#include <utility>

#include "common/status_macros.h"

namespace itemdb::tools {

absl::StatusOr<std::unique_ptr<ChangeFeed>> StreamFeed::Open(const Side& side, const MoveState& state) {
  std::unique_ptr<StreamFeed> feed(new StreamFeed(side));
  for (const MovedTable& table : state.tables) {
    feed->streams_.emplace_back(side, table.name, table.stream);
    ITEMDB_RETURN_IF_ERROR(feed->streams_.back().Open());
  }
  return feed;
}

absl::StatusOr<ChangedBatch> StreamFeed::Read(bool /*checks*/) {
  const uint64_t round = ++begun_;
  ChangedBatch batch;
  bool is_read = true;
  for (TableStream& stream : streams_) {
    ITEMDB_ASSIGN_OR_RETURN(const bool is_stream_read, stream.Read(&batch));
    is_read = is_read && is_stream_read;
    if (side_.patience().cancel().cancelled()) return absl::CancelledError("interrupted");
  }
  if (is_read) complete_ = round;
  batch.is_idle = is_read;
  return batch;
}

void StreamFeed::Save(MoveState& state) const {
  for (size_t i = 0; i < streams_.size(); ++i) state.tables[i].stream = streams_[i].place();
}

}  // namespace itemdb::tools
