// Reads the parameters that several requests share.
#pragma once

#include <optional>

#include "storage/expressions/legacy.h"
#include "storage/expressions/placeholders.h"
#include "storage/expressions/projection.h"

namespace itemdb::storage {

// Checks that a map of names or values comes with an expression and is not empty (SEM-026). In a message an
// empty map is no map; the HTTP endpoint, where a request can have one, sends it as one entry whose name and
// value are empty.
template <typename Entries>
absl::Status CheckPlaceholderMap(const std::string& map, const Entries& entries, bool has_expression) {
  if (entries.empty()) return absl::OkStatus();
  if (!has_expression)
    return ValidationError("SEM-026", map + " can only be specified when using expressions");
  if (entries.size() == 1 && entries.Get(0).name().empty() && entries.Get(0).value().empty())
    return ValidationError("SEM-026", map + " must not be empty");
  return absl::OkStatus();
}

// Returns the placeholders of a request: its names, and its values if it can have values. `has_expression`:
// the request has an expression that could use them.
template <typename Request>
absl::StatusOr<Placeholders> MakePlaceholders(const Request& request, bool has_expression) {
  ITEMDB_RETURN_IF_ERROR(
      CheckPlaceholderMap("ExpressionAttributeNames", request.expression_attribute_names(), has_expression));
  if constexpr (requires { request.expression_attribute_values(); }) {
    ITEMDB_RETURN_IF_ERROR(CheckPlaceholderMap("ExpressionAttributeValues",
                                               request.expression_attribute_values(), has_expression));
  }
  std::vector<std::pair<std::string, std::string>> names;
  names.reserve(request.expression_attribute_names_size());
  for (const auto& name : request.expression_attribute_names()) names.emplace_back(name.name(), name.value());
  std::vector<std::pair<std::string, std::string>> values;
  if constexpr (requires { request.expression_attribute_values(); }) {
    values.reserve(request.expression_attribute_values_size());
    for (const auto& value : request.expression_attribute_values())
      values.emplace_back(value.name(), value.value());
  }
  return Placeholders::Make(std::move(names), std::move(values));
}

// Returns the projection of a request, from ProjectionExpression or AttributesToGet, if it has one. Marks the
// placeholders that it uses.
template <typename Request>
absl::StatusOr<std::optional<Projection>> MakeProjection(const Request& request, Placeholders& placeholders) {
  if (!request.projection_expression().empty())
    return Projection::Compile(request.projection_expression(), placeholders);
  if (request.attributes_to_get().empty()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(ValuedTree legacy, AttributesTree(request.attributes_to_get()));
  return Projection::FromTree("ProjectionExpression", std::move(legacy));
}

// The same for requests that have no other expression. Also checks that all names are used (SEM-024) and that
// there are no names without an expression (SEM-026).
template <typename Request>
absl::StatusOr<std::optional<Projection>> MakeOnlyProjection(const Request& request) {
  const bool has_expression = !request.projection_expression().empty();
  ITEMDB_RETURN_IF_ERROR(CheckNotMixed({{"AttributesToGet", !request.attributes_to_get().empty()}},
                                       {{"ProjectionExpression", has_expression}}));
  ITEMDB_ASSIGN_OR_RETURN(Placeholders placeholders, MakePlaceholders(request, has_expression));
  ITEMDB_ASSIGN_OR_RETURN(std::optional<Projection> projection, MakeProjection(request, placeholders));
  ITEMDB_RETURN_IF_ERROR(placeholders.CheckAllUsed());
  return projection;
}

}  // namespace itemdb::storage
