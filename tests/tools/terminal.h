// itemctl on a terminal, as a person would use it: a pseudo terminal with the test at its other end.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace itemdb::tools {

class Terminal {
 public:
  // Starts itemctl with `arguments` on a terminal of 100 columns, with HOME in `directory`.
  Terminal(const std::vector<std::string>& arguments, const std::string& directory);
  // Kills it when it still runs.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // As if typed.
  void Type(const std::string& keys);
  // Waits until `text` has been shown, after what earlier calls waited for. False when it was not within a
  // minute, or when the program ended before.
  bool Await(const std::string& text);
  // All that was shown so far.
  const std::string& shown() const { return shown_; }
  // Waits for the end; the exit code.
  int Wait();

 private:
  // Reads more; false at the end.
  bool ReadMore();

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
  size_t awaited_ = 0;
};

}  // namespace itemdb::tools
