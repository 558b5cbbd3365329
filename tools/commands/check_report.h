// What `check` and `index check` print, and how they end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/context.h"

namespace itemdb::tools {

struct CheckFigure {
  // Of the column, and of the JSON member.
  std::string heading;
  std::string member;
  int64_t value = 0;
};

// Prints the figures and the findings. ToolError kFindings: something is wrong and, when the check `repairs`,
// was left so; the message names the first.
absl::Status ReportCheck(Context& context, const CheckDatabaseResult& result,
                         const std::vector<CheckFigure>& figures, bool repairs);

}  // namespace itemdb::tools
