// Union and difference of encoded sets: the effect of ADD and DELETE (EXP-28, EXP-29).
#pragma once

#include <string>

#include "storage/values/value_view.h"

namespace itemdb {

// The encoded contents (as ValueView::payload() has them) of the union, or of `a` without the members of `b`.
// `type` is that of both sets: kSS, kNS or kBS. Canonical when the arguments are. Linear in both.
std::string SetUnion(ValueType type, SetView a, SetView b);
std::string SetDifference(ValueType type, SetView a, SetView b);

}  // namespace itemdb
