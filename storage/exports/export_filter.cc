#include "storage/exports/export_filter.h"

#include <utility>
#include <vector>

#include "storage/expressions/placeholders.h"

namespace itemdb::storage {

absl::StatusOr<ExportFilter> ExportFilter::Compile(const v1::FilterSpecification& specification) {
  const std::string& key_condition = specification.key_condition_expression();
  const std::string& filter = specification.filter_expression();
  const std::string& projection = specification.projection_expression();
  if (key_condition.empty() && filter.empty() && projection.empty()) {
    return ValidationError(
        "XPT-16", "Invalid Request: Invalid FilterSpecification: The specification can not be empty");
  }
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, attribute] : specification.expression_attribute_names())
    names.emplace_back(name, attribute);
  std::vector<std::pair<std::string, std::string>> values;
  for (const auto& [name, value] : specification.expression_attribute_values())
    values.emplace_back(name, value.SerializeAsString());
  ITEMDB_ASSIGN_OR_RETURN(Placeholders placeholders, Placeholders::Make(std::move(names), std::move(values)));
  ExportFilter compiled;
  if (!key_condition.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(compiled.key_condition_, KeyCondition::Compile(key_condition, placeholders));
  }
  if (!filter.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(compiled.filter_, Condition::Compile("FilterExpression", filter, placeholders));
  }
  if (!projection.empty()) {
    ITEMDB_ASSIGN_OR_RETURN(compiled.projection_, Projection::Compile(projection, placeholders));
  }
  ITEMDB_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  return compiled;
}

absl::Status ExportFilter::BindTo(const Table& table) {
  if (!key_condition_.has_value()) return absl::OkStatus();
  ITEMDB_ASSIGN_OR_RETURN(KeyConditionRange selected, key_condition_->Select(table.partition, table.sort));
  range_ = std::move(selected.range);
  if (!filter_.has_value()) return absl::OkStatus();
  for (const std::string& name : filter_->TopLevelAttributes()) {
    if (table.IsKeyAttribute(name)) {
      return ValidationError(
          "XPT-16",
          "Filter Expression can only contain non-primary key attributes: Primary key attribute: " + name);
    }
  }
  return absl::OkStatus();
}

bool ExportFilter::Selects(std::string_view key, ItemView item) const {
  if (key < range_.lower || (!range_.upper.empty() && key >= range_.upper)) return false;
  return !filter_.has_value() || filter_->Evaluate(item);
}

std::string ExportFilter::Project(std::string_view item) const {
  if (!projection_.has_value()) return std::string(item);
  std::string projected;
  projection_->Apply(ItemView(item), &projected);
  return projected;
}

}  // namespace itemdb::storage
