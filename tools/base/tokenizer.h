// Splits a line of text into words as a shell does. Used by the interactive shell and the completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace itemdb::tools {

struct Words {
  std::vector<std::string> words;
  // The line ends inside quotes or after a backslash; the last word is incomplete.
  bool unfinished = false;
  // The line ends within its last word, not after a space.
  bool at_word = false;
};

// Splits at white space outside quotes. Inside 'single quotes' every character stands for itself. Outside
// quotes a backslash makes the next character stand for itself; inside "double quotes" only a double quote or
// another backslash. A word beginning with # and the rest of its line are a comment.
Words SplitWords(std::string_view line);

}  // namespace itemdb::tools
