// Programs as children of the test: started, waited for with a bound, killed by pid. Linux only.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace itemdb::e2e {

// How long anything here waits before it gives up and says so. Far above what is needed, so that a busy
// machine fails no test.
inline constexpr int kPatienceMs = 60'000;

// An open file descriptor; closed at the end.
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

// One started program. It is killed when this object or the thread that started it ends, so that no test
// leaves a process behind.
class ChildProcess {
 public:
  struct Streams {
    // Borrowed descriptors that become the child's standard input, output and error.
    int in;
    int out;
    int err;
  };

  // Starts `program` (an absolute path). Aborts the test when that fails.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, Streams streams);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Sends `signal`; the process must not have been waited for.
  void Signal(int signal);
  // Waits for the end: the exit code, 128 + the signal that ended it, or -1 when it had not ended after
  // kPatienceMs and was killed. May be called again.
  int Wait();
  // Readable once the process has ended; for poll(). Valid while this object lives.
  int end_descriptor() const { return end_.get(); }

 private:
  pid_t pid_ = -1;
  Descriptor end_;
  bool waited_ = false;
  int exit_code_ = -1;
};

struct CommandResult {
  // As of ChildProcess::Wait.
  int exit_code = -1;
  std::string out;
  std::string err;
};

// Runs `program` to its end with `input` as standard input.
CommandResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input = "");

}  // namespace itemdb::e2e
