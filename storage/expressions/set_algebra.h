// Union and difference of encoded sets: the effect of ADD and DELETE (EXP-28, EXP-29).
#pragma once

#include <string>

#include "storage/values/value_view.h"

namespace itemdb::storage {

// Return the encoded contents (ValueView::payload()) of the union, and of `a` without the members of `b`.
// `type` is the type of both sets: kSS, kNS or kBS. Canonical when the arguments are. Linear in both.
std::string SetUnion(ValueType type, SetView a, SetView b);
std::string SetDifference(ValueType type, SetView a, SetView b);

}  // namespace itemdb::storage
