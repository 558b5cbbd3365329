// What `itemctl model run` prints.
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
  // What makes the answer differ.
  std::vector<std::string> differences = {};
  // Why it was not run or failed.
  std::string why = {};
};

// How many of `runs` ended so.
size_t CountOf(const std::vector<PatternRun>& runs, Result result);

// "15 patterns: 14 ok, 1 DIFFERS; 19 calls, 28 items scanned, 27 returned".
std::string SummaryOf(const std::vector<PatternRun>& runs);

// The patterns with their figures, what differs, and warnings; with `show_items` also what they found.
void PrintRuns(Context& context, const std::vector<PatternRun>& runs, bool show_items);

}  // namespace itemdb::tools
