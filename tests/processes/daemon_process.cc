#include "tests/processes/daemon_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "storage/base/check.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {

DaemonProcess::DaemonProcess(std::string directory) : directory_(std::move(directory)) {}

std::vector<std::string> DaemonProcess::Arguments(const std::vector<std::string>& more_arguments) const {
  std::vector<std::string> arguments = {"--data-dir", data_directory(), "--address-file", address_file()};
  for (const std::string& address : listen_) {
    arguments.push_back("--listen");
    arguments.push_back(address);
  }
  arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
  return arguments;
}

absl::Status DaemonProcess::Start(const std::vector<std::string>& more_arguments) {
  Launch(more_arguments);
  return AwaitServing();
}

void DaemonProcess::Launch(const std::vector<std::string>& more_arguments) {
  ITEMDB_CHECK(process_ == nullptr);
  // A killed daemon leaves its address file; the new daemon creates its own by rename.
  unlink(address_file().c_str());
  arrivals_ = Descriptor(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  ITEMDB_CHECK(inotify_add_watch(arrivals_.get(), directory_.c_str(), IN_MOVED_TO) >= 0);
  Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Descriptor log_file(
      open((directory_ + "/itemd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  logged_before_ = log().size();
  process_ = std::make_unique<ChildProcess>(
      testing::ProgramPath("itemd"), Arguments(more_arguments),
      ChildProcess::Streams{.in = nothing.get(), .out = log_file.get(), .err = log_file.get()});
}

absl::Status DaemonProcess::AwaitServing() {
  while (access(address_file().c_str(), F_OK) != 0) {
    pollfd events[] = {{.fd = arrivals_.get(), .events = POLLIN, .revents = 0},
                       {.fd = process_->end_descriptor(), .events = POLLIN, .revents = 0}};
    const bool timely = poll(events, 2, kPatienceMs) > 0;
    if (!timely || events[1].revents != 0) {
      if (!timely) process_->Signal(SIGKILL);
      process_->Wait();
      process_.reset();
      return absl::UnavailableError((timely ? "itemd ended: " : "itemd did not serve in time: ") +
                                    log().substr(logged_before_));
    }
    char event[4096];
    while (read(arrivals_.get(), event, sizeof event) > 0) {
    }
  }
  const auto json = nlohmann::json::parse(testing::ReadFile(address_file()), nullptr, false);
  if (!json.is_object() || !json["grpc"].is_array() || json["grpc"].empty()) {
    return absl::InternalError("the address file holds: " + testing::ReadFile(address_file()));
  }
  endpoint_ = json["grpc"][0].get<std::string>();
  const auto http = json.value("http", nlohmann::json::array());
  http_endpoint_ = http.empty() ? "" : http[0].get<std::string>();
  return absl::OkStatus();
}

CommandResult DaemonProcess::RunToEnd(const std::vector<std::string>& more_arguments) {
  return RunProgram(testing::ProgramPath("itemd"), Arguments(more_arguments));
}

void DaemonProcess::Signal(int signal) { process_->Signal(signal); }

void DaemonProcess::Kill() {
  Signal(SIGKILL);
  Wait();
}

int DaemonProcess::Terminate() {
  Signal(SIGTERM);
  return Wait();
}

int DaemonProcess::Wait() {
  const int exit_code = process_->Wait();
  process_.reset();
  return exit_code;
}

std::string DaemonProcess::log() const { return testing::ReadFile(directory_ + "/itemd.log"); }

}  // namespace itemdb::e2e
