#include "tools/model/table_differences.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/json/table_json.h"
#include "tools/model/table_text.h"

namespace itemdb::tools {
namespace {

constexpr char kNone[] = "none";

std::string SettingText(const Projection& projection) {
  Projection sorted = projection;
  std::sort(sorted.non_key_attributes.begin(), sorted.non_key_attributes.end());
  return ProjectionText(sorted);
}

std::string SettingText(const std::optional<ProvisionedThroughput>& throughput) {
  if (!throughput.has_value()) return kNone;
  return absl::StrFormat("%d read, %d write units", throughput->read_capacity_units,
                         throughput->write_capacity_units);
}

std::string StreamText(const TableDefinition& table) {
  if (table.stream_enabled) return std::string(NameOf(table.stream_view_type));
  if (table.stream_view_type == StreamViewType::kKeysOnly) return kNone;
  return absl::StrCat(kNone, ", changes with ", std::string(NameOf(table.stream_view_type)));
}

template <typename Index>
const Index* Find(const std::vector<Index>& indexes, const std::string& name) {
  for (const Index& index : indexes) {
    if (index.index_name == name) return &index;
  }
  return nullptr;
}

class Comparison {
 public:
  Comparison(const TableDefinition& model, const TableDefinition& live) : model_(model), live_(live) {}

  void Add(const std::string& what, const std::string& model, const std::string& live) {
    if (model != live) differences_.push_back({.what = what, .model = model, .live = live});
  }

  void AddKey() {
    Add("key schema", KeySchemaText(model_.key_schema, model_), KeySchemaText(live_.key_schema, live_));
    if (!differences_.empty()) differences_.back().of_key = true;
  }

  // `kind` is "index" or "local index".
  template <typename Index>
  void AddIndexes(const std::string& kind, const std::vector<Index>& model, const std::vector<Index>& live) {
    for (const Index& index : model) {
      const std::string what = absl::StrCat(kind, " ", index.index_name);
      const Index* there = Find(live, index.index_name);
      if (there == nullptr) {
        differences_.push_back(
            {.what = what, .model = KeySchemaText(index.key_schema, model_), .live = kNone});
        if constexpr (requires { index.provisioned_throughput; }) differences_.back().missing_index = index;
        continue;
      }
      Add(what, KeySchemaText(index.key_schema, model_), KeySchemaText(there->key_schema, live_));
      Add("projection of " + what, SettingText(index.projection), SettingText(there->projection));
      if constexpr (requires { index.provisioned_throughput; }) {
        Add("throughput of " + what, SettingText(index.provisioned_throughput),
            SettingText(there->provisioned_throughput));
      }
    }
    for (const Index& index : live) {
      if (Find(model, index.index_name) != nullptr) continue;
      Add(absl::StrCat(kind, " ", index.index_name), kNone, KeySchemaText(index.key_schema, live_));
    }
  }

  // Applies to the difference that was added last.
  void GoesWithCreationOf(const std::string& index_name) {
    differences_.back().index_in_creation = index_name;
  }

  std::vector<TableDifference> Take() { return std::move(differences_); }

 private:
  const TableDefinition& model_;
  const TableDefinition& live_;
  std::vector<TableDifference> differences_;
};

}  // namespace

std::vector<TableDifference> DifferencesOf(const TableDefinition& model, const TableDescription& live) {
  const TableDefinition& table = live.definition;
  Comparison comparison(model, table);
  comparison.AddKey();
  comparison.AddIndexes("index", model.global_secondary_indexes, table.global_secondary_indexes);
  comparison.AddIndexes("local index", model.local_secondary_indexes, table.local_secondary_indexes);
  for (const IndexDescription& index : live.indexes) {
    if (index.index_status == TableStatus::kActive) continue;
    comparison.Add("status of index " + index.definition.index_name,
                   std::string(NameOf(TableStatus::kActive)), std::string(NameOf(index.index_status)));
    if (index.index_status == TableStatus::kCreating)
      comparison.GoesWithCreationOf(index.definition.index_name);
  }
  comparison.Add("billing mode", std::string(NameOf(model.billing_mode)),
                 std::string(NameOf(table.billing_mode)));
  comparison.Add("throughput", SettingText(model.provisioned_throughput),
                 SettingText(table.provisioned_throughput));
  comparison.Add("stream", StreamText(model), StreamText(table));
  return comparison.Take();
}

}  // namespace itemdb::tools
