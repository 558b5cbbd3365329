#include "daemon/process/machine_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "daemon/config/memory_budget.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::daemon {
namespace {

class MachineMemory : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& content) {
    const std::filesystem::path file = directory_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  uint64_t Bytes() const { return MachineMemoryBytes(directory_.path()); }

  testing::TemporaryDirectory directory_;
};

TEST_F(MachineMemory, IsThatOfTheMachineWithoutLimits) {
  Write("/proc/meminfo", "MemFree: 1 kB\nMemTotal:       16 kB\n");
  Write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(Bytes(), 16'384u);
}

TEST_F(MachineMemory, IsTheLeastLimitOfTheControlGroupsAbove) {
  Write("/proc/meminfo", "MemTotal: 1000000 kB\n");
  Write("/proc/self/cgroup", "0::/system.slice/itemd.service\n");
  Write("/sys/fs/cgroup/system.slice/itemd.service/memory.max", "max\n");
  EXPECT_EQ(Bytes(), 1'024'000'000u);
  Write("/sys/fs/cgroup/system.slice/memory.max", "300000000\n");
  EXPECT_EQ(Bytes(), 300'000'000u);
  Write("/sys/fs/cgroup/system.slice/itemd.service/memory.max", "200000000\n");
  EXPECT_EQ(Bytes(), 200'000'000u);
}

// In a container /proc/self/cgroup has the path outside of it; the limit is at the root of the mount.
TEST_F(MachineMemory, FindsTheLimitOfAContainer) {
  Write("/proc/meminfo", "MemTotal: 1000000 kB\n");
  Write("/proc/self/cgroup", "0::/docker/abc\n");
  Write("/sys/fs/cgroup/memory.max", "100000000\n");
  EXPECT_EQ(Bytes(), 100'000'000u);
}

TEST_F(MachineMemory, KnowsControlGroupsOfVersion1) {
  Write("/proc/meminfo", "MemTotal: 1000000 kB\n");
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/itemd\n0::/\n");
  Write("/sys/fs/cgroup/memory/itemd/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Bytes(), 1'024'000'000u);
  Write("/sys/fs/cgroup/memory/itemd/memory.limit_in_bytes", "50000000\n");
  EXPECT_EQ(Bytes(), 50'000'000u);
}

TEST_F(MachineMemory, IsModestWhenNothingIsKnown) { EXPECT_EQ(Bytes(), uint64_t{1} << 30); }

TEST(ResidentMemory, IsMoreThanNothing) { EXPECT_GT(ResidentMemoryBytes(), uint64_t{1} << 20); }

TEST(MemoryBudget, PartsNeverExceedTheWhole) {
  for (uint64_t mib : {128, 129, 200, 256, 512, 1'000, 4'096, 65'536, 1'000'000}) {
    SCOPED_TRACE(mib);
    const uint64_t memory = mib << 20;
    const MemoryBudget budget = SplitMemory(memory);
    EXPECT_LE(budget.block_cache + budget.write_queue + budget.calls + budget.transport, memory - (40 << 20));
    EXPECT_LE(budget.memtables, budget.block_cache);
    EXPECT_GE(budget.block_cache, uint64_t{16} << 20);
    EXPECT_GE(budget.calls, uint64_t{17} << 20) << "a message of the longest kind";
  }
  EXPECT_EQ(SplitMemory(0).block_cache, SplitMemory(kMinMemoryBytes).block_cache);
}

}  // namespace
}  // namespace itemdb::daemon
