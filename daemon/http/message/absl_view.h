// Converts between std::string_view and the packaged absl::string_view, which are different types. The result
// borrows the bytes that `text` borrows.
#pragma once

#include <string_view>

#include "absl/strings/string_view.h"

namespace itemdb::http {

inline absl::string_view Absl(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view Std(absl::string_view text) { return {text.data(), text.size()}; }

}  // namespace itemdb::http
