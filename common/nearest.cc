#include "common/nearest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"

namespace itemdb::common {
namespace {

// Longer texts are no mistyped names; the bound keeps the table of distances small.
constexpr size_t kMaxLetters = 255;
constexpr size_t kLeastPart = 3;

// Optimal string alignment distance.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({replaced, rows[i - 1][j] + 1, rows[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
      }
    }
  }
  return rows[a.size()][b.size()];
}

std::string Folded(std::string_view text) {
  std::string folded(text);
  absl::AsciiStrToLower(&folded);
  std::replace(folded.begin(), folded.end(), '_', '-');
  return folded;
}

}  // namespace

std::string Nearest(std::string_view text, const std::vector<std::string>& candidates) {
  if (text.empty() || text.size() > kMaxLetters) return "";
  const std::string wanted = Folded(text);
  std::string nearest, begins, ends;
  size_t least = wanted.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kMaxLetters) continue;
    const std::string name = Folded(candidate);
    if (begins.empty() && name.starts_with(wanted)) begins = candidate;
    if (ends.empty() && name.ends_with(wanted)) ends = candidate;
    const size_t distance = EditDistance(wanted, name);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  if (!nearest.empty() || wanted.size() < kLeastPart) return nearest;
  return begins.empty() ? ends : begins;
}

std::string DidYouMean(std::string_view text, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(text, candidates);
  return nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?";
}

}  // namespace itemdb::common
