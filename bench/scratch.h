// The temporary directory for the databases of a run.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::bench {

// A directory in $TMPDIR or else in /var/tmp, which the destructor removes. Not thread-safe.
class Scratch {
 public:
  // FAILED_PRECONDITION: the directory is in memory, where a sync costs nothing, so results would be wrong.
  static absl::StatusOr<Scratch> Make();
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;

  const std::string& path() const { return path_; }
  // The type of the file system, such as "ext4".
  const std::string& file_system() const { return file_system_; }
  // A path in the directory that is not used yet.
  std::string NewPath();

 private:
  Scratch() = default;

  std::string path_;
  std::string file_system_;
  int next_ = 0;
};

// Removes `path` with everything in it, as far as possible.
void RemoveAll(const std::string& path);

// How many times per second 1 KiB can be appended to a file in `directory` and synced. Takes 250 ms.
double SyncsPerSecond(const std::string& directory);

}  // namespace itemdb::bench
