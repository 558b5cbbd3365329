// Random items for property tests, as generated messages in canonical order, and the many ways to send them.
#pragma once

#include <random>
#include <string>

#include "itemdb/v1/item.pb.h"

namespace itemdb {

// An item of all types and some depth whose serialised form is canonical, built without the code under test:
// sorted by std::map and by DecimalOracle.
v1::Item RandomCanonicalItem(std::mt19937_64& random);

// UTF-8 text of characters of every length, the empty and the zero character included.
std::string RandomText(std::mt19937_64& random, int max_characters);

// The same item encoded in another way a client might: attributes and set elements in any order, numbers
// written differently, a value before its name, varints longer than need be.
std::string EncodeLoosely(const v1::Item& item, std::mt19937_64& random);

}  // namespace itemdb
