// Text for manual pages.
#pragma once

#include <string>
#include <string_view>

namespace itemdb::common {

// Escapes `text` for roff: roff finds no escapes and no requests in it, and hyphens can be copied from the
// page.
std::string Roff(std::string_view text);

}  // namespace itemdb::common
