// Reserved words, which an expression can use as attribute names only through `#alias` (SEM-023).
#pragma once

#include <string_view>

namespace itemdb::common {

// Ignores case.
bool IsReservedWord(std::string_view name);

}  // namespace itemdb::common
