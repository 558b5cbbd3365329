#include "tests/processes/daemon_process.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
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
  daemon::Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  daemon::Descriptor log_file(
      open((directory_ + "/itemd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  logged_before_ = log().size();
  process_ = std::make_unique<ChildProcess>(
      testing::ProgramPath("itemd"), Arguments(more_arguments),
      ChildProcess::Streams{.in = nothing.get(), .out = log_file.get(), .err = log_file.get()}, environment_);
}

absl::Status DaemonProcess::AwaitServing() {
  const absl::StatusOr<ChildProcess::Addresses> addresses = process_->AwaitAddresses(address_file());
  if (!addresses.ok()) {
    process_.reset();
    return absl::UnavailableError(
        absl::StrCat(addresses.status().message(), ": ", log().substr(logged_before_)));
  }
  ITEMDB_CHECK(!addresses->grpc.empty());
  endpoint_ = addresses->grpc[0];
  http_endpoint_ = addresses->http.empty() ? "" : addresses->http[0];
  metrics_endpoint_ = addresses->metrics.empty() ? "" : addresses->metrics[0];
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
