// Encodes items and attribute values from DynamoDB's JSON in the wire form of itemdb.v1.
//
// The result is not canonical and need not be valid: storage checks names, numbers, sets, depth, and that
// each value has one type (storage/values/canonical.h). Errors that the wire form cannot carry are found
// here.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace itemdb::storage {

// The encoded itemdb.v1.Item of {"pk": {"S": "a"}, ...}.
//
// INVALID_ARGUMENT, reason SERIALIZATION: a JSON type is wrong or a binary value is not valid base64
// (SEM-010). INVALID_ARGUMENT: a value has several types, or a set contains null.
absl::StatusOr<std::string> EncodeJsonItem(const simdjson::dom::object& item);

// The encoded itemdb.v1.AttributeValue of {"S": "a"}; JSON null becomes an empty value. Errors as above.
absl::StatusOr<std::string> EncodeJsonValue(const simdjson::dom::element& value);

// Appends the bytes of `text`, which is base64. Decodes strictly: padding is required, white space and unused
// bits that are not zero are refused. INVALID_ARGUMENT, reason SERIALIZATION.
absl::Status AppendDecodedBase64(std::string_view text, std::string* out);

// A text that is not JSON or has a wrong JSON type (ERR-16).
inline constexpr std::string_view kReasonSerialization = "SERIALIZATION";
// INVALID_ARGUMENT with that reason.
absl::Status SerializationError(std::string_view message);
// The same, for a `value` that is not of the type `wanted`: "String", "Integer", "Long", "Boolean",
// "Timestamp", "Blob", "List", "Map" (of attribute values), "NameMap" (of strings), "OtherMap", "Structure",
// "AttributeValue". The text is the service's.
absl::Status WrongJsonType(const simdjson::dom::element& value, std::string_view wanted);

}  // namespace itemdb::storage
