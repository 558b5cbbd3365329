#include "daemon/process/memory_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "absl/strings/str_format.h"

namespace itemdb::daemon {
namespace {

using ::testing::HasSubstr;

class MemoryDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::error_code error;
    if (std::filesystem::space(MemoryDirectory::kParent, error).available <
        2 * MemoryDirectory::kMinFreeBytes)
      GTEST_SKIP() << "too little room in /dev/shm here";
  }
};

TEST_F(MemoryDirectoryTest, IsForThisUserOnlyAndGoesWithEverythingInIt) {
  std::string path;
  {
    absl::StatusOr<MemoryDirectory> made = MemoryDirectory::Make();
    ASSERT_TRUE(made.ok()) << made.status();
    const MemoryDirectory directory = *std::move(made);
    path = directory.path();
    struct stat info = {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    std::filesystem::create_directory(path + "/rocksdb");
    std::ofstream(path + "/rocksdb/000001.log") << "bytes";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

// A process that is killed removes nothing. The lock is what tells its directory from one that is in use.
TEST_F(MemoryDirectoryTest, RemovesThoseOfEndedProcessesOnly) {
  const std::string name =
      std::string(MemoryDirectory::kParent) + absl::StrFormat("/itemd-in-memory-%d-", geteuid());
  const std::string ended = name + "ended" + std::to_string(getpid());
  const std::string file = name + "file" + std::to_string(getpid());
  const std::string other =
      std::string(MemoryDirectory::kParent) + "/itemdb-test-" + std::to_string(getpid());
  std::error_code removed_by_another_test;
  std::filesystem::create_directories(ended + "/rocksdb", removed_by_another_test);
  std::filesystem::create_directories(other);
  std::ofstream(file) << "no directory";
  absl::StatusOr<MemoryDirectory> first = MemoryDirectory::Make();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(std::filesystem::exists(ended));
  absl::StatusOr<MemoryDirectory> second = MemoryDirectory::Make();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(first->path(), second->path());
  EXPECT_TRUE(std::filesystem::exists(first->path())) << "its process lives";
  EXPECT_TRUE(std::filesystem::exists(other)) << "none of ours";
  EXPECT_TRUE(std::filesystem::exists(file)) << "none of ours";
  std::filesystem::remove(other);
  std::filesystem::remove(file);
}

TEST(MemoryDirectory, RefusesWhatIsNotInMemory) {
  const absl::Status refused = MemoryDirectory::Make("/proc").status();
  EXPECT_TRUE(absl::IsUnavailable(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("--in-memory: /proc is not a file system in memory (tmpfs); --data-dir DIR"));
  EXPECT_THAT(std::string(MemoryDirectory::Make("/nonexistent").status().message()),
              HasSubstr("/nonexistent cannot be used: No such file or directory"));
}

}  // namespace
}  // namespace itemdb::daemon
