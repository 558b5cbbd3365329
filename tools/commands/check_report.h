// Output and exit status of `check` and `index check`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/context.h"

namespace itemdb::tools {

struct CheckFigure {
  // The names of the column and of the JSON member.
  std::string heading;
  std::string member;
  int64_t value = 0;
};

// Prints the figures and the findings. ToolError kFindings: at least one finding was not repaired; the
// message names the first finding. `repairs`: the check was asked to repair.
absl::Status ReportCheck(Context& context, const CheckDatabaseResult& result,
                         const std::vector<CheckFigure>& figures, bool repairs);

}  // namespace itemdb::tools
