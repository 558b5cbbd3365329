#include "storage/changes/streams.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/base/wall_clock.h"
#include "storage/changes/log_reader.h"
#include "storage/changes/shard_iterator.h"
#include "storage/changes/stream_names.h"
#include "storage/schema/stream_records.h"
#include "storage/values/item_size.h"

namespace itemdb::storage {
namespace {

absl::StatusOr<int64_t> LimitOf(const std::optional<int64_t>& limit, int64_t most, std::string_view rule) {
  if (!limit.has_value()) return most;
  if (*limit >= 1 && *limit <= most) return *limit;
  return ValidationError(rule, absl::StrCat("Limit must be 1 to ", most, "; it is ", *limit));
}

// The stream `name`. `arn`: as the request names it, empty if it does not.
absl::StatusOr<v1::Stream> StreamOf(const ReadView& view, const StreamName& name,
                                    const std::string& arn = {}) {
  ITEMDB_ASSIGN_OR_RETURN(std::optional<v1::Stream> stream, FindStream(view, name.table_name, name.label));
  if (stream.has_value()) return *std::move(stream);
  absl::Status missing = NotFoundError(absl::StrCat("Requested resource not found: Stream: table ",
                                                    name.table_name, " has no stream ", name.label));
  if (arn.empty()) return missing;
  return WithServiceText("Requested resource not found: Stream: " + arn + " not found", std::move(missing));
}

absl::Status NoSuchShardError(const std::string& shard_id) {
  return WithServiceText(
      "Requested resource not found: Shard does not exist",
      NotFoundError("Requested resource not found: Shard: the stream has no shard " + shard_id));
}

absl::StatusOr<ListStreamsReply> List(Engine& engine, const ListStreamsRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(int64_t limit, LimitOf(request.limit, kMaxListStreams, "SEM-106"));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  StreamFilter filter{.table_name = request.table_name, .at_most = static_cast<size_t>(limit) + 1};
  if (!request.exclusive_start_stream_arn.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(StreamName name, ParseStreamArn(request.exclusive_start_stream_arn));
    filter.after_table = std::move(name.table_name);
    filter.after_label = std::move(name.label);
  }
  ListStreamsReply reply;
  ITEMDB_ASSIGN_OR_RETURN(reply.streams, FindStreams(*view, filter));
  // A table is looked up only when it has no streams: streams of a deleted table are listed too.
  if (reply.streams.empty() && !request.table_name.empty())
    ITEMDB_RETURN_IF_ERROR(view->catalog().Find(request.table_name).status());
  reply.more = reply.streams.size() > static_cast<size_t>(limit);
  if (reply.more) reply.streams.pop_back();
  return reply;
}

absl::StatusOr<DescribeStreamReply> Describe(Engine& engine, const DescribeStreamRequest& request) {
  ITEMDB_RETURN_IF_ERROR(LimitOf(request.limit, kMaxListStreams, "SEM-106").status());
  ITEMDB_ASSIGN_OR_RETURN(StreamName name, ParseStreamArn(request.stream_arn));
  ITEMDB_ASSIGN_OR_RETURN(auto view, engine.View());
  DescribeStreamReply reply;
  ITEMDB_ASSIGN_OR_RETURN(reply.stream, StreamOf(*view, name, request.stream_arn));
  const std::string shard_id = ShardIdOf(reply.stream);
  // No shard comes after a start that is unknown, as none comes after the only shard.
  if (!request.children_of_shard_id.empty() && request.children_of_shard_id != shard_id)
    return NoSuchShardError(request.children_of_shard_id);
  if (request.exclusive_start_shard_id.empty() && request.children_of_shard_id.empty()) {
    StreamShard& shard = reply.shards.emplace_back();
    shard.shard_id = shard_id;
    shard.starting_sequence_number = SequenceNumberOf(reply.stream.enabled_sequence());
    if (reply.stream.disabled_sequence() != 0)
      shard.ending_sequence_number = SequenceNumberOf(reply.stream.disabled_sequence());
  }
  return reply;
}

absl::StatusOr<std::string> MakeShardIterator(Engine& engine, const ShardIteratorRequest& request) {
  ITEMDB_ASSIGN_OR_RETURN(StreamName name, ParseStreamArn(request.stream_arn));
  ITEMDB_ASSIGN_OR_RETURN(DurablePrefix log, ReadDurablePrefix(engine));
  ITEMDB_ASSIGN_OR_RETURN(v1::Stream stream, StreamOf(*log.view, name, request.stream_arn));
  if (request.shard_id != ShardIdOf(stream)) return NoSuchShardError(request.shard_id);

  const bool by_number = request.type == ShardIteratorType::kAtSequenceNumber ||
                         request.type == ShardIteratorType::kAfterSequenceNumber;
  if (by_number == request.sequence_number.empty()) {
    return ValidationError("SEM-104",
                           "SequenceNumber must be given with the ShardIteratorTypes AT_SEQUENCE_NUMBER and "
                           "AFTER_SEQUENCE_NUMBER, and with no other");
  }
  ShardPosition position{.table_name = name.table_name, .stream_label = name.label, .made_ms = NowMillis()};
  // Records of the shard come after `begin`; the last one is before or at `end`.
  const uint64_t begin = stream.enabled_sequence();
  const uint64_t end =
      stream.disabled_sequence() == 0 ? log.view->change_sequence() : stream.disabled_sequence();
  if (by_number) {
    ITEMDB_ASSIGN_OR_RETURN(uint64_t sequence, ParseSequenceNumber(request.sequence_number));
    if (sequence < begin || sequence > end) {
      return ValidationError("SEM-104", absl::StrCat("Invalid SequenceNumber: ", request.sequence_number,
                                                     " is not in the shard ", request.shard_id));
    }
    if (sequence < engine.trim_horizon().oldest())
      return ChangesTrimmedError(sequence, engine.trim_horizon().oldest());
    position.after_sequence = request.type == ShardIteratorType::kAtSequenceNumber ? sequence - 1 : sequence;
  } else if (request.type == ShardIteratorType::kTrimHorizon) {
    position.after_sequence = begin;
    position.trim_horizon = true;
  } else {
    position.after_sequence = std::clamp(log.last_sequence, begin, end);
  }
  return EncodeShardIterator(position, engine.database_id());
}

StreamEvent EventOf(const ChangeView& change, std::string_view database_id) {
  StreamEvent event;
  event.event_id = EventIdOf(database_id, change.change_sequence);
  event.sequence_number = SequenceNumberOf(change.change_sequence);
  event.kind = change.kind;
  event.expired = change.expired;
  event.commit_time_us = change.commit_time_us;
  event.key = change.key;
  event.size_bytes = static_cast<int64_t>(ItemSizeBytes(ItemView(change.key)));
  for (const auto& [image, copy] :
       {std::pair(change.old_image, &event.old_image), std::pair(change.new_image, &event.new_image)}) {
    if (!image.has_value()) continue;
    copy->emplace(*image);
    event.size_bytes += static_cast<int64_t>(ItemSizeBytes(ItemView(*image)));
  }
  return event;
}

bool IsItemChange(const ChangeView& change) {
  return change.kind == v1::CHANGE_KIND_INSERT || change.kind == v1::CHANGE_KIND_MODIFY ||
         change.kind == v1::CHANGE_KIND_REMOVE;
}

absl::StatusOr<GetRecordsReply> ReadRecords(const Engine& engine, const DurablePrefix& log,
                                            ShardPosition position, int64_t limit) {
  ITEMDB_ASSIGN_OR_RETURN(v1::Stream stream,
                          StreamOf(*log.view, {position.table_name, position.stream_label}));
  const uint64_t oldest = engine.trim_horizon().oldest();
  if (position.trim_horizon) position.after_sequence = std::max(position.after_sequence, oldest - 1);
  const bool closed = stream.disabled_sequence() != 0;
  // The last change that may belong to the shard.
  const uint64_t last = closed ? std::min(stream.disabled_sequence(), log.last_sequence) : log.last_sequence;

  GetRecordsReply reply;
  reply.view_type = stream.stream_view_type();
  size_t bytes = 0;
  bool full = false;
  uint64_t through = position.after_sequence;
  const absl::Status walked =
      WalkTableChanges(engine, *log.view, stream.table_storage_id(), position.after_sequence, last,
                       [&](const ChangeView& change, std::string_view record) {
                         if (IsItemChange(change)) {
                           full = static_cast<int64_t>(reply.events.size()) >= limit ||
                                  (!reply.events.empty() && bytes + record.size() > kMaxPageBytes);
                           if (full) return false;
                           bytes += record.size();
                           reply.events.push_back(EventOf(change, engine.database_id()));
                         }
                         through = change.change_sequence;
                         return true;
                       });
  // The page ends before a change that cannot be read. The next page meets it first, and fails.
  const bool ends_at_damage = absl::IsDataLoss(walked) && through > position.after_sequence;
  if (!walked.ok() && !ends_at_damage) return walked;
  full = full || ends_at_damage;
  // When the page is not full, all further changes up to `last` belong to other tables.
  if (!full) through = std::max(through, last);
  if (closed && through >= stream.disabled_sequence()) return reply;
  position.trim_horizon = position.trim_horizon && through == position.after_sequence;
  position.after_sequence = through;
  position.made_ms = NowMillis();
  reply.next_shard_iterator = EncodeShardIterator(position, engine.database_id());
  return reply;
}

}  // namespace

void ListStreams(Engine& engine, const ListStreamsRequest& request, Done<ListStreamsReply> done) {
  RunOnIoThread(
      engine, IoPriority::kPoint, [&engine, request] { return List(engine, request); }, std::move(done));
}

void DescribeStream(Engine& engine, const DescribeStreamRequest& request, Done<DescribeStreamReply> done) {
  RunOnIoThread(
      engine, IoPriority::kPoint, [&engine, request] { return Describe(engine, request); }, std::move(done));
}

void GetShardIterator(Engine& engine, const ShardIteratorRequest& request, Done<std::string> done) {
  RunOnIoThread(
      engine, IoPriority::kPoint, [&engine, request] { return MakeShardIterator(engine, request); },
      std::move(done));
}

void GetRecords(Engine& engine, const GetRecordsRequest& request, Done<GetRecordsReply> done,
                CancellationPtr cancellation) {
  auto limit = LimitOf(request.limit, kMaxReadChanges, "SEM-105");
  if (!limit.ok()) return std::move(done)(limit.status());
  auto position = DecodeShardIterator(request.shard_iterator, engine.database_id(), NowMillis());
  if (!position.ok()) return std::move(done)(position.status());
  auto log = ReadDurablePrefix(engine);
  if (!log.ok()) return std::move(done)(log.status());
  RunOnIoThread<GetRecordsReply>(
      engine, IoPriority::kLong,
      [&engine, log = *std::move(log), position = *std::move(position), limit = *limit,
       cancellation = std::move(cancellation)]() -> absl::StatusOr<GetRecordsReply> {
        ITEMDB_RETURN_IF_ERROR(CheckNotCancelled(cancellation));
        return ReadRecords(engine, log, position, limit);
      },
      std::move(done));
}

}  // namespace itemdb::storage
