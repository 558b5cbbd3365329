// What streams, shards and changes are called in the Streams API (SEM-106).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "itemdb/v1/changes.pb.h"
#include "storage/base/status.h"

namespace itemdb {

struct StreamName {
  std::string table_name;
  std::string label;
};

// Of "arn:...:table/NAME/stream/LABEL"; as there is one region and one account only name and label count.
// INVALID_ARGUMENT: it is no ARN of a stream.
absl::StatusOr<StreamName> ParseStreamArn(std::string_view arn);

// The only shard of `stream`, 37 characters.
std::string ShardIdOf(const v1::Stream& stream);

// A change sequence in 21 digits. INVALID_ARGUMENT: `text` is none.
std::string SequenceNumberOf(uint64_t change_sequence);
absl::StatusOr<uint64_t> ParseSequenceNumber(std::string_view text);

// The 32 hexadecimal digits that name one change of one database.
std::string EventIdOf(std::string_view database_id, uint64_t change_sequence);

}  // namespace itemdb
