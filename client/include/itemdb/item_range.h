// Items one after another; the range fetches each page when the program reaches it.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include "itemdb/lazy_range.h"
#include "itemdb/value.h"

namespace itemdb {

using ItemRange = LazyRange<Item>;

}  // namespace itemdb
