// The version of this program, as `itemd --version` and Admin.GetStatus tell it.
#pragma once

#include <string_view>

namespace itemdb {

// "MAJOR.MINOR.PATCH", from CMakeLists.txt.
std::string_view Version();

}  // namespace itemdb
