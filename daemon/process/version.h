// The version of this program, which `itemd --version` and Admin.GetStatus return.
#pragma once

#include <string_view>

namespace itemdb::daemon {

// "MAJOR.MINOR.PATCH", from CMakeLists.txt.
std::string_view Version();

}  // namespace itemdb::daemon
