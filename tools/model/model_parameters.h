// Parameters of a pattern in its requests (model_folder.h).
//
// A value takes the place of
//   - the placeholder of its name, ":customer", in every request whose expressions use it;
//   - a string that is its name, where an attribute value stands: {"Key": {"id": ":customer"}};
//   - the value of its name in a key: "customer_id" in {"Key": {"customer_id": {"S": "c1"}}}.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/json/json_value.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

// Values in DynamoDB JSON.
using ParameterValues = std::map<std::string, JsonValue>;

// `request` with `values` in their places. The names that had a place are added to `used`.
JsonValue WithParameters(const JsonValue& request, const ParameterValues& values,
                         std::set<std::string>* used);

// The names that can be given a value: the parameters, the placeholders and the key attributes.
std::set<std::string> SettableNames(const ModelPattern& pattern);

// Reads NAME=VALUE. VALUE is JSON, plain or DynamoDB JSON; what is no JSON is a string.
absl::StatusOr<std::pair<std::string, JsonValue>> ParseSetting(const std::string& text);

}  // namespace itemdb::tools
