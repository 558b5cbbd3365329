// A server in a process of its own, started from the directory of this program.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "storage/base/status.h"

namespace itemdb::bench {

class ChildProcess {
 public:
  // Starts `program`, a file name in the directory of this program. The kernel kills the child when this
  // process ends, for whatever reason. The child does not receive the signals of our terminal.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::string& program,
                                                             const std::vector<std::string>& arguments);
  // Stops the child.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits until the child has written its address file (daemon/process/address_file.h) and returns the first
  // address of `protocol` ("grpc" or "http"). UNAVAILABLE: the child ended before.
  absl::StatusOr<std::string> AwaitAddress(const std::string& address_file, const std::string& protocol);

  // CPU time of all threads so far, user and system.
  std::chrono::nanoseconds CpuTime() const;

  // Memory, in KiB.
  struct Memory {
    int64_t rss_kib = 0;
    // The part of rss_kib that is not backed by files.
    int64_t rss_anonymous_kib = 0;
    // Proportional set size: memory shared with other processes is divided by their number.
    int64_t pss_kib = 0;
  };
  absl::StatusOr<Memory> ReadMemory() const;

  // Sends SIGTERM and waits; kills the child if it takes longer than `patience`.
  void Stop(std::chrono::milliseconds patience);
  void Kill() const;

 private:
  ChildProcess(std::string program, pid_t pid);
  // True if the child has ended.
  bool Reap(bool wait);

  const std::string program_;
  const pid_t pid_;
  clockid_t cpu_clock_ = 0;
  bool reaped_ = false;
};

}  // namespace itemdb::bench
