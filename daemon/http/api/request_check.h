// The check of a request that needs no data: JSON types of its members, and bounds (request_shapes.h).
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/http/api/request_shapes.h"

namespace itemdb::http {

// Checks `request` against `input`, which is a structure. As in the service, members that `input` does not
// have are ignored, and a member with the value null counts as missing.
//
// INVALID_ARGUMENT, reason SERIALIZATION: a member has a wrong JSON type or occurs twice. INVALID_ARGUMENT:
// members are out of bounds, in the words of the service, "2 validation errors detected: Value ..."
// (SEM-115); or a member is not supported.
//
// After OK each member has its type and is within its bounds. Attribute values are an exception: they are
// only checked if something is out of bounds, because storage::EncodeJsonValue() checks their types.
absl::Status CheckRequest(const Shape& input, const simdjson::dom::object& request);

// Checks the JSON types in attribute values of a request that CheckRequest() has accepted. INVALID_ARGUMENT,
// reason SERIALIZATION: a type is wrong.
absl::Status CheckValueTypes(const Shape& input, const simdjson::dom::object& request);

// Ends the process unless `error` is SUCCESS.
void CheckHasType(simdjson::error_code error);
// The value of an element that is known to have the type. Returned by value: simdjson's accessors return
// references into their result object.
template <typename Json>
Json As(const simdjson::dom::element& element) {
  Json json;
  CheckHasType(element.get(json));
  return json;
}
inline simdjson::dom::object AsObject(const simdjson::dom::element& element) {
  return As<simdjson::dom::object>(element);
}
inline simdjson::dom::array AsArray(const simdjson::dom::element& element) {
  return As<simdjson::dom::array>(element);
}

}  // namespace itemdb::http
