#include "tests/processes/child_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "storage/base/check.h"

namespace itemdb::e2e {
namespace {

using Clock = std::chrono::steady_clock;
using daemon::Descriptor;

// How often the address file is looked for; much shorter than a start.
constexpr std::chrono::microseconds kPollInterval(200);

// A file in memory. Unlike a pipe it never fills, so the test need not read while the child runs.
Descriptor MemoryFile(const std::string& content) {
  Descriptor file(memfd_create("e2e", MFD_CLOEXEC));
  ITEMDB_CHECK(file.get() >= 0);
  size_t written = 0;
  while (written < content.size()) {
    ssize_t bytes = write(file.get(), content.data() + written, content.size() - written);
    ITEMDB_CHECK(bytes > 0);
    written += static_cast<size_t>(bytes);
  }
  ITEMDB_CHECK(lseek(file.get(), 0, SEEK_SET) == 0);
  return file;
}

std::string ContentOf(const Descriptor& file) {
  off_t bytes = lseek(file.get(), 0, SEEK_END);
  ITEMDB_CHECK(bytes >= 0);
  std::string content(static_cast<size_t>(bytes), '\0');
  ITEMDB_CHECK(pread(file.get(), content.data(), content.size(), 0) == bytes);
  return content;
}

// The number of KiB in the line of a /proc file that starts with `name`; -1 when there is none.
int64_t KibOf(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with(name + ":")) return std::strtoll(line.c_str() + name.size() + 1, nullptr, 10);
  }
  return -1;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           Streams streams, const std::vector<std::string>& more_environment)
    : program_(program) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  // The first of two variables with one name counts.
  std::vector<char*> variables;
  for (const std::string& variable : more_environment)
    variables.push_back(const_cast<char*>(variable.c_str()));
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);

  // vfork, because fork would copy our page tables, which itembench would count as start time, and run gRPC's
  // fork handlers. posix_spawn cannot set PR_SET_PDEATHSIG. The child makes only system calls.
  const pid_t parent = getpid();
  pid_ = vfork();
  ITEMDB_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (dup2(streams.in, 0) < 0 || dup2(streams.out, 1) < 0 || dup2(streams.err, 2) < 0) _exit(127);
    execve(program.c_str(), argv.data(), variables.data());
    _exit(127);
  }
  end_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  ITEMDB_CHECK(end_.get() >= 0);
}

ChildProcess::~ChildProcess() {
  if (waited_) return;
  Signal(SIGKILL);
  Wait();
}

void ChildProcess::Signal(int signal) {
  ITEMDB_CHECK(!waited_);
  ITEMDB_CHECK(kill(pid_, signal) == 0);
}

bool ChildProcess::EndsWithin(std::chrono::nanoseconds patience) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timespec timeout = {.tv_sec = seconds.count(), .tv_nsec = (patience - seconds).count()};
  pollfd end{.fd = end_.get(), .events = POLLIN, .revents = 0};
  return ppoll(&end, 1, &timeout, nullptr) == 1;
}

int ChildProcess::Wait(int patience_ms) {
  if (waited_) return exit_code_;
  const bool ended = EndsWithin(std::chrono::milliseconds(patience_ms));
  if (!ended) Signal(SIGKILL);
  int status = 0;
  ITEMDB_CHECK(waitpid(pid_, &status, 0) == pid_);
  waited_ = true;
  if (ended) exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

absl::StatusOr<ChildProcess::Addresses> ChildProcess::AwaitAddresses(const std::string& address_file) {
  const Clock::time_point end = Clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (access(address_file.c_str(), F_OK) != 0) {
    if (EndsWithin(kPollInterval)) return absl::UnavailableError(program_ + " ended before it served");
    if (Clock::now() > end) return absl::DeadlineExceededError(program_ + " did not serve in time");
  }
  std::ifstream in(address_file);
  const auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::DataLossError(address_file + " is not an address file");
  const std::vector<std::string> none;
  return Addresses{.grpc = json.value("grpc", none),
                   .http = json.value("http", none),
                   .metrics = json.value("metrics", none)};
}

std::chrono::nanoseconds ChildProcess::CpuTime() const {
  clockid_t clock = {};
  timespec time = {};
  if (clock_getcpuclockid(pid_, &clock) == 0) clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

ChildProcess::Memory ChildProcess::ReadMemory() const {
  const std::string directory = "/proc/" + std::to_string(pid_);
  return {.rss_kib = KibOf(directory + "/status", "VmRSS"),
          .rss_anonymous_kib = KibOf(directory + "/status", "RssAnon"),
          .peak_rss_kib = KibOf(directory + "/status", "VmHWM"),
          .pss_kib = KibOf(directory + "/smaps_rollup", "Pss")};
}

CommandResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& input) {
  Descriptor in = MemoryFile(input);
  Descriptor out = MemoryFile("");
  Descriptor err = MemoryFile("");
  ChildProcess child(program, arguments, {.in = in.get(), .out = out.get(), .err = err.get()});
  CommandResult result;
  result.exit_code = child.Wait();
  result.out = ContentOf(out);
  result.err = ContentOf(err);
  return result;
}

}  // namespace itemdb::e2e
