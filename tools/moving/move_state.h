// What a move has done, as text: a file of the mover and an item of the target hold it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "itemdb/value.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

// In the order in which a move takes them. The text form is stored: never rename one.
enum class MoveStep {
  // The tables are made in the target; items are copied.
  kCopying,
  // All items are copied; changes are applied.
  kFollowing,
  // Writers are stopped. Whether they are, and whether they are sent to the target, the fences of the source
  // tell, not what is stored.
  kFenced,
  // Writers are sent to the target.
  kSwitched,
  // Its tables have all settings.
  kDone,
  // The tables are brought back from the target.
  kGoingBack,
  // The source has all that the target has; writers are sent back to it.
  kBack,
};
std::string_view StepName(MoveStep step);

// How far a segment of a table's parallel scan is copied.
struct SegmentState {
  bool done = false;
  // The last copied key; empty: none.
  std::optional<Item> after = std::nullopt;
};

// How far the DynamoDB Stream of a table was read, and its changes applied to the other side.
struct StreamPlace {
  struct Shard {
    // Of the last record that was read; empty if it had none.
    std::string sequence_number = {};
    // It has ended, and all of it was read.
    bool is_done = false;
  };
  // Empty: the stream was not read.
  std::string arn = {};
  // By shard id. A shard that is missing was not begun.
  std::map<std::string, Shard> shards = {};
};

struct MovedTable {
  std::string name;
  // Of the source when the move began: another table of the name is not this one.
  std::string table_id;
  uint64_t storage_id = 0;
  std::vector<SegmentState> segments = {};
  // The export that the items are copied from, whose data files are the segments (full_export.h). Empty: the
  // source is scanned.
  std::string export_arn = {};
  // Of the source whose table is taken over or, after a switch, of the target.
  StreamPlace stream = {};
};

struct MoveState {
  // Random; the file and the item of one move have the same.
  std::string move_id;
  // Which database the source is: its id, or the endpoint if it does not tell one.
  std::string source;
  std::string source_endpoint;
  std::string target_endpoint;
  MoveStep step = MoveStep::kCopying;
  // The run that goes on with the move: the SHA-256 of its pass (Move), so that the fences tell it too.
  std::string run = "";
  // Counts how often the state was stored: a late repetition of an older one must not replace it.
  uint64_t revision = 0;
  // Every change of the source up to this one is in the target, once all segments are copied.
  uint64_t sequence = 0;
  // When the change of that number was committed, in microseconds since the Unix epoch; 0: not known. A
  // source that was restored to an earlier time, and was written to since, has another change of the number.
  int64_t sequence_time_us = 0;
  std::vector<MovedTable> tables = {};
};

JsonValue MoveStateToJson(const MoveState& state);
// DATA_LOSS: `text` is not such a state.
absl::StatusOr<MoveState> ParseMoveState(std::string_view text);

}  // namespace itemdb::tools
