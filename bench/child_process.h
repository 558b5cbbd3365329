// A server in a process of its own, started from the directory this program is in.
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
  // Starts `program`, a file name in this program's own directory. The child ends with us, however we end,
  // and does not hear the signals of our terminal.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const std::string& program,
                                                             const std::vector<std::string>& arguments);
  // Stops it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits until the child has written its address file (daemon/process/address_file.h) and returns the first
  // address of `protocol` ("grpc" or "http"). UNAVAILABLE when it ends before.
  absl::StatusOr<std::string> AwaitAddress(const std::string& address_file, const std::string& protocol);

  // CPU time so far, user and system, of all threads.
  std::chrono::nanoseconds CpuTime() const;

  // Memory, in KiB.
  struct Memory {
    int64_t rss_kib = 0;
    // Of that, what is not backed by files.
    int64_t rss_anonymous_kib = 0;
    // The proportional share: what is shared with other processes is divided among them.
    int64_t pss_kib = 0;
  };
  absl::StatusOr<Memory> ReadMemory() const;

  // Asks it to stop and waits; kills it when it takes longer than `patience`.
  void Stop(std::chrono::milliseconds patience);
  void Kill() const;

 private:
  ChildProcess(std::string program, pid_t pid);
  // True when it has ended.
  bool Reap(bool wait);

  const std::string program_;
  const pid_t pid_;
  clockid_t cpu_clock_ = 0;
  bool reaped_ = false;
};

}  // namespace itemdb::bench
