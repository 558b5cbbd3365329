// A directory for one test, removed with its contents when the object is destroyed.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "storage/base/check.h"

namespace itemdb::testing {

class TemporaryDirectory {
 public:
  // Makes the directory under $TMPDIR or /tmp; aborts if that is impossible.
  TemporaryDirectory() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr ? base : "/tmp") + "/itemdb-test-XXXXXX";
    ITEMDB_CHECK(mkdtemp(path_.data()) != nullptr);
    path_ = std::filesystem::canonical(path_).string();
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  // Absolute, without a slash at the end.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace itemdb::testing
