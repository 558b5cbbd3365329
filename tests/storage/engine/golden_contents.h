// What a database holds, as text: for comparing it with what it held when another version of the program
// wrote it.
#pragma once

#include <string>

#include "itemdb/v1/item.pb.h"
#include "storage/database.h"

namespace itemdb::testing {

// An attribute value with its type: S"text", N:1.5, B:00ff, SS{...}, L[...], M{...}, true, null.
std::string Describe(const v1::AttributeValue& value);
// An item's attributes in the order stored.
std::string Describe(const v1::Item& item);

// Every table with its definition, counters, items and index entries, in stored order, then the whole change
// log; one line each. An error stands in the text where it came up.
std::string DescribeContents(Database& database);

}  // namespace itemdb::testing
