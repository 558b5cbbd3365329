// Items in Amazon Ion's text form, as the service exports them (XPT-46). S is a string, N a decimal, B a
// blob, L a list, M a struct; a set is a list with the annotation $dynamodb_SS, $dynamodb_NS or $dynamodb_BS.
#pragma once

#include <string>
#include <string_view>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Appends the name of a field: as an identifier if it can be one, otherwise in single quotes.
void AppendIonName(std::string_view name, std::string* out);
// Appends a canonical attribute value: "a", 103., {{/wA=}}, {a:1.}, $dynamodb_SS::["a"].
void AppendIonValue(ValueView value, std::string* out);

}  // namespace itemdb::storage
