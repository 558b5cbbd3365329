// What requests have in common.
#pragma once

#include "storage/expressions/placeholders.h"

namespace itemdb {

// The placeholders of a request that has both names and values.
template <typename Request>
absl::StatusOr<Placeholders> MakePlaceholders(const Request& request) {
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

}  // namespace itemdb
