#include "tools/moving/move_state.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "common/status_macros.h"
#include "tools/json/item_json.h"

namespace itemdb::tools {
namespace {

constexpr std::string_view kStepNames[] = {"COPYING", "FOLLOWING",  "FENCED", "SWITCHED",
                                           "DONE",    "GOING_BACK", "BACK"};

absl::Status NotAState(std::string_view what) {
  return absl::DataLossError("the state of the move has no valid " + std::string(what));
}

absl::StatusOr<std::string> TextOf(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.FindOrNull(name);
  if (value == nullptr || value->kind != JsonValue::Kind::kString) return NotAState(name);
  return value->text;
}

absl::StatusOr<uint64_t> NumberIn(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.FindOrNull(name);
  uint64_t number = 0;
  if (value == nullptr || value->kind != JsonValue::Kind::kNumber || !absl::SimpleAtoi(value->text, &number))
    return NotAState(name);
  return number;
}

// 0: not begun, 1: done, else the last copied key.
absl::StatusOr<SegmentState> SegmentFromJson(const JsonValue& json) {
  if (json.kind == JsonValue::Kind::kNumber) return SegmentState{.done = json.text == "1"};
  ITEMDB_ASSIGN_OR_RETURN(Item after, ItemFromJson(json, ReadForm::kTyped, "a position"));
  return SegmentState{.after = std::move(after)};
}

JsonValue StreamToJson(const StreamPlace& stream) {
  JsonValue shards = JsonValue::Object();
  for (const auto& [id, shard] : stream.shards)
    shards.Add(id, JsonValue::Object().Add("after", shard.sequence_number).Add("done", shard.is_done));
  return JsonValue::Object().Add("arn", stream.arn).Add("shards", std::move(shards));
}

absl::StatusOr<StreamPlace> StreamFromJson(const JsonValue& json) {
  StreamPlace stream;
  ITEMDB_ASSIGN_OR_RETURN(stream.arn, TextOf(json, "arn"));
  const JsonValue* shards = json.FindOrNull("shards");
  if (shards == nullptr || shards->kind != JsonValue::Kind::kObject) return NotAState("shards");
  for (const auto& [id, shard] : shards->members) {
    StreamPlace::Shard& read = stream.shards[id];
    ITEMDB_ASSIGN_OR_RETURN(read.sequence_number, TextOf(shard, "after"));
    const JsonValue* done = shard.FindOrNull("done");
    if (done == nullptr || done->kind != JsonValue::Kind::kBool) return NotAState("done");
    read.is_done = done->boolean;
  }
  return stream;
}

absl::StatusOr<MovedTable> TableFromJson(const JsonValue& json) {
  MovedTable table;
  ITEMDB_ASSIGN_OR_RETURN(table.name, TextOf(json, "name"));
  ITEMDB_ASSIGN_OR_RETURN(table.table_id, TextOf(json, "table_id"));
  ITEMDB_ASSIGN_OR_RETURN(table.storage_id, NumberIn(json, "storage_id"));
  const JsonValue* segments = json.FindOrNull("segments");
  if (segments == nullptr || segments->kind != JsonValue::Kind::kArray) return NotAState("segments");
  for (const JsonValue& segment : segments->elements) {
    ITEMDB_ASSIGN_OR_RETURN(SegmentState read, SegmentFromJson(segment));
    table.segments.push_back(std::move(read));
  }
  if (json.FindOrNull("export") != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(table.export_arn, TextOf(json, "export"));
  }
  // Only of a stream that was read.
  if (const JsonValue* stream = json.FindOrNull("stream"); stream != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(table.stream, StreamFromJson(*stream));
  }
  return table;
}

}  // namespace

std::string_view StepName(MoveStep step) { return kStepNames[static_cast<int>(step)]; }

JsonValue MoveStateToJson(const MoveState& state) {
  JsonValue tables = JsonValue::Array();
  for (const MovedTable& table : state.tables) {
    JsonValue segments = JsonValue::Array();
    for (const SegmentState& segment : table.segments) {
      segments.elements.push_back(segment.done || !segment.after.has_value()
                                      ? JsonValue::Number(segment.done ? 1 : 0)
                                      : ItemToJson(*segment.after, ItemForm::kTyped));
    }
    JsonValue& added = tables.elements.emplace_back(JsonValue::Object()
                                                        .Add("name", table.name)
                                                        .Add("table_id", table.table_id)
                                                        .Add("storage_id", table.storage_id)
                                                        .Add("segments", std::move(segments)));
    if (!table.export_arn.empty()) added.Add("export", table.export_arn);
    if (!table.stream.arn.empty()) added.Add("stream", StreamToJson(table.stream));
  }
  return JsonValue::Object()
      .Add("format", 1)
      .Add("move_id", state.move_id)
      .Add("source", state.source)
      .Add("source_endpoint", state.source_endpoint)
      .Add("target_endpoint", state.target_endpoint)
      .Add("step", StepName(state.step))
      .Add("run", state.run)
      .Add("revision", state.revision)
      .Add("sequence", state.sequence)
      .Add("sequence_time", state.sequence_time_us)
      .Add("tables", std::move(tables));
}

absl::StatusOr<MoveState> ParseMoveState(std::string_view text) {
  absl::StatusOr<JsonValue> json = ParseJson(text);
  if (!json.ok()) return absl::DataLossError("the state of the move is not JSON");
  ITEMDB_ASSIGN_OR_RETURN(const uint64_t format, NumberIn(*json, "format"));
  if (format != 1)
    return absl::DataLossError("the state of the move has format " + std::to_string(format) +
                               "; this itemctl knows format 1");
  MoveState state;
  ITEMDB_ASSIGN_OR_RETURN(state.move_id, TextOf(*json, "move_id"));
  ITEMDB_ASSIGN_OR_RETURN(state.source, TextOf(*json, "source"));
  ITEMDB_ASSIGN_OR_RETURN(state.source_endpoint, TextOf(*json, "source_endpoint"));
  ITEMDB_ASSIGN_OR_RETURN(state.target_endpoint, TextOf(*json, "target_endpoint"));
  ITEMDB_ASSIGN_OR_RETURN(const std::string step, TextOf(*json, "step"));
  const auto* name = std::find(std::begin(kStepNames), std::end(kStepNames), step);
  if (name == std::end(kStepNames)) return NotAState("step");
  state.step = static_cast<MoveStep>(name - std::begin(kStepNames));
  // Earlier versions had neither.
  if (json->FindOrNull("run") != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(state.run, TextOf(*json, "run"));
    ITEMDB_ASSIGN_OR_RETURN(state.revision, NumberIn(*json, "revision"));
  }
  ITEMDB_ASSIGN_OR_RETURN(state.sequence, NumberIn(*json, "sequence"));
  // Earlier versions had none.
  if (json->FindOrNull("sequence_time") != nullptr) {
    ITEMDB_ASSIGN_OR_RETURN(const uint64_t time_us, NumberIn(*json, "sequence_time"));
    state.sequence_time_us = static_cast<int64_t>(time_us);
  }
  const JsonValue* tables = json->FindOrNull("tables");
  if (tables == nullptr || tables->kind != JsonValue::Kind::kArray) return NotAState("tables");
  for (const JsonValue& table : tables->elements) {
    ITEMDB_ASSIGN_OR_RETURN(MovedTable read, TableFromJson(table));
    state.tables.push_back(std::move(read));
  }
  return state;
}

}  // namespace itemdb::tools
