#include "tools/cli/option_validators.h"

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/nearest.h"
#include "itemdb/value.h"

namespace itemdb::tools {

Check WholeNumberBetween(int64_t least, int64_t most) {
  return [least, most](const std::string& text) -> std::string {
    absl::StatusOr<Number> number = Number::Parse(text);
    if (number.ok()) {
      absl::StatusOr<int64_t> integer = number->ToInt64();
      if (integer.ok() && *integer >= least && *integer <= most) return "";
    }
    return absl::StrFormat("%s is not a whole number from %d to %d", text, least, most);
  };
}

Check OneOfWords(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    for (const std::string& word : words) {
      if (word == text) return "";
    }
    return absl::StrFormat("%s is unknown; allowed are %s%s", text, absl::StrJoin(words, ","),
                           common::DidYouMean(text, words));
  };
}

Check SecondsBetween(double least, double most) {
  return [least, most](const std::string& text) -> std::string {
    double seconds = 0;
    if (absl::SimpleAtod(text, &seconds) && seconds >= least && seconds <= most) return "";
    return absl::StrFormat("%s is not a number of seconds from %g to %g", text, least, most);
  };
}

}  // namespace itemdb::tools
