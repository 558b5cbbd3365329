// The tables for which the tests send requests, and parts of requests.
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

// Values of every type at the limits of the allowed range, and values that are refused.
const std::vector<Json>& GoodValues();
const std::vector<Json>& BadValues();

// A JSON array. Json{element} with a single element may be the element itself, so this function is needed.
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

// The items of Things: 12 items in three item collections, some of them in indexes.
std::vector<Json> Items();

}  // namespace itemdb::protocols
