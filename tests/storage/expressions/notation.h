// Items and values in a short notation, so that tests are easy to read:
//
//   {id: 'a', n: -1.5, b: b'xyz', ss: <'p', 'q'>, ns: <1, 2>, bs: <b'x'>, l: [1, [true]], m: {k: null}}
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/expressions/placeholders.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// The canonical encoding of a value or an item. Aborts if `notation` has a mistake.
std::string Value(std::string_view notation);
std::string Item(std::string_view notation);

// The notation of an encoded value or item, in canonical order.
std::string Show(ValueView value);
std::string ShowItem(std::string_view item);

// Names are text, values are in notation: MakePlaceholders({{"#n", "name"}, {":v", "[1, 2]"}}).
using PlaceholderTexts = std::vector<std::pair<std::string, std::string>>;
Placeholders MakePlaceholders(const PlaceholderTexts& texts);

}  // namespace itemdb::storage
