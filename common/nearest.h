// "Did you mean": finds the name that a person probably meant to type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb::common {

// Returns the candidate with the smallest edit distance to `text`: the number of inserted, deleted, replaced
// and swapped letters, ignoring case; "_" equals "-". The distance may be at most a third of the length of
// `text`; among equal distances the first candidate is returned. If no distance is small enough, returns the
// first candidate that begins with `text` (3 letters or more), else the first that ends with it, else an
// empty string.
std::string Nearest(std::string_view text, const std::vector<std::string>& candidates);

// `; did you mean "candidate"?`, to be appended to an error message; empty if Nearest finds no candidate.
std::string DidYouMean(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace itemdb::common
