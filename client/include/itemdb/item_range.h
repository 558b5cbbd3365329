// Items one after another, fetched page by page while they are used.
#pragma once

#include "itemdb/lazy_range.h"
#include "itemdb/value.h"

namespace itemdb {
inline namespace client {

using ItemRange = LazyRange<Item>;

}  // namespace client
}  // namespace itemdb
