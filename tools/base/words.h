// A line of text as words, the way a shell reads it: what the interactive shell and the completion share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb::tools {

struct Words {
  std::vector<std::string> words;
  // The line ends inside quotes or after a backslash; the last word is what there is of it.
  bool unfinished = false;
  // The line ends within its last word, rather than after a space.
  bool at_word = false;
};

// Splits at white space outside quotes. 'Single quotes' keep everything; outside of quotes a backslash keeps
// the next character, in "double quotes" only a quote or another backslash. A word beginning with # and the
// rest of its line are a comment.
Words SplitWords(std::string_view line);

}  // namespace itemdb::tools
