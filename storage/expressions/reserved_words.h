// Reserved words, which an expression can use as attribute names only through `#alias` (SEM-023).
#pragma once

#include <string_view>

namespace itemdb::storage {

// Ignores case.
bool IsReservedWord(std::string_view name);

}  // namespace itemdb::storage
