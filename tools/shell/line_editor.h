// Lines typed on a terminal: editing, history and completion, with libedit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/completion.h"

namespace itemdb::tools {

// $XDG_STATE_HOME/itemctl_history where that variable is set, else ~/.itemctl_history; empty when there is no
// home.
std::string DefaultHistoryPath();

// One at a time in a process, used by one thread. Keys are emacs', unless ~/.editrc says otherwise.
class LineEditor {
 public:
  // `complete` is asked with the line up to the cursor. The history is read from `history_path` (empty: none
  // is kept).
  LineEditor(std::function<Completion(const std::string& line)> complete, std::string history_path);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class End {
    kLine,
    // Ctrl-C: what was typed is to be forgotten.
    kAborted,
    // Ctrl-D on an empty line, or the terminal is gone.
    kEndOfInput,
  };
  // Waits for a line; `line` is it without its newline.
  End Read(const std::string& prompt, std::string* line);

  // Adds to the history and writes it, readable to the user only. The same line twice in a row counts once. A
  // file that cannot be written is no error: the line is there for this session.
  void Remember(const std::string& line);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace itemdb::tools
