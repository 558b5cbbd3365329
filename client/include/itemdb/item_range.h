// Items one after another; the range fetches each page when the program reaches it.
#pragma once

#include "itemdb/lazy_range.h"
#include "itemdb/value.h"

namespace itemdb {

using ItemRange = LazyRange<Item>;

}  // namespace itemdb
