// Requests and replies of the Streams API. It exists over HTTP only: gRPC callers use Changes.Watch instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/changes.pb.h"

namespace itemdb::storage {

struct ListStreamsRequest {
  // Only streams of this table. Default: streams of all tables.
  std::string table_name = {};
  // Only streams after this one, in the order of table name and label.
  std::string exclusive_start_stream_arn = {};
  // 1 to 100. Default 100.
  std::optional<int64_t> limit = {};
};
struct ListStreamsReply {
  std::vector<v1::Stream> streams = {};
  // Whether more streams follow the last of `streams`.
  bool more = false;
};

struct DescribeStreamRequest {
  std::string stream_arn = {};
  // 1 to 100 shards. Default 100.
  std::optional<int64_t> limit = {};
  // Only shards after this one; only children of that one. A stream has one shard, so both give an empty
  // list.
  std::string exclusive_start_shard_id = {};
  std::string children_of_shard_id = {};
};
struct StreamShard {
  std::string shard_id = {};
  std::string starting_sequence_number = {};
  // Empty while the stream is enabled.
  std::string ending_sequence_number = {};
};
struct DescribeStreamReply {
  v1::Stream stream;
  std::vector<StreamShard> shards = {};
};

enum class ShardIteratorType { kTrimHorizon, kLatest, kAtSequenceNumber, kAfterSequenceNumber };
struct ShardIteratorRequest {
  std::string stream_arn = {};
  std::string shard_id = {};
  ShardIteratorType type = ShardIteratorType::kTrimHorizon;
  // Only with kAtSequenceNumber and kAfterSequenceNumber.
  std::string sequence_number = {};
};

struct GetRecordsRequest {
  std::string shard_iterator = {};
  // 1 to 1,000. Default 1,000.
  std::optional<int64_t> limit = {};
};
// One change of an item.
struct StreamEvent {
  // Unique to this event: 32 hexadecimal digits.
  std::string event_id = {};
  std::string sequence_number = {};
  v1::ChangeKind kind = v1::CHANGE_KIND_UNSPECIFIED;
  // The item was deleted because its time to live ended (SEM-102).
  bool expired = false;
  int64_t commit_time_us = 0;
  // Encoded items: the key attributes, and the images that the stream's view type asks for.
  std::string key = {};
  std::optional<std::string> old_image = {};
  std::optional<std::string> new_image = {};
  // Size of key and images together, by the rules of item_size.h (SEM-002).
  int64_t size_bytes = 0;
};
struct GetRecordsReply {
  v1::StreamViewType view_type = v1::STREAM_VIEW_TYPE_UNSPECIFIED;
  std::vector<StreamEvent> events = {};
  // Empty when the shard is closed and all its records were read.
  std::string next_shard_iterator = {};
};

}  // namespace itemdb::storage
