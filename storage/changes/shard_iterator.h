// Shard iterators: a reader's place in a stream as text that holds all there is to know (SEM-104).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb {

struct ShardPosition {
  std::string table_name = {};
  std::string stream_label = {};
  // Changes with a greater sequence come next.
  uint64_t after_sequence = 0;
  // From the oldest change that is left, wherever the log begins by then.
  bool trim_horizon = false;
  // Milliseconds since the Unix epoch.
  int64_t made_ms = 0;
};

// `database_id` binds it to its database.
std::string EncodeShardIterator(const ShardPosition& position, std::string_view database_id);

// INVALID_ARGUMENT: it was not made by this database. OUT_OF_RANGE (EXPIRED_ITERATOR): it was made more than
// 15 minutes before `now_ms`.
absl::StatusOr<ShardPosition> DecodeShardIterator(std::string_view text, std::string_view database_id,
                                                  int64_t now_ms);

}  // namespace itemdb
