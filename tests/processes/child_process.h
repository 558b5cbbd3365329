// Programs as child processes of a test: start, wait with a bound, kill by pid. Linux only.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace itemdb::e2e {

// The longest wait of all functions here; after that they fail. Much longer than necessary, so that no test
// fails on a busy machine.
inline constexpr int kPatienceMs = 60'000;

// Owns a file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return fd_; }

 private:
  int fd_;
};

// A started program. It is killed when this object is destroyed or the thread that started it ends, so that
// no test leaves a process running.
class ChildProcess {
 public:
  struct Streams {
    // Borrowed descriptors that become the child's standard input, output and error.
    int in;
    int out;
    int err;
  };

  // Starts `program` (an absolute path). Aborts the test if that fails.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, Streams streams);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Sends `signal`. Wait must not have been called.
  void Signal(int signal);
  // Waits for the end. Returns the exit code, or 128 + the signal that ended the process, or -1 if the
  // process was killed because it had not ended after kPatienceMs. May be called again.
  int Wait();
  // A descriptor for poll() that becomes readable when the process has ended. Valid while this object exists.
  int end_descriptor() const { return end_.get(); }

 private:
  pid_t pid_ = -1;
  Descriptor end_;
  bool waited_ = false;
  int exit_code_ = -1;
};

struct CommandResult {
  // As returned by ChildProcess::Wait.
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Runs `program` to its end with `input` as standard input.
CommandResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input = "");

}  // namespace itemdb::e2e
