// The real itemd as a process with a directory of its own: start, call, kill, start again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/processes/child_process.h"

namespace itemdb::e2e {

class DaemonProcess {
 public:
  // All files are in `directory`, which must exist: data/, itemd.json, itemd.log.
  explicit DaemonProcess(std::string directory);
  // Kills the process if it is running.
  ~DaemonProcess() = default;

  // The value of --listen from the next start on; by default "127.0.0.1:0".
  void set_listen(std::vector<std::string> listen) { listen_ = std::move(listen); }

  // "NAME=value" for the environment of the next starts.
  void set_environment(std::vector<std::string> variables) { environment_ = std::move(variables); }

  // Starts itemd and waits until it serves. UNAVAILABLE: itemd ended instead; the message is its log.
  absl::Status Start(const std::vector<std::string>& more_arguments = {});
  // Starts itemd like Start, but does not wait.
  void Launch(const std::vector<std::string>& more_arguments = {});
  // Runs itemd to its end, for starts that are refused.
  CommandResult RunToEnd(const std::vector<std::string>& more_arguments = {});

  // For all functions below, the process must be running.
  pid_t pid() const { return process_->pid(); }
  ChildProcess::Memory ReadMemory() const { return process_->ReadMemory(); }
  void Signal(int signal);
  // Sends SIGKILL and waits for the end.
  void Kill();
  // Sends SIGTERM and returns the exit code; -1 if itemd has not stopped after kPatienceMs.
  int Terminate();
  // Waits for the end after a signal and returns the exit code.
  int Wait();
  // After Launch: waits until itemd serves, as Start does.
  absl::Status AwaitServing();

  bool running() const { return process_ != nullptr; }
  // The first gRPC address.
  const std::string& endpoint() const { return endpoint_; }
  // The first HTTP address, "HOST:PORT"; empty without --http-listen.
  const std::string& http_endpoint() const { return http_endpoint_; }
  // The first metrics address, "HOST:PORT"; empty without --metrics-listen.
  const std::string& metrics_endpoint() const { return metrics_endpoint_; }
  std::string data_directory() const { return directory_ + "/data"; }
  std::string address_file() const { return directory_ + "/itemd.json"; }
  // The log of all starts so far.
  std::string log() const;

 private:
  std::vector<std::string> Arguments(const std::vector<std::string>& more_arguments) const;

  const std::string directory_;
  std::vector<std::string> listen_ = {"127.0.0.1:0"};
  std::vector<std::string> environment_;
  std::unique_ptr<ChildProcess> process_;
  size_t logged_before_ = 0;  // Bytes of the log before the last launch.
  std::string endpoint_;
  std::string http_endpoint_;
  std::string metrics_endpoint_;
};

}  // namespace itemdb::e2e
