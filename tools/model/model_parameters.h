// Puts the values of parameters into the requests of a pattern (model_folder.h).
//
// The value of a name is used for
//   - the placeholder with this name, such as ":customer", in every request whose expressions use it;
//   - a string equal to the name in place of an attribute value: {"Key": {"id": ":customer"}};
//   - the key attribute with this name: "customer_id" in {"Key": {"customer_id": {"S": "c1"}}}.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/json/json_value.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

// Values in DynamoDB JSON by name.
using ParameterValues = std::map<std::string, JsonValue>;

// `request` with `values` put in. Adds the names that the request uses to `*used`.
JsonValue WithParameters(const JsonValue& request, const ParameterValues& values,
                         std::set<std::string>* used);

// The names that --set accepts: the parameters, the placeholders and the key attributes.
std::set<std::string> SettableNames(const ModelPattern& pattern);

// Reads NAME=VALUE. VALUE is plain or DynamoDB JSON; text that is not JSON is a string.
absl::StatusOr<std::pair<std::string, JsonValue>> ParseSetting(const std::string& text);

}  // namespace itemdb::tools
