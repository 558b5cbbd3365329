// Shows long output on a terminal with a pager, page by page.
#pragma once

#include <cstdio>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>

#include "tools/base/terminal_size.h"

namespace itemdb::tools {

// The command of the pager: the environment variable ITEMDB_PAGER, else PAGER, else "less". Empty if the
// first one that is set is empty or "cat": then nothing is paged.
std::string PagerCommand();

// Output that fits on the screen goes to `out`. If it needs more lines than the screen has, the pager is
// started and gets all of it. For one thread.
class Pager : public std::streambuf {
 public:
  // `out` is borrowed. `command` is run by the shell.
  Pager(std::ostream& out, TerminalSize size, std::string command);
  ~Pager() override { Finish(); }
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

  // Prints what is kept, or waits until the user leaves the pager.
  void Finish();
  // The user left the pager before it had all output.
  bool left_early() const { return left_early_; }
  // The pager is no program that runs: `out` got the output instead.
  bool cannot_run() const { return cannot_run_; }

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  // Gives `text` to the pager; false if it has ended.
  bool Send(const std::string& text);
  void CountLines(std::string_view text);
  void Start();
  // Waits for the end of the pager. If it cannot run, what it was sent goes to `out_`.
  void End();

  std::ostream& out_;
  const TerminalSize size_;
  const std::string command_;
  std::string kept_;
  // Lines of the screen that kept_ needs, and columns of its last one.
  size_t lines_ = 0;
  size_t columns_ = 0;
  std::FILE* pager_ = nullptr;
  // Of SIGPIPE, while the pager runs.
  void (*handler_before_)(int) = nullptr;
  bool left_early_ = false;
  bool cannot_run_ = false;
  // What the pager was sent, until that is more than a pipe holds: then it has read something, so it runs.
  std::string sent_;
};

}  // namespace itemdb::tools
