// The content of a database as text, for comparing what different versions of the program read.
#pragma once

#include <string>

#include "itemdb/v1/item.pb.h"
#include "storage/database.h"

namespace itemdb::testing {

// An attribute value with its type: S"text", N:1.5, B:00ff, SS{...}, L[...], M{...}, true, null.
std::string Describe(const v1::AttributeValue& value);
// An item's attributes, in the stored order.
std::string Describe(const v1::Item& item);

// Every table with its definition, size statistics, items and index entries, in stored order; then the whole
// change log. One line each. An error appears in the text at the place where it occurred.
std::string DescribeContents(storage::Database& database);

}  // namespace itemdb::testing
