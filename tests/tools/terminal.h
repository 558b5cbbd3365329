// itemctl on a pseudo terminal, whose other end the test reads and writes.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace itemdb::tools {

class Terminal {
 public:
  // Starts itemctl with `arguments` on a terminal of `columns` columns and 30 lines, with HOME in
  // `directory`, and with `variables`, NAME=VALUE each, in its environment.
  Terminal(const std::vector<std::string>& arguments, const std::string& directory,
           unsigned short columns = 100, const std::vector<std::string>& variables = {});
  // Kills itemctl if it is still running.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Types `keys`.
  void Type(const std::string& keys);
  // Waits until `text` has been shown after the texts of earlier calls. False after a minute, or if the
  // program has ended before.
  bool Await(const std::string& text);
  // All output so far.
  const std::string& shown() const { return shown_; }
  // Waits for the end and returns the exit code.
  int Wait();

 private:
  // Reads more output; false at the end.
  bool ReadMore();

  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
  size_t awaited_ = 0;
};

}  // namespace itemdb::tools
