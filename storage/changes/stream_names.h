// Names in the Streams API: ARNs of streams, shard ids, sequence numbers and event ids (SEM-106).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "itemdb/v1/changes.pb.h"
#include "storage/base/status.h"

namespace itemdb::storage {

struct StreamName {
  std::string table_name;
  std::string label;
};

// Parses "arn:...:table/NAME/stream/LABEL". Ignores region and account: there is only one of each.
// INVALID_ARGUMENT: `arn` is not the ARN of a stream.
absl::StatusOr<StreamName> ParseStreamArn(std::string_view arn);

// The only shard of `stream`, 37 characters.
std::string ShardIdOf(const v1::Stream& stream);

// A change sequence as 21 digits. INVALID_ARGUMENT: `text` is not such a number.
std::string SequenceNumberOf(uint64_t change_sequence);
absl::StatusOr<uint64_t> ParseSequenceNumber(std::string_view text);

// 32 hexadecimal digits that identify one change of one database.
std::string EventIdOf(std::string_view database_id, uint64_t change_sequence);

}  // namespace itemdb::storage
