#include "tools/cli/consumed_capacity.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "tools/cli/option_validators.h"

namespace itemdb::tools {
namespace {

JsonValue Units(double units) { return JsonValue::Number(absl::StrFormat("%g", units)); }

JsonValue Shares(const std::map<std::string, double>& shares) {
  JsonValue object = JsonValue::Object();
  for (const auto& [name, units] : shares) object.Add(name, Units(units));
  return object;
}

void AddMembers(const JsonValue& from, JsonValue* object) {
  for (const auto& [name, value] : from.members) object->Add(name, value);
}

}  // namespace

void AddCapacityOption(CLI::App* command, CapacityOptions& options) {
  command
      ->add_option(
          "--return-consumed-capacity", options.return_consumed_capacity,
          "Also print to stderr, as JSON, the capacity units that DynamoDB would charge; with INDEXES the "
          "share of each index. Default: NONE")
      ->check(OneOfWords({"NONE", "TOTAL", "INDEXES"}))
      ->type_name("NONE|TOTAL|INDEXES");
}

ReturnConsumedCapacity CapacityOf(const CapacityOptions& options) {
  if (options.return_consumed_capacity == "TOTAL") return ReturnConsumedCapacity::kTotal;
  if (options.return_consumed_capacity == "INDEXES") return ReturnConsumedCapacity::kIndexes;
  return ReturnConsumedCapacity::kNone;
}

JsonValue CapacityToJson(const ConsumedCapacity& capacity) {
  JsonValue object = JsonValue::Object().Add("CapacityUnits", Units(capacity.capacity_units));
  if (capacity.table_units.has_value()) object.Add("Table", Units(*capacity.table_units));
  if (!capacity.global_secondary_indexes.empty())
    object.Add("GlobalSecondaryIndexes", Shares(capacity.global_secondary_indexes));
  if (!capacity.local_secondary_indexes.empty())
    object.Add("LocalSecondaryIndexes", Shares(capacity.local_secondary_indexes));
  return object;
}

void ConsumedTotal::Add(const ConsumedCapacity& capacity) {
  ConsumedCapacity& total = by_table_[capacity.table_name];
  total.capacity_units += capacity.capacity_units;
  if (capacity.table_units.has_value())
    total.table_units = total.table_units.value_or(0) + *capacity.table_units;
  for (const auto& [name, units] : capacity.global_secondary_indexes)
    total.global_secondary_indexes[name] += units;
  for (const auto& [name, units] : capacity.local_secondary_indexes)
    total.local_secondary_indexes[name] += units;
}

void ConsumedTotal::Add(const std::optional<ConsumedCapacity>& capacity) {
  if (capacity.has_value()) Add(*capacity);
}

void ConsumedTotal::Add(const std::vector<ConsumedCapacity>& capacities) {
  for (const ConsumedCapacity& capacity : capacities) Add(capacity);
}

void ConsumedTotal::Print(Context& context) const {
  if (by_table_.empty()) return;
  JsonValue tables = JsonValue::Array();
  for (const auto& [name, capacity] : by_table_) {
    JsonValue table = JsonValue::Object().Add("TableName", name);
    AddMembers(CapacityToJson(capacity), &table);
    tables.elements.push_back(std::move(table));
  }
  context.err() << OneLine(JsonValue::Object().Add("ConsumedCapacity", std::move(tables))) << '\n';
}

}  // namespace itemdb::tools
