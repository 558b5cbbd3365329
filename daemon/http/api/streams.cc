#include "daemon/http/api/streams.h"

#include "absl/strings/str_cat.h"
#include "daemon/http/api/table_definitions.h"

namespace itemdb::http::json {
namespace {

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
void WriteStream(const v1::Stream& stream, JsonWriter* writer) {
  writer->Name("StreamArn").String(StreamArn(stream.table_name(), stream.stream_label()));
  writer->Name("TableName").String(stream.table_name());
  writer->Name("StreamLabel").String(stream.stream_label());
}

std::string WriteStreams(const storage::ListStreamsReply& reply) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("Streams").BeginArray();
  for (const v1::Stream& stream : reply.streams) {
    writer.BeginObject();
    WriteStream(stream, &writer);
    writer.EndObject();
  }
  writer.EndArray();
  if (reply.more) {
    const v1::Stream& last = reply.streams.back();
    writer.Name("LastEvaluatedStreamArn").String(StreamArn(last.table_name(), last.stream_label()));
  }
  writer.EndObject();
  return body;
}

std::string WriteDescription(const storage::DescribeStreamReply& reply) {
  const v1::Stream& stream = reply.stream;
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject().Name("StreamDescription").BeginObject();
  WriteStream(stream, &writer);
  writer.Name("StreamStatus").String(stream.disabled_sequence() == 0 ? "ENABLED" : "DISABLED");
  writer.Name("StreamViewType").String(EnumText(stream.stream_view_type()));
  writer.Name("CreationRequestDateTime").Time(stream.creation_time_ms());
  WriteKeySchema(stream.key_schema(), &writer);
  writer.Name("Shards").BeginArray();
  for (const storage::StreamShard& shard : reply.shards) {
    writer.BeginObject().Name("ShardId").String(shard.shard_id);
    writer.Name("SequenceNumberRange").BeginObject();
    writer.Name("StartingSequenceNumber").String(shard.starting_sequence_number);
    if (!shard.ending_sequence_number.empty())
      writer.Name("EndingSequenceNumber").String(shard.ending_sequence_number);
    writer.EndObject().EndObject();
  }
  writer.EndArray().EndObject().EndObject();
  return body;
}

std::string WriteIterator(const std::string& iterator) {
  std::string body;
  JsonWriter(&body).BeginObject().Name("ShardIterator").String(iterator).EndObject();
  return body;
}

// Answers a call with the body that `write` makes from the reply.
template <typename Reply>
storage::Done<Reply> AnswerWith(JsonAnswer answer, std::string (*write)(const Reply&)) {
  return [answer = std::move(answer), write](absl::StatusOr<Reply> reply) mutable {
    if (!reply.ok()) return std::move(answer).Fail(reply.status());
    std::move(answer).Succeed(write(*reply));
  };
}

void ExecuteListStreams(JsonCall call, const storage::ListStreamsRequest& request) {
  call.database.ListStreams(request, AnswerWith(std::move(call.answer), WriteStreams));
}

void ExecuteDescribeStream(JsonCall call, const storage::DescribeStreamRequest& request) {
  call.database.DescribeStream(request, AnswerWith(std::move(call.answer), WriteDescription));
}

void ExecuteGetShardIterator(JsonCall call, const storage::ShardIteratorRequest& request) {
  call.database.GetShardIterator(request, AnswerWith(std::move(call.answer), WriteIterator));
}

void WriteEvent(const storage::StreamEvent& event, v1::StreamViewType view_type, JsonWriter* writer) {
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

void ExecuteGetRecords(JsonCall call, const storage::GetRecordsRequest& request) {
  call.database.GetRecords(
      request,
      [answer = std::move(call.answer)](absl::StatusOr<storage::GetRecordsReply> reply) mutable {
        if (!reply.ok()) return std::move(answer).Fail(reply.status());
        std::string body;
        JsonWriter writer(&body);
        writer.BeginObject().Name("Records").BeginArray();
        for (const storage::StreamEvent& event : reply->events) WriteEvent(event, reply->view_type, &writer);
        writer.EndArray();
        if (!reply->next_shard_iterator.empty())
          writer.Name("NextShardIterator").String(reply->next_shard_iterator);
        writer.EndObject();
        std::move(answer).Succeed(std::move(body), static_cast<int64_t>(reply->events.size()));
      },
      std::move(call.cancellation));
}

}  // namespace

void ListStreams(JsonCall call) { HandleOperation<ReadListStreams, ExecuteListStreams>(std::move(call)); }
void DescribeStream(JsonCall call) {
  HandleOperation<ReadDescribeStream, ExecuteDescribeStream>(std::move(call));
}
void GetShardIterator(JsonCall call) {
  HandleOperation<ReadGetShardIterator, ExecuteGetShardIterator>(std::move(call));
}
void GetRecords(JsonCall call) { HandleOperation<ReadGetRecords, ExecuteGetRecords>(std::move(call)); }

}  // namespace itemdb::http::json
