// Requests and replies of the Streams API, which has no gRPC form: Changes.Watch takes its place there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/v1/changes.pb.h"

namespace itemdb {

struct ListStreamsRequest {
  // Only this table's. Default: every table's.
  std::string table_name = {};
  // Streams behind this one, by table name and label.
  std::string exclusive_start_stream_arn = {};
  // 1 to 100. Default 100.
  std::optional<int64_t> limit = {};
};
struct ListStreamsReply {
  std::vector<v1::Stream> streams = {};
  // Whether streams remain behind the last of them.
  bool more = false;
};

struct DescribeStreamRequest {
  std::string stream_arn = {};
  // 1 to 100 shards. Default 100.
  std::optional<int64_t> limit = {};
  // Only shards behind this one, or the children of that one; a stream's only shard has none.
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
  // With the latter two types only.
  std::string sequence_number = {};
};

struct GetRecordsRequest {
  std::string shard_iterator = {};
  // 1 to 1,000. Default 1,000.
  std::optional<int64_t> limit = {};
};
// One change of an item.
struct StreamEvent {
  // 32 hexadecimal digits, of this event alone.
  std::string event_id = {};
  std::string sequence_number = {};
  v1::ChangeKind kind = v1::CHANGE_KIND_UNSPECIFIED;
  // The item was deleted because its time had come (SEM-102).
  bool expired = false;
  int64_t commit_time_us = 0;
  // Encoded items: the key attributes, and the images of the view type.
  std::string key = {};
  std::optional<std::string> old_image = {};
  std::optional<std::string> new_image = {};
  // Of key and images, by SEM-002.
  int64_t size_bytes = 0;
};
struct GetRecordsReply {
  v1::StreamViewType view_type = v1::STREAM_VIEW_TYPE_UNSPECIFIED;
  std::vector<StreamEvent> events = {};
  // Empty: the shard is closed and everything in it was read.
  std::string next_shard_iterator = {};
};

}  // namespace itemdb
