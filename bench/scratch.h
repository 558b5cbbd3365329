// Where the databases of a run live.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// A directory in $TMPDIR, or else in /var/tmp, that is removed with everything in it at the end. Not
// thread-safe.
class Scratch {
 public:
  // FAILED_PRECONDITION when the directory is in memory: syncing would cost nothing there and the figures
  // would lie.
  static absl::StatusOr<Scratch> Make();
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;

  const std::string& path() const { return path_; }
  // "ext4".
  const std::string& file_system() const { return file_system_; }
  // A path in it that is not used yet.
  std::string NewPath();

 private:
  Scratch() = default;

  std::string path_;
  std::string file_system_;
  int next_ = 0;
};

// Removes `path` with everything in it, as far as possible.
void RemoveAll(const std::string& path);

// How often per second 1 KiB can be appended to a file in `directory` and synced; tried for a quarter of a
// second.
double SyncsPerSecond(const std::string& directory);

}  // namespace itemdb::bench
