#include "tools/base/tokenizer.h"

#include <cstddef>

#include "absl/strings/ascii.h"

namespace itemdb::tools {
namespace {

// In double quotes a backslash escapes only quotes and backslashes, so that JSON can be written there.
bool EscapableInQuotes(std::string_view line, size_t next) {
  return next == line.size() || line[next] == '"' || line[next] == '\\';
}

}  // namespace

Words SplitWords(std::string_view line) {
  Words result;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      if (in_word) result.words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (quote == 0 && !in_word && c == '#') {
      while (i + 1 < line.size() && line[i + 1] != '\n') ++i;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      in_word = true;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (c == '\\' && (quote == 0 || (quote == '"' && EscapableInQuotes(line, i + 1)))) {
      in_word = true;
      if (i + 1 == line.size()) {
        result.unfinished = true;
      } else {
        word += line[++i];
      }
    } else {
      in_word = true;
      word += c;
    }
  }
  if (quote != 0) result.unfinished = true;
  result.at_word = in_word;
  if (in_word) result.words.push_back(std::move(word));
  return result;
}

}  // namespace itemdb::tools
