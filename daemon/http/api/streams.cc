#include "daemon/http/api/streams.h"

#include "absl/strings/str_cat.h"
#include "daemon/http/api/table_definitions.h"

namespace itemdb::http::json {
namespace {

using storage::Database;

constexpr int64_t kSecondUs = 1'000'000;

std::string StringOf(const JsonObject& object, std::string_view name) {
  return std::string(TextOf(object, name));
}

absl::StatusOr<storage::ListStreamsRequest> ReadListStreams(const JsonObject& object) {
  return storage::ListStreamsRequest{
      .table_name = StringOf(object, "TableName"),
      .exclusive_start_stream_arn = StringOf(object, "ExclusiveStartStreamArn"),
      .limit = NumberOf(object, "Limit")};
}

absl::StatusOr<storage::DescribeStreamRequest> ReadDescribeStream(const JsonObject& object) {
  storage::DescribeStreamRequest request{
      .stream_arn = StringOf(object, "StreamArn"),
      .limit = NumberOf(object, "Limit"),
      .exclusive_start_shard_id = StringOf(object, "ExclusiveStartShardId")};
  if (std::optional<JsonElement> filter = MemberOf(object, "ShardFilter"); filter.has_value()) {
    const JsonObject given = AsObject(*filter);
    request.children_of_shard_id = StringOf(given, "ShardId");
    if (!HasMember(given, "Type") || request.children_of_shard_id.empty()) {
      return storage::ValidationError("SEM-106",
                                      "ShardFilter must give Type, which is CHILD_SHARDS, and ShardId");
    }
  }
  return request;
}

storage::ShardIteratorType TypeOf(std::string_view text) {
  if (text == "LATEST") return storage::ShardIteratorType::kLatest;
  if (text == "AT_SEQUENCE_NUMBER") return storage::ShardIteratorType::kAtSequenceNumber;
  if (text == "AFTER_SEQUENCE_NUMBER") return storage::ShardIteratorType::kAfterSequenceNumber;
  return storage::ShardIteratorType::kTrimHorizon;
}

absl::StatusOr<storage::ShardIteratorRequest> ReadGetShardIterator(const JsonObject& object) {
  return storage::ShardIteratorRequest{.stream_arn = StringOf(object, "StreamArn"),
                                       .shard_id = StringOf(object, "ShardId"),
                                       .type = TypeOf(TextOf(object, "ShardIteratorType")),
                                       .sequence_number = StringOf(object, "SequenceNumber")};
}

absl::StatusOr<storage::GetRecordsRequest> ReadGetRecords(const JsonObject& object) {
  return storage::GetRecordsRequest{.shard_iterator = StringOf(object, "ShardIterator"),
                                    .limit = NumberOf(object, "Limit")};
}

// Writes the members that describe a stream in every reply.
void WriteStream(const v1::Stream& stream, storage::JsonWriter* writer) {
  writer->Name("StreamArn").String(StreamArn(stream.table_name(), stream.stream_label()));
  writer->Name("TableName").String(stream.table_name());
  writer->Name("StreamLabel").String(stream.stream_label());
}

void WriteStreams(const storage::ListStreamsReply& reply, storage::JsonWriter* writer) {
  writer->Name("Streams").BeginArray();
  for (const v1::Stream& stream : reply.streams) {
    writer->BeginObject();
    WriteStream(stream, writer);
    writer->EndObject();
  }
  writer->EndArray();
  if (reply.more) {
    const v1::Stream& last = reply.streams.back();
    writer->Name("LastEvaluatedStreamArn").String(StreamArn(last.table_name(), last.stream_label()));
  }
}

void WriteDescription(const storage::DescribeStreamReply& reply, storage::JsonWriter* writer) {
  const v1::Stream& stream = reply.stream;
  writer->Name("StreamDescription").BeginObject();
  WriteStream(stream, writer);
  writer->Name("StreamStatus").String(stream.disabled_sequence() == 0 ? "ENABLED" : "DISABLED");
  writer->Name("StreamViewType").String(EnumText(stream.stream_view_type()));
  writer->Name("CreationRequestDateTime").Time(stream.creation_time_ms());
  WriteKeySchema(stream.key_schema(), writer);
  writer->Name("Shards").BeginArray();
  for (const storage::StreamShard& shard : reply.shards) {
    writer->BeginObject().Name("ShardId").String(shard.shard_id);
    writer->Name("SequenceNumberRange").BeginObject();
    writer->Name("StartingSequenceNumber").String(shard.starting_sequence_number);
    if (!shard.ending_sequence_number.empty())
      writer->Name("EndingSequenceNumber").String(shard.ending_sequence_number);
    writer->EndObject().EndObject();
  }
  writer->EndArray().EndObject();
}

void WriteIterator(const std::string& iterator, storage::JsonWriter* writer) {
  writer->Name("ShardIterator").String(iterator);
}

void WriteEvent(const storage::StreamEvent& event, v1::StreamViewType view_type,
                storage::JsonWriter* writer) {
  writer->BeginObject().Name("eventID").String(event.event_id);
  writer->Name("eventName").String(EnumText(event.kind));
  writer->Name("eventVersion").String("1.1").Name("eventSource").String("aws:dynamodb");
  writer->Name("awsRegion").String(kRegion);
  if (event.expired) {
    writer->Name("userIdentity").BeginObject();
    writer->Name("Type").String("Service").Name("PrincipalId").String("dynamodb.amazonaws.com");
    writer->EndObject();
  }
  writer->Name("dynamodb").BeginObject();
  writer->Name("ApproximateCreationDateTime").Integer(event.commit_time_us / kSecondUs);
  writer->Name("Keys").Item(event.key);
  if (event.new_image.has_value()) writer->Name("NewImage").Item(*event.new_image);
  if (event.old_image.has_value()) writer->Name("OldImage").Item(*event.old_image);
  writer->Name("SequenceNumber").String(event.sequence_number);
  writer->Name("SizeBytes").Integer(event.size_bytes);
  writer->Name("StreamViewType").String(EnumText(view_type));
  writer->EndObject().EndObject();
}

int64_t WriteRecords(const storage::GetRecordsReply& reply, storage::JsonWriter* writer) {
  writer->Name("Records").BeginArray();
  for (const storage::StreamEvent& event : reply.events) WriteEvent(event, reply.view_type, writer);
  writer->EndArray();
  if (!reply.next_shard_iterator.empty()) writer->Name("NextShardIterator").String(reply.next_shard_iterator);
  return static_cast<int64_t>(reply.events.size());
}

}  // namespace

void ListStreams(JsonCall call) {
  HandleOperation<ReadListStreams, &Database::ListStreams, WriteStreams>(std::move(call));
}
void DescribeStream(JsonCall call) {
  HandleOperation<ReadDescribeStream, &Database::DescribeStream, WriteDescription>(std::move(call));
}
void GetShardIterator(JsonCall call) {
  HandleOperation<ReadGetShardIterator, &Database::GetShardIterator, WriteIterator>(std::move(call));
}
void GetRecords(JsonCall call) {
  HandleOperation<ReadGetRecords, &Database::GetRecords, WriteRecords>(std::move(call));
}

}  // namespace itemdb::http::json
