// Items and attribute values from DynamoDB's JSON to the wire form of itemdb.v1.
//
// What comes out is not canonical yet and may be no valid item: storage checks names, numbers, sets, depth
// and that a value has one member (storage/values/canonical.h). Refused here is what the wire form cannot
// carry.
#pragma once

#include <simdjson.h>

#include <string>

#include "absl/status/statusor.h"

namespace itemdb {

// The encoded itemdb.v1.Item of {"pk": {"S": "a"}, ...}.
//
// SERIALIZATION: a JSON type is wrong, or base64 is not (SEM-010). INVALID_ARGUMENT: a value of several types
// or a set that contains null.
absl::StatusOr<std::string> EncodeJsonItem(const simdjson::dom::object& item);

// The encoded itemdb.v1.AttributeValue of {"S": "a"}; null is an empty one. Errors as above.
absl::StatusOr<std::string> EncodeJsonValue(const simdjson::dom::element& value);

}  // namespace itemdb
