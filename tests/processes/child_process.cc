#include "tests/processes/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "storage/base/check.h"

namespace itemdb::e2e {
namespace {

// A file in memory. Unlike a pipe it never fills, so the test need not read while the child runs.
Descriptor MemoryFile(const std::string& content) {
  Descriptor file(memfd_create("e2e", MFD_CLOEXEC));
  ITEMDB_CHECK(file.get() >= 0);
  size_t written = 0;
  while (written < content.size()) {
    ssize_t bytes = write(file.get(), content.data() + written, content.size() - written);
    ITEMDB_CHECK(bytes > 0);
    written += static_cast<size_t>(bytes);
  }
  ITEMDB_CHECK(lseek(file.get(), 0, SEEK_SET) == 0);
  return file;
}

std::string ContentOf(const Descriptor& file) {
  off_t bytes = lseek(file.get(), 0, SEEK_END);
  ITEMDB_CHECK(bytes >= 0);
  std::string content(static_cast<size_t>(bytes), '\0');
  ITEMDB_CHECK(pread(file.get(), content.data(), content.size(), 0) == bytes);
  return content;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           Streams streams) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  ITEMDB_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    // The test has threads, so until exec only async-signal-safe calls are allowed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (dup2(streams.in, 0) < 0 || dup2(streams.out, 1) < 0 || dup2(streams.err, 2) < 0) _exit(127);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  end_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  ITEMDB_CHECK(end_.get() >= 0);
}

ChildProcess::~ChildProcess() {
  if (waited_) return;
  Signal(SIGKILL);
  Wait();
}

void ChildProcess::Signal(int signal) {
  ITEMDB_CHECK(!waited_);
  ITEMDB_CHECK(kill(pid_, signal) == 0);
}

int ChildProcess::Wait() {
  if (waited_) return exit_code_;
  pollfd end{.fd = end_.get(), .events = POLLIN, .revents = 0};
  const bool ended = poll(&end, 1, kPatienceMs) == 1;
  if (!ended) Signal(SIGKILL);
  int status = 0;
  ITEMDB_CHECK(waitpid(pid_, &status, 0) == pid_);
  waited_ = true;
  if (ended) exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

CommandResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input) {
  Descriptor in = MemoryFile(input);
  Descriptor out = MemoryFile("");
  Descriptor err = MemoryFile("");
  ChildProcess child(program, arguments, {.in = in.get(), .out = out.get(), .err = err.get()});
  CommandResult result;
  result.exit_code = child.Wait();
  result.out = ContentOf(out);
  result.err = ContentOf(err);
  return result;
}

}  // namespace itemdb::e2e
