// The tables that requests are for, and what requests are put together from.
#pragma once

#include <string>
#include <vector>

#include "tests/protocols/dynamodb_json.h"

namespace itemdb::protocols {

// CreateTable requests:
//   Things  pk S, sk S; global indexes ByN (n N, pk S; all), ByA (a S; keys only), local ByK (k N; b)
//   Single  id N, without a sort key
//   Blobs   b B
const std::vector<Json>& Tables();

// Values of every type, at the edges of what is allowed; and those that are refused.
const std::vector<Json>& GoodValues();
const std::vector<Json>& BadValues();

// An array: braces around a single element may be that element.
template <typename... Elements>
Json List(Elements... elements) {
  Json list = Json::array();
  (list.push_back(std::move(elements)), ...);
  return list;
}
Json Text(const std::string& text);
Json Number(int number);
// The key of an item of Things.
Json Key(const std::string& pk, const std::string& sk);
// `object` with the members of `more`.
Json With(Json object, const Json& more);

// Puts that fill Things: 12 items in three collections, some of them in indexes.
std::vector<Json> Items();

}  // namespace itemdb::protocols
