// A model folder: tables, items and access patterns as files. docs/model_folder.md describes them for users.
//
//   NAME.table.json    a CreateTable request for the table NAME
//   NAME.ttl.json      the UpdateTimeToLive request that turns its time to live on
//   NAME.items.jsonl   its items, one line of DynamoDB JSON each
//   patterns.json      the access patterns: requests, their parameters, and the answer they are to have
//
// Other files are nobody's business here. All errors are UsageErrors (tools/base/exit_codes.h) that name the
// file and in it the line or the pattern.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/table.h"
#include "itemdb/value.h"
#include "tools/cli/context.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

inline constexpr char kTableFileEnding[] = ".table.json";
inline constexpr char kTimeToLiveFileEnding[] = ".ttl.json";
inline constexpr char kItemsFileEnding[] = ".items.jsonl";
inline constexpr char kPatternsFile[] = "patterns.json";

struct ModelItem {
  Item item;
  // Where it stands in the items file, from 1.
  int64_t line = 0;
};

struct ModelTable {
  TableDefinition definition;
  // The attribute with the time at which an item is to go; empty: there is none.
  std::string time_to_live = {};
  std::vector<ModelItem> items = {};
};

// One request of a pattern, as it stands in the file: parameters are still names (model_parameters.h).
struct ModelRequest {
  // "Query", "GetItem", ...; one that CallFromJson knows.
  std::string operation;
  JsonValue request;
};

// By name, ":customer"; null where a value is still to be given.
using ModelParameters = std::map<std::string, std::optional<JsonValue>>;

struct ModelPattern {
  std::string name;
  std::string title = {};
  // Its number in a list of requirements; nothing where it has none.
  std::optional<int64_t> number = std::nullopt;
  ModelParameters parameters = {};
  std::vector<ModelRequest> requests = {};
  // What the requests find, one after another; nothing when no answer is given.
  std::optional<std::vector<Item>> items = std::nullopt;
  bool any_order = false;
};

struct ModelFolder {
  std::string directory;
  // By name.
  std::vector<ModelTable> tables;
  // In the order of the file; empty without one.
  std::vector<ModelPattern> patterns;

  std::string PathOf(std::string_view file) const;
  // Null when the folder has none of that name.
  const ModelTable* FindTable(std::string_view table_name) const;
};

// Reads the whole folder and all that can be known to be wrong without a daemon: malformed files, keys that
// are not defined, items without a table or its key, patterns with requests that no operation takes, of
// tables that the folder does not have, or with parameters that no request uses.
absl::StatusOr<ModelFolder> ReadModelFolder(Context& context, const std::string& directory);

// Writes `folder` into its directory, which is made where it is missing and must be empty otherwise.
absl::Status WriteModelFolder(const ModelFolder& folder);

}  // namespace itemdb::tools
