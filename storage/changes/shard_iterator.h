// Shard iterators: a reader's position in a stream, as text. The text holds the whole position: the database
// stores nothing for it (SEM-104).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/base/status.h"

namespace itemdb::storage {

struct ShardPosition {
  std::string table_name = {};
  std::string stream_label = {};
  // Changes with a greater sequence come next.
  uint64_t after_sequence = 0;
  // Read from the oldest change that is in the change log when the iterator is used.
  bool trim_horizon = false;
  // When the iterator was made, in milliseconds since the Unix epoch.
  int64_t made_ms = 0;
};

// The iterator is valid only in the database `database_id`.
std::string EncodeShardIterator(const ShardPosition& position, std::string_view database_id);

// INVALID_ARGUMENT: `text` was not made by this database. OUT_OF_RANGE (EXPIRED_ITERATOR): it was made more
// than 15 minutes before `now_ms`.
absl::StatusOr<ShardPosition> DecodeShardIterator(std::string_view text, std::string_view database_id,
                                                  int64_t now_ms);

// The table name in the iterator `text`, of any database and age. INVALID_ARGUMENT: `text` is no iterator.
absl::StatusOr<std::string> TableOfShardIterator(std::string_view text);

}  // namespace itemdb::storage
