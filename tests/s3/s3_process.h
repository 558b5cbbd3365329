// s3_server.py as a process: a small S3 server that checks signatures, and fails when a test asks for it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "storage/base/check.h"
#include "tests/processes/child_process.h"
#include "tests/support/files.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {

inline constexpr char kS3KeyId[] = "AKIDTEST";
inline constexpr char kS3Secret[] = "the secret/of+tests";
inline constexpr char kS3Region[] = "test-region-1";

class S3Process {
 public:
  // `arguments`: "--certificate", FILE, "--key", FILE, or nothing.
  explicit S3Process(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {SourcePath("tests/s3/s3_server.py"), directory()});
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ITEMDB_CHECK(null >= 0);
    process_ = std::make_unique<e2e::ChildProcess>(
        "/usr/bin/python3", arguments,
        e2e::ChildProcess::Streams{.in = null, .out = null, .err = STDERR_FILENO});
    close(null);
    const auto addresses = process_->AwaitAddresses(directory() + "/address.json");
    EXPECT_TRUE(addresses.ok()) << addresses.status();
    if (addresses.ok()) address_ = addresses->http.at(0);
  }

  // "127.0.0.1:PORT".
  const std::string& address() const { return address_; }
  const std::string& directory() const { return directory_.path(); }
  // Where the objects of a bucket are files.
  std::string BucketPath(const std::string& bucket) const { return directory() + "/buckets/" + bucket; }
  void MakeBucket(const std::string& bucket) { std::filesystem::create_directories(BucketPath(bucket)); }
  // A JSON list of faults, as s3_server.py describes them.
  void SetFaults(const std::string& faults) {
    WriteFile(directory() + "/faults.new", faults);
    std::filesystem::rename(directory() + "/faults.new", directory() + "/faults");
  }
  // "METHOD TARGET STATUS" for each request so far that has `text`.
  std::vector<std::string> Requests(const std::string& text = "") const {
    std::vector<std::string> requests;
    std::istringstream in(ReadFile(directory() + "/requests"));
    for (std::string line; std::getline(in, line);)
      if (line.find(text) != std::string::npos) requests.push_back(line);
    return requests;
  }
  // Uploads of parts that have begun and not ended.
  size_t Uploads() const {
    if (!std::filesystem::exists(directory() + "/uploads")) return 0;
    const std::filesystem::directory_iterator uploads(directory() + "/uploads");
    return static_cast<size_t>(std::distance(begin(uploads), end(uploads)));
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<e2e::ChildProcess> process_;
  std::string address_;
};

}  // namespace itemdb::testing
