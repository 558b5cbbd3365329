// The words that expressions refuse as bare attribute names, so that they stay free for the grammar
// (SEM-023).
#pragma once

#include <string_view>

namespace itemdb {

// Ignores case; `#alias` is how such an attribute is named.
bool IsReservedWord(std::string_view name);

}  // namespace itemdb
