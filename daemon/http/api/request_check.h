// What can be said of a request without knowing data: the JSON types of its members, and the bounds of
// request_shapes.h.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/http/api/request_shapes.h"
#include "storage/base/check.h"

namespace itemdb {

// Checks `request` against `input`, which is a structure. Members that `input` does not know are ignored, as
// the service does; null is no member.
//
// SERIALIZATION: a member has another JSON type than it should, or is there twice. INVALID_ARGUMENT: what is
// out of bounds, as the service words it, "2 validation errors detected: Value ..." (SEM-115); a member that
// is not supported here.
//
// Behind it, every member of the request that is there has its type and is within its bounds; but attribute
// values are only looked at when something is out of bounds, as whoever reads them checks their types.
absl::Status CheckRequest(const Shape& input, const simdjson::dom::object& request);

// SERIALIZATION: a JSON type in an attribute value of a request that CheckRequest has seen is wrong.
absl::Status CheckValueTypes(const Shape& input, const simdjson::dom::object& request);

// SERIALIZATION: `element` cannot be what it should be, e.g. a "String".
absl::Status WrongJsonType(const simdjson::dom::element& element, std::string_view wanted);

// Of an element that is known to have the type. By value: simdjson's accessors give references into their
// result.
template <typename Json>
Json As(const simdjson::dom::element& element) {
  Json json;
  ITEMDB_CHECK(element.get(json) == simdjson::SUCCESS);
  return json;
}
inline simdjson::dom::object AsObject(const simdjson::dom::element& element) {
  return As<simdjson::dom::object>(element);
}
inline simdjson::dom::array AsArray(const simdjson::dom::element& element) {
  return As<simdjson::dom::array>(element);
}

}  // namespace itemdb
