#include "tools/cli/reserved_names.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "common/reserved_words.h"

namespace itemdb::tools {
namespace {

// Reserved words that are part of the grammar of expressions.
constexpr std::string_view kGrammar[] = {"AND", "OR",     "NOT", "BETWEEN", "IN",
                                         "SET", "REMOVE", "ADD", "DELETE"};

bool IsExpressionLetter(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool IsGrammar(std::string_view word) {
  return std::any_of(std::begin(kGrammar), std::end(kGrammar), [word](std::string_view known) {
    return absl::EqualsIgnoreCase({word.data(), word.size()}, {known.data(), known.size()});
  });
}

std::string AliasOf(const std::string& word, ExpressionAttributeNames& names) {
  std::string alias = "#" + word;
  for (int i = 2;; ++i) {
    const auto [found, added] = names.emplace(alias, word);
    if (added || found->second == word) return alias;
    alias = "#" + word + std::to_string(i);
  }
}

}  // namespace

void AliasReservedWords(std::string& expression, ExpressionAttributeNames& names) {
  std::string aliased;
  for (size_t i = 0; i < expression.size();) {
    size_t end = i + 1;
    const bool placeholder = expression[i] == '#' || expression[i] == ':';
    if (!placeholder && !IsExpressionLetter(expression[i])) {
      aliased += expression[i];
      i = end;
      continue;
    }
    while (end < expression.size() && IsExpressionLetter(expression[end])) ++end;
    const std::string word = expression.substr(i, end - i);
    const size_t next = expression.find_first_not_of(" \t\n", end);
    const bool function = next != std::string::npos && expression[next] == '(';
    const bool name = !placeholder && !function && !IsGrammar(word) && common::IsReservedWord(word);
    aliased += name ? AliasOf(word, names) : word;
    i = end;
  }
  expression = std::move(aliased);
}

}  // namespace itemdb::tools
