// The packaged absl::string_view is not std::string_view: each as the other. The result borrows what `text`
// borrows.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace itemdb {

inline absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace itemdb
