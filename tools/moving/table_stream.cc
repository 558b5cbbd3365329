#include "tools/moving/table_stream.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/status_macros.h"
#include "itemdb/errors.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

// DynamoDB allows five reads of a shard in a second.
constexpr absl::Duration kReadInterval = absl::Milliseconds(200);
// The most that GetRecords answers with.
constexpr size_t kRecordsOfPage = 1'000;
// After so many changes what was read is applied first.
constexpr int64_t kMostChangesOfRead = 20'000;
// Shards that are split show up as children when their parent ends; others may be made at any time.
constexpr absl::Duration kListInterval = absl::Seconds(60);
constexpr char kExpiredIterator[] = "EXPIRED_ITERATOR";

std::string TextIn(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.FindOrNull(name);
  return value != nullptr && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

const std::vector<JsonValue>& ElementsOf(const JsonValue& object, std::string_view name) {
  static const auto* const none = new std::vector<JsonValue>;
  const JsonValue* value = object.FindOrNull(name);
  return value != nullptr && value->kind == JsonValue::Kind::kArray ? value->elements : *none;
}

// ApproximateCreationDateTime: seconds, which DynamoDB rounds down, and DynamoDB Local to minutes.
absl::Time CreationTimeOf(const JsonValue& record) {
  const JsonValue* value = record.FindOrNull("ApproximateCreationDateTime");
  double seconds = 0;
  if (value == nullptr || !absl::SimpleAtod(value->text, &seconds)) return absl::Now();
  return absl::FromUnixSeconds(0) + absl::Seconds(std::floor(seconds));
}

// The newest stream of the table; empty: it never had one.
absl::StatusOr<std::string> FindStreamArn(const Side& side, const std::string& table_name) {
  std::string label, arn, after;
  do {
    JsonValue request = JsonValue::Object().Add("TableName", table_name);
    if (!after.empty()) request.Add("ExclusiveStartStreamArn", after);
    ITEMDB_ASSIGN_OR_RETURN(const JsonValue reply, side.CallStreams("ListStreams", request));
    for (const JsonValue& stream : ElementsOf(reply, "Streams")) {
      if (TextIn(stream, "TableName") != table_name || TextIn(stream, "StreamLabel") <= label) continue;
      label = TextIn(stream, "StreamLabel");
      arn = TextIn(stream, "StreamArn");
    }
    after = TextIn(reply, "LastEvaluatedStreamArn");
  } while (!after.empty());
  return arn;
}

}  // namespace

absl::StatusOr<bool> HasStream(const Side& side, const std::string& table_name) {
  ITEMDB_ASSIGN_OR_RETURN(const auto table, side.FindTable(table_name));
  return table.has_value() && table->definition.stream_enabled;
}

std::string StreamsEndpointOf(const std::string& endpoint) {
  constexpr std::string_view kBegin = "https://dynamodb.";
  if (!endpoint.starts_with(kBegin) || endpoint.find(".amazonaws.com") == std::string::npos) return endpoint;
  return "https://streams.dynamodb." + endpoint.substr(kBegin.size());
}

absl::Status TableStream::Open() {
  ITEMDB_ASSIGN_OR_RETURN(const std::string arn, FindStreamArn(side_, table_name_));
  if (!place_.arn.empty() && place_.arn != arn)
    return absl::OutOfRangeError("table " + table_name_ + " of " + side_.name() +
                                 " has another stream than when it was last read: somebody turned it off, so "
                                 "changes may be missing in both");
  place_.arn = arn;
  if (!arn.empty()) ITEMDB_RETURN_IF_ERROR(ReadShards());
  if (arn.empty() || !is_on_)
    return absl::FailedPreconditionError("table " + table_name_ + " of " + side_.name() +
                                         " has no stream: give --enable-streams");
  return absl::OkStatus();
}

absl::Status TableStream::ReadShards() {
  std::vector<Shard> listed;
  std::string after;
  do {
    JsonValue request = JsonValue::Object().Add("StreamArn", place_.arn);
    if (!after.empty()) request.Add("ExclusiveStartShardId", after);
    ITEMDB_ASSIGN_OR_RETURN(const JsonValue reply, side_.CallStreams("DescribeStream", request));
    const JsonValue* stream = reply.FindOrNull("StreamDescription");
    if (stream == nullptr)
      return absl::DataLossError(side_.name() + " describes a stream without saying how");
    const std::string status = TextIn(*stream, "StreamStatus");
    is_on_ = status == "ENABLED" || status == "ENABLING";
    for (const JsonValue& shard : ElementsOf(*stream, "Shards"))
      listed.push_back({.id = TextIn(shard, "ShardId"), .parent = TextIn(shard, "ParentShardId")});
    after = TextIn(*stream, "LastEvaluatedShardId");
  } while (!after.empty());
  std::set<std::string> ids;
  for (const Shard& shard : listed) ids.insert(shard.id);
  const auto is_listed = [&](const std::string& id) { return ids.contains(id); };
  // What they had left is lost.
  for (const Shard& shard : shards_) {
    if (!IsDone(shard.id) && !is_listed(shard.id)) return Trimmed(shard.id);
  }
  for (const auto& [id, place] : place_.shards) {
    if (!place.is_done && !is_listed(id)) return Trimmed(id);
  }
  // Shards whose records are trimmed are listed no more.
  std::erase_if(place_.shards, [&](const auto& one) { return !is_listed(one.first); });
  std::map<std::string, Shard*> known;
  for (Shard& shard : shards_) known[shard.id] = &shard;
  for (Shard& shard : listed) {
    const auto found = known.find(shard.id);
    if (found == known.end()) continue;
    shard.iterator = std::move(found->second->iterator);
    shard.read_time = found->second->read_time;
  }
  shards_ = std::move(listed);
  ids_ = std::move(ids);
  listed_ = absl::Now();
  return absl::OkStatus();
}

bool TableStream::IsDone(const std::string& shard_id) const {
  const auto found = place_.shards.find(shard_id);
  return found != place_.shards.end() && found->second.is_done;
}

bool TableStream::IsReady(const Shard& shard) const {
  if (IsDone(shard.id)) return false;
  // A parent that is not listed any more was trimmed.
  return IsDone(shard.parent) || !ids_.contains(shard.parent);
}

absl::Status TableStream::Trimmed(const std::string& shard_id) const {
  const auto found = place_.shards.find(shard_id);
  return absl::OutOfRangeError(absl::StrCat(
      "the stream of table ", table_name_, " of ", side_.name(), " does not keep the changes ",
      found == place_.shards.end() ? "that it was to be read from" : "after " + found->second.sequence_number,
      " of shard ", shard_id, " any more (TrimmedDataAccessException): they are older than 24 hours"));
}

absl::Status TableStream::FindIterator(Shard* shard) const {
  JsonValue request = JsonValue::Object().Add("StreamArn", place_.arn).Add("ShardId", shard->id);
  const auto found = place_.shards.find(shard->id);
  if (found == place_.shards.end()) {
    request.Add("ShardIteratorType", "TRIM_HORIZON");
  } else {
    request.Add("ShardIteratorType", "AFTER_SEQUENCE_NUMBER")
        .Add("SequenceNumber", found->second.sequence_number);
  }
  const absl::StatusOr<JsonValue> reply = side_.CallStreams("GetShardIterator", request);
  // A shard that is not there any more went with its records.
  if (absl::IsOutOfRange(reply.status()) || absl::IsNotFound(reply.status())) return Trimmed(shard->id);
  ITEMDB_RETURN_IF_ERROR(reply.status());
  shard->iterator = TextIn(*reply, "ShardIterator");
  if (shard->iterator.empty())
    return absl::DataLossError(side_.name() + " gives no iterator for shard " + shard->id);
  return absl::OkStatus();
}

absl::StatusOr<JsonValue> TableStream::ReadPage(Shard* shard) const {
  for (bool again = true;; again = false) {
    if (shard->iterator.empty()) ITEMDB_RETURN_IF_ERROR(FindIterator(shard));
    absl::SleepFor(shard->read_time + kReadInterval - absl::Now());
    shard->read_time = absl::Now();
    absl::StatusOr<JsonValue> page =
        side_.CallStreams("GetRecords", JsonValue::Object()
                                            .Add("ShardIterator", shard->iterator)
                                            .Add("Limit", static_cast<int64_t>(kRecordsOfPage)));
    if (page.ok()) return page;
    // An iterator lives for 15 minutes; the place does not end.
    shard->iterator.clear();
    if (ReasonOf(page.status()) == kExpiredIterator && again) continue;
    // A shard that is not there any more went with its records.
    if (absl::IsOutOfRange(page.status()) || absl::IsNotFound(page.status())) return Trimmed(shard->id);
    return page.status();
  }
}

absl::StatusOr<bool> TableStream::ReadShard(Shard* shard, ChangedBatch* batch) {
  ITEMDB_ASSIGN_OR_RETURN(const JsonValue page, ReadPage(shard));
  const std::vector<JsonValue>& records = ElementsOf(page, "Records");
  for (const JsonValue& one : records) {
    const JsonValue* record = one.FindOrNull("dynamodb");
    const JsonValue* keys = record == nullptr ? nullptr : record->FindOrNull("Keys");
    if (keys == nullptr) return absl::DataLossError(side_.name() + " sends a change without keys");
    ITEMDB_ASSIGN_OR_RETURN(Item key, ItemFromJson(*keys, ReadForm::kTyped, "the key of a change"));
    ++batch->changes;
    batch->oldest = std::min(batch->oldest, CreationTimeOf(*record));
    const Digest digest = DigestOf(key);
    batch->keys[table_name_].emplace(digest, std::move(key));
    place_.shards[shard->id].sequence_number = TextIn(*record, "SequenceNumber");
  }
  shard->iterator = TextIn(page, "NextShardIterator");
  if (shard->iterator.empty()) {
    place_.shards[shard->id].is_done = true;
    return true;
  }
  return records.size() < kRecordsOfPage;
}

absl::StatusOr<bool> TableStream::Read(ChangedBatch* batch) {
  if (absl::Now() - listed_ > kListInterval) ITEMDB_RETURN_IF_ERROR(ReadShards());
  bool is_read = true;
  const int64_t most_changes = batch->changes + kMostChangesOfRead;
  // Children follow their parent in the same call, unless there is much to apply.
  for (bool has_ended = true; has_ended;) {
    has_ended = false;
    for (Shard& shard : shards_) {
      if (!IsReady(shard)) continue;
      ITEMDB_ASSIGN_OR_RETURN(const bool is_shard_read, ReadShard(&shard, batch));
      is_read = is_read && is_shard_read;
      has_ended = has_ended || IsDone(shard.id);
    }
    if (!has_ended) break;
    ITEMDB_RETURN_IF_ERROR(ReadShards());
    const bool is_over =
        std::all_of(shards_.begin(), shards_.end(), [&](const Shard& shard) { return IsDone(shard.id); });
    if (is_over && !is_on_)
      return absl::FailedPreconditionError("the stream of table " + table_name_ + " of " + side_.name() +
                                           " was turned off: changes from then on are not in it. Run the "
                                           "same command again with --enable-streams");
    if (batch->changes > most_changes) return false;
  }
  return is_read;
}

}  // namespace itemdb::tools
