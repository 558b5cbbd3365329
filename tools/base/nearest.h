// "Did you mean": the name somebody probably wanted to write.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb::tools {

// The one of `candidates` that is nearest to `text` by insertions, deletions, replacements and swaps of
// neighbours, upper and lower case being equal; the first of equally near ones. Empty when none is near: at
// most a third of the letters may differ, or `text` (3 letters or more) is how the candidate begins.
std::string Nearest(std::string_view text, const std::vector<std::string>& candidates);

// `; did you mean "candidate"?`, or nothing when none is near. To be put after an error message.
std::string DidYouMean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace itemdb::tools
