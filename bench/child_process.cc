#include "bench/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

namespace itemdb::bench {
namespace {

// How often the address file is looked for; much shorter than a start.
constexpr std::chrono::microseconds kPollInterval(200);
constexpr std::chrono::seconds kStartPatience(60);
constexpr std::chrono::seconds kStopPatience(20);

absl::StatusOr<std::string> OwnDirectory() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::UnavailableError("cannot read /proc/self/exe: " + error.message());
  return self.parent_path().string();
}

// The number of KiB in the line of a /proc file that starts with `name`; -1 when there is none.
int64_t KiBOf(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with(name + ":")) return std::strtoll(line.c_str() + name.size() + 1, nullptr, 10);
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const std::string& program,
                                                                  const std::vector<std::string>& arguments) {
  ITEMDB_ASSIGN_OR_RETURN(std::string directory, OwnDirectory());
  std::string path = directory + "/" + program;
  if (access(path.c_str(), X_OK) != 0) {
    return absl::UnavailableError("cannot run " + path + ": " + std::strerror(errno) + "; build the target " +
                                  program);
  }
  std::vector<char*> argv = {path.data()};
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);

  // vfork, because fork would copy our page tables, which would count as start time, and run gRPC's fork
  // handlers. posix_spawn cannot set PR_SET_PDEATHSIG, which ends the child with us. The child makes only
  // system calls.
  pid_t pid = vfork();
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  if (pid < 0) return absl::UnavailableError(std::string("cannot start a process: ") + std::strerror(errno));
  return std::unique_ptr<ChildProcess>(new ChildProcess(program, pid));
}

ChildProcess::ChildProcess(std::string program, pid_t pid) : program_(std::move(program)), pid_(pid) {
  clock_getcpuclockid(pid, &cpu_clock_);
}

ChildProcess::~ChildProcess() { Stop(kStopPatience); }

absl::StatusOr<std::string> ChildProcess::AwaitAddress(const std::string& address_file,
                                                       const std::string& protocol) {
  auto end = std::chrono::steady_clock::now() + kStartPatience;
  while (access(address_file.c_str(), F_OK) != 0) {
    if (Reap(/*wait=*/false))
      return absl::UnavailableError(program_ + " ended before it served; see its messages above");
    if (std::chrono::steady_clock::now() > end) {
      return absl::DeadlineExceededError(program_ + " did not serve within " +
                                         std::to_string(kStartPatience.count()) + " seconds");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  std::ifstream in(address_file);
  nlohmann::json addresses = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  const auto first = nlohmann::json::json_pointer("/" + protocol + "/0");
  if (addresses.is_discarded() || !addresses.contains(first) || !addresses[first].is_string()) {
    return absl::DataLossError("the address file of " + program_ + " names no " + protocol + " address");
  }
  return addresses[first].get<std::string>();
}

std::chrono::nanoseconds ChildProcess::CpuTime() const {
  timespec time = {};
  clock_gettime(cpu_clock_, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

absl::StatusOr<ChildProcess::Memory> ChildProcess::ReadMemory() const {
  std::string directory = "/proc/" + std::to_string(pid_);
  Memory memory;
  memory.rss_kib = KiBOf(directory + "/status", "VmRSS");
  memory.rss_anonymous_kib = KiBOf(directory + "/status", "RssAnon");
  memory.pss_kib = KiBOf(directory + "/smaps_rollup", "Pss");
  if (memory.rss_kib < 0)
    return absl::UnavailableError("cannot read the memory of " + program_ + " in " + directory);
  return memory;
}

void ChildProcess::Stop(std::chrono::milliseconds patience) {
  if (reaped_) return;
  kill(pid_, SIGTERM);
  auto end = std::chrono::steady_clock::now() + patience;
  while (!Reap(/*wait=*/false)) {
    if (std::chrono::steady_clock::now() > end) {
      Kill();
      Reap(/*wait=*/true);
      return;
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

void ChildProcess::Kill() const {
  if (!reaped_) kill(pid_, SIGKILL);
}

bool ChildProcess::Reap(bool wait) {
  if (reaped_) return true;
  int status;
  if (waitpid(pid_, &status, wait ? 0 : WNOHANG) != pid_) return false;
  reaped_ = true;
  return true;
}

}  // namespace itemdb::bench
