#include "daemon/process/machine_memory.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <string_view>

#include "daemon/process/file_bytes.h"

namespace itemdb::daemon {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kWithoutInformation = uint64_t{1} << 30;
// Far more than the kernel's files that are read here.
constexpr size_t kMaxFileBytes = 64 << 10;

std::string ContentOf(const std::string& path) { return ReadFileBytes(path, kMaxFileBytes).value_or(""); }

// The number at the beginning of `text`; kUnlimited if there is none ("max").
uint64_t LeadingNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : kUnlimited;
}

// Of a unit with ProcSubset=pid, /proc has only processes.
uint64_t TotalMemoryOfKernel() {
  struct sysinfo info = {};
  return sysinfo(&info) == 0 ? uint64_t{info.totalram} * info.mem_unit : kUnlimited;
}

uint64_t TotalMemory(const std::string& root) {
  std::string content = ContentOf(root + "/proc/meminfo");
  constexpr std::string_view kName = "MemTotal:";
  size_t line = content.find(kName);
  if (line == std::string::npos) return root.empty() ? TotalMemoryOfKernel() : kUnlimited;
  uint64_t kib = LeadingNumber(std::string_view(content).substr(line + kName.size()));
  return kib == kUnlimited ? kUnlimited : kib << 10;
}

// The least limit of the group `path` below `mount` and of all groups above it. In a container the group's
// own path is often not visible; the limit is then in the topmost visible group.
uint64_t GroupLimit(const std::string& mount, std::string path, const std::string& file) {
  uint64_t least = kUnlimited;
  while (true) {
    least = std::min(least, LeadingNumber(ContentOf(mount + path + "/" + file)));
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

// Lines of /proc/self/cgroup are "0::/path" in version 2 and "4:memory:/path" in version 1.
uint64_t ControlGroupLimit(const std::string& root) {
  uint64_t least = kUnlimited;
  std::istringstream lines(ContentOf(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    size_t first = line.find(':');
    size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string controllers = std::string(",").append(line, first + 1, second - first - 1).append(",");
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers == ",,") {
      least = std::min(least, GroupLimit(root + "/sys/fs/cgroup", path, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, GroupLimit(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace

uint64_t MachineMemoryBytes(const std::string& root) {
  uint64_t bytes = std::min(TotalMemory(root), ControlGroupLimit(root));
  return bytes == kUnlimited || bytes == 0 ? kWithoutInformation : bytes;
}

uint64_t ResidentMemoryBytes() {
  // "size resident shared ...", in pages.
  std::string content = ContentOf("/proc/self/statm");
  size_t blank = content.find(' ');
  if (blank == std::string::npos) return 0;
  uint64_t pages = LeadingNumber(std::string_view(content).substr(blank));
  return pages == kUnlimited ? 0 : pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace itemdb::daemon
