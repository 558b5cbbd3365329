#include "tests/tools/terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/processes/child_process.h"
#include "tests/support/paths.h"

namespace itemdb::tools {

Terminal::Terminal(const std::vector<std::string>& arguments, const std::string& directory,
                   unsigned short columns, const std::vector<std::string>& more_variables) {
  std::vector<std::string> words = {testing::ProgramPath("itemctl")};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = {"HOME=" + directory, "TERM=xterm", "LC_ALL=C.UTF-8", "PAGER=cat"};
  for (const std::string& variable : more_variables) variables.push_back(variable);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  winsize size = {.ws_row = 30, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (pid_ == 0) {
    execve(argv[0], argv.data(), environment.data());
    _exit(127);
  }
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(terminal_);
}

void Terminal::Type(const std::string& keys) {
  [[maybe_unused]] const ssize_t written = write(terminal_, keys.data(), keys.size());
}

bool Terminal::ReadMore() {
  pollfd waited = {.fd = terminal_, .events = POLLIN, .revents = 0};
  if (poll(&waited, 1, e2e::kPatienceMs) != 1) return false;
  char bytes[4096];
  const ssize_t got = read(terminal_, bytes, sizeof(bytes));
  if (got <= 0) return false;
  shown_.append(bytes, static_cast<size_t>(got));
  return true;
}

bool Terminal::Await(const std::string& text) {
  while (true) {
    const size_t found = shown_.find(text, awaited_);
    if (found != std::string::npos) {
      awaited_ = found + text.size();
      return true;
    }
    if (!ReadMore()) return false;
  }
}

int Terminal::Wait() {
  while (ReadMore()) {
  }
  // The program has closed the terminal, or it hangs and is killed.
  int status = 0;
  pollfd waited = {.fd = terminal_, .events = POLLHUP, .revents = 0};
  if (poll(&waited, 1, 0) == 0 || (waited.revents & POLLHUP) == 0) kill(pid_, SIGKILL);
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace itemdb::tools
