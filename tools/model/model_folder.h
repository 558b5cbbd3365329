// A model folder: tables, items and access patterns as files. docs/model_folder.md describes them for users.
//
//   NAME.table.json    a CreateTable request for the table NAME
//   NAME.ttl.json      the UpdateTimeToLive request that turns its time to live on
//   NAME.items.jsonl   its items, one line of DynamoDB JSON each
//   patterns.json      the access patterns: requests, their parameters, and the expected answer
//
// Other files are ignored. All errors are UsageErrors (tools/base/exit_codes.h) that name the file and the
// line or pattern in it.
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
  // The line number in the items file, from 1.
  int64_t line = 0;
};

struct ModelTable {
  TableDefinition definition;
  // The attribute with the time at which an item expires; empty: the table has no time to live.
  std::string time_to_live = {};
  std::vector<ModelItem> items = {};
};

// One request of a pattern as written in the file: parameters are not replaced by values yet
// (model_parameters.h).
struct ModelRequest {
  // An operation that CallFromJson accepts: "Query", "GetItem", ...
  std::string operation;
  JsonValue request;
};

// Values by name, such as ":customer"; empty for a parameter that needs a value from --set.
using ModelParameters = std::map<std::string, std::optional<JsonValue>>;

struct ModelPattern {
  std::string name;
  std::string title = {};
  // The pattern's number in a list of requirements, if it has one.
  std::optional<int64_t> number = std::nullopt;
  ModelParameters parameters = {};
  std::vector<ModelRequest> requests = {};
  // The expected items of all requests in order; empty optional: no answer is given.
  std::optional<std::vector<Item>> items = std::nullopt;
  bool any_order = false;
};

struct ModelFolder {
  std::string directory;
  // Sorted by name.
  std::vector<ModelTable> tables;
  // In the order of the file; empty if there is no patterns.json.
  std::vector<ModelPattern> patterns;

  std::string PathOf(std::string_view file) const;
  // Null if the folder has no table of this name.
  const ModelTable* FindTable(std::string_view table_name) const;
};

// Reads the whole folder. Reports all errors that can be found without a daemon: malformed files, key
// attributes that are not defined, items without a table or without a key attribute, and patterns with a
// malformed request, with a table that the folder does not have, or with a parameter that no request uses.
absl::StatusOr<ModelFolder> ReadModelFolder(Context& context, const std::string& directory);

// Writes `folder` into its directory. Creates the directory if it does not exist; otherwise it must be empty.
absl::Status WriteModelFolder(const ModelFolder& folder);

}  // namespace itemdb::tools
