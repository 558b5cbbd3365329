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

// The option as the value for a request.
ReturnConsumedCapacity CapacityOf(const CapacityOptions& options);

// {"CapacityUnits": 2, "Table": 1, "GlobalSecondaryIndexes": {"I": 1}}; the shares of table and indexes only
// if the daemon returned them.
JsonValue CapacityToJson(const ConsumedCapacity& capacity);

// The capacity that all calls of one command consumed, summed for each table.
class ConsumedTotal {
 public:
  void Add(const ConsumedCapacity& capacity);
  void Add(const std::optional<ConsumedCapacity>& capacity);
  void Add(const std::vector<ConsumedCapacity>& capacities);

  // Prints one line to stderr, so that it does not mix with items on stdout: {"ConsumedCapacity":
  // [{"TableName": "T", ...}]}, ordered by table name. Prints nothing if no capacity was added.
  void Print(Context& context) const;

 private:
  std::map<std::string, ConsumedCapacity> by_table_;
};

}  // namespace itemdb::tools
