// The real itemd as a process on a directory of its own: start, ask, kill, start again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/processes/child_process.h"

namespace itemdb::e2e {

class DaemonProcess {
 public:
  // Everything lies in `directory`, which must exist: data/, itemd.json, itemd.log.
  explicit DaemonProcess(std::string directory);
  // Kills the process if it runs.
  ~DaemonProcess() = default;

  // What --listen is given from the next start on, by default "127.0.0.1:0".
  void set_listen(std::vector<std::string> listen) { listen_ = std::move(listen); }

  // Starts itemd and waits until it serves. UNAVAILABLE: it ended instead; the message is what it logged.
  absl::Status Start(const std::vector<std::string>& more_arguments = {});
  // The first half of Start: does not wait.
  void Launch(const std::vector<std::string>& more_arguments = {});
  // Runs itemd to its end, for starts that are refused.
  CommandResult RunToEnd(const std::vector<std::string>& more_arguments = {});

  // Below: the process must run.
  pid_t pid() const { return process_->pid(); }
  void Signal(int signal);
  // SIGKILL, and the end of it.
  void Kill();
  // SIGTERM, and the exit code; -1 when it had not stopped after kPatienceMs.
  int Terminate();
  // The exit code, once a signal has been sent.
  int Wait();

  bool running() const { return process_ != nullptr; }
  // The first address served, for clients.
  const std::string& endpoint() const { return endpoint_; }
  // The first one for HTTP, "HOST:PORT"; empty without --http-listen.
  const std::string& http_endpoint() const { return http_endpoint_; }
  std::string data_directory() const { return directory_ + "/data"; }
  std::string address_file() const { return directory_ + "/itemd.json"; }
  // All that was logged by all starts so far.
  std::string log() const;

 private:
  std::vector<std::string> Arguments(const std::vector<std::string>& more_arguments) const;
  absl::Status AwaitServing();

  const std::string directory_;
  std::vector<std::string> listen_ = {"127.0.0.1:0"};
  std::unique_ptr<ChildProcess> process_;
  Descriptor arrivals_;       // Tells of files that appear in directory_.
  size_t logged_before_ = 0;  // Bytes of log at the last launch.
  std::string endpoint_;
  std::string http_endpoint_;
};

}  // namespace itemdb::e2e
