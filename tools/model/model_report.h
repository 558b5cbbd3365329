// Prints the results of `itemctl model run`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/cli/context.h"
#include "tools/model/model_calls.h"
#include "tools/model/model_folder.h"

namespace itemdb::tools {

enum class Result { kOk, kDiffers, kNoAnswer, kNotRun, kFailed };

struct PatternRun {
  // Borrowed from the folder.
  const ModelPattern* pattern;
  Result result = Result::kNotRun;
  PatternFigures figures = {};
  // The differences between the answer and the expected one.
  std::vector<std::string> differences = {};
  // Why the pattern was not run or failed.
  std::string why = {};
};

// The number of `runs` with `result`.
size_t CountOf(const std::vector<PatternRun>& runs, Result result);

// "15 patterns: 14 ok, 1 DIFFERS; 19 calls, 28 items scanned, 27 returned".
std::string SummaryOf(const std::vector<PatternRun>& runs);

// Prints the patterns with their statistics, differences and warnings; with `show_items` also the items
// found.
void PrintRuns(Context& context, const std::vector<PatternRun>& runs, bool show_items);

}  // namespace itemdb::tools
