// --return-consumed-capacity of the commands that read and write items.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "itemdb/capacity.h"
#include "tools/cli/context.h"
#include "tools/json/json_value.h"

namespace itemdb::tools {

struct CapacityOptions {
  // "NONE", "TOTAL" or "INDEXES"; empty for NONE.
  std::string return_consumed_capacity;
};

void AddCapacityOption(CLI::App* command, CapacityOptions& options);

// As a request takes it.
ReturnConsumedCapacity CapacityOf(const CapacityOptions& options);

// {"CapacityUnits": 2, "Table": 1, "GlobalSecondaryIndexes": {"I": 1}}; the shares where the daemon told
// them.
JsonValue CapacityToJson(const ConsumedCapacity& capacity);

// What the calls of one command consumed together, a sum for each table.
class ConsumedTotal {
 public:
  void Add(const ConsumedCapacity& capacity);
  void Add(const std::optional<ConsumedCapacity>& capacity);
  void Add(const std::vector<ConsumedCapacity>& capacities);

  // One line on stderr, where it does not mix with items: {"ConsumedCapacity": [{"TableName": "T", ...}]}, in
  // the order of the tables' names. Nothing when nothing was told.
  void Print(Context& context) const;

 private:
  std::map<std::string, ConsumedCapacity> by_table_;
};

}  // namespace itemdb::tools
