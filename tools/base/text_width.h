// How many columns of a terminal text needs.
#pragma once

#include <cstddef>
#include <string_view>

namespace itemdb::tools {

// The columns that UTF-8 `text` needs: two for each wide character (Chinese, emoji), none for a combining
// one, one for any other and for each byte that is not UTF-8. The tables are those of the C library.
size_t TextWidth(std::string_view text);

// The number of bytes of the longest beginning of `text` that needs at most `columns` columns.
size_t BytesWithin(std::string_view text, size_t columns);

}  // namespace itemdb::tools
