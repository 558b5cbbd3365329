// Reads lines typed on a terminal, with editing, history and completion (libedit).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/completion.h"

namespace itemdb::tools {

// $XDG_STATE_HOME/itemctl_history if that variable is set, else ~/.itemctl_history; empty if HOME is not set
// either.
std::string DefaultHistoryPath();

// At most one exists in a process, and one thread uses it. Keys are those of emacs; ~/.editrc can change
// them.
class LineEditor {
 public:
  // `complete` is called with the line up to the cursor. The history is kept in the file `history_path`;
  // empty: only in memory.
  LineEditor(std::function<Completion(const std::string& line)> complete, std::string history_path);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class End {
    kLine,
    // Ctrl-C: the caller discards the typed line.
    kAborted,
    // Ctrl-D on an empty line, or the terminal was closed.
    kEndOfInput,
  };
  // Waits for a line. Sets `*line` to the line without its newline.
  End Read(const std::string& prompt, std::string* line);

  // Adds `line` to the history and writes the history file with mode 0600. A line equal to the one before is
  // added once. A file that cannot be written is not an error: the line stays in the history of this session.
  void Remember(const std::string& line);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace itemdb::tools
