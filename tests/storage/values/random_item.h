// Random items for property tests, as generated messages in canonical order, and their other encodings.
#pragma once

#include <random>
#include <string>

#include "itemdb/v1/item.pb.h"

namespace itemdb::storage {

// An item of all types and some depth whose serialised form is canonical. Built without the tested code:
// sorted by std::map and DecimalOracle.
v1::Item RandomCanonicalItem(std::mt19937_64& random);

// UTF-8 text with characters of every length; may be empty and may contain the zero character.
std::string RandomText(std::mt19937_64& random, int max_characters);

// The same item in another encoding that a client might send: attributes and set elements in any order,
// numbers in another notation, a value before its name, varints longer than necessary.
std::string EncodeLoosely(const v1::Item& item, std::mt19937_64& random);

}  // namespace itemdb::storage
