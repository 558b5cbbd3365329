#include "bench/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace itemdb::bench {
namespace {

// The type of the file system that `path` is on, as /proc/self/mounts names it.
std::string FileSystemOf(const std::string& path) {
  std::ifstream mounts("/proc/self/mounts");
  std::string line, type = "unknown";
  size_t longest = 0;
  while (std::getline(mounts, line)) {
    std::istringstream fields(line);
    std::string device, mount_point, mount_type;
    fields >> device >> mount_point >> mount_type;
    std::string prefix = mount_point == "/" ? "/" : mount_point + "/";
    if (!(path + "/").starts_with(prefix) || prefix.size() < longest) continue;
    longest = prefix.size();
    type = mount_type;
  }
  return type;
}

}  // namespace

absl::StatusOr<Scratch> Scratch::Make() {
  const char* tmpdir = std::getenv("TMPDIR");
  std::error_code error;
  std::string base = std::filesystem::canonical(tmpdir != nullptr ? tmpdir : "/var/tmp", error).string();
  if (error) return absl::NotFoundError(std::string("TMPDIR is no directory: ") + tmpdir);
  Scratch scratch;
  scratch.file_system_ = FileSystemOf(base);
  if (scratch.file_system_ == "tmpfs" || scratch.file_system_ == "ramfs") {
    return absl::FailedPreconditionError(
        base + " is in memory (" + scratch.file_system_ +
        "), where syncing costs nothing; set TMPDIR to a directory on a disk");
  }
  std::string path = base + "/itembench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError("cannot make a directory in " + base + ": " + std::strerror(errno));
  }
  scratch.path_ = path;
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : path_(std::move(other.path_)), file_system_(std::move(other.file_system_)), next_(other.next_) {
  other.path_.clear();
}

Scratch::~Scratch() {
  if (!path_.empty()) RemoveAll(path_);
}

std::string Scratch::NewPath() { return path_ + "/" + std::to_string(++next_); }

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

double SyncsPerSecond(const std::string& directory) {
  constexpr std::chrono::milliseconds kTime(250);
  std::string path = directory + "/syncs";
  int file = open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return 0;
  const std::string data(1024, 'x');
  int syncs = 0;
  auto begin = std::chrono::steady_clock::now();
  std::chrono::duration<double> elapsed(0);
  while (elapsed < kTime && write(file, data.data(), data.size()) > 0 && fdatasync(file) == 0) {
    ++syncs;
    elapsed = std::chrono::steady_clock::now() - begin;
  }
  close(file);
  unlink(path.c_str());
  return syncs / elapsed.count();
}

}  // namespace itemdb::bench
