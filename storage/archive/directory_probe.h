// Finds out whether the file system of a directory answers. A network mount whose server is gone may never
// return from a call, and nothing can end the thread that has made it.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "rocksdb/env.h"
#include "storage/base/status.h"

namespace itemdb::storage {

// Thread-safe.
class DirectoryProbe {
 public:
  // How long an answer may take.
  static constexpr std::chrono::seconds kMaxAnswer{5};

  DirectoryProbe(rocksdb::Env* env, std::string directory);

  // Looks for a file in the directory, on a thread of its own, which is left to itself if that does not
  // return. Until it has, later calls fail at once. UNAVAILABLE: no answer, or
  // no thread can be made.
  absl::Status Check();

 private:
  struct State;

  const std::shared_ptr<State> state_;
};

}  // namespace itemdb::storage
