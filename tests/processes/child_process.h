// Programs as child processes of a test or of itembench: start, wait with a bound, kill by pid. Linux only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/process/descriptor.h"

namespace itemdb::e2e {

// The longest wait of all functions here; after that they fail. Much longer than necessary, so that no test
// fails on a busy machine.
inline constexpr int kPatienceMs = 60'000;

// A started program. It is killed when this object is destroyed or the thread that started it ends, so that
// no test leaves a process running. It does not receive the signals of our terminal.
class ChildProcess {
 public:
  struct Streams {
    // Borrowed descriptors that become the child's standard input, output and error.
    int in;
    int out;
    int err;
  };
  // The addresses of each protocol in an address file (daemon/process/address_file.h).
  struct Addresses {
    std::vector<std::string> grpc;
    std::vector<std::string> http;
    std::vector<std::string> metrics;
  };
  // In KiB; -1 where the kernel does not tell.
  struct Memory {
    int64_t rss_kib = 0;
    // The part of rss_kib that is not backed by files.
    int64_t rss_anonymous_kib = 0;
    // The highest rss_kib so far.
    int64_t peak_rss_kib = 0;
    // Proportional set size: memory shared with other processes is divided by their number.
    int64_t pss_kib = 0;
  };

  // Starts `program` (an absolute path) with our environment and `more_environment`, each "NAME=value".
  // Aborts if that fails.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments, Streams streams,
               const std::vector<std::string>& more_environment = {});
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // Sends `signal`. Wait must not have been called.
  void Signal(int signal);
  // Waits for the end. Returns the exit code, or 128 + the signal that ended the process, or -1 if the
  // process was killed because it had not ended after `patience_ms`. May be called again.
  int Wait(int patience_ms = kPatienceMs);
  // Waits until the child has created its address file. UNAVAILABLE: the child ended before.
  // DEADLINE_EXCEEDED: it did not create the file in kPatienceMs. DATA_LOSS: the file is not such a file.
  absl::StatusOr<Addresses> AwaitAddresses(const std::string& address_file);

  // CPU time of all threads so far, user and system; 0 if the kernel does not tell. Wait must not have been
  // called.
  std::chrono::nanoseconds CpuTime() const;
  // Wait must not have been called.
  Memory ReadMemory() const;

 private:
  bool EndsWithin(std::chrono::nanoseconds patience) const;

  const std::string program_;
  pid_t pid_ = -1;
  // Becomes readable when the process has ended.
  daemon::Descriptor end_;
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
