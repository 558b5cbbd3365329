#include "daemon/config/memory_budget.h"

#include <algorithm>

namespace itemdb::daemon {

MemoryBudget SplitMemory(uint64_t memory) {
  constexpr uint64_t kMiB = 1 << 20;
  memory = std::max(memory, kMinMemoryBytes);
  MemoryBudget budget;
  budget.calls = std::clamp(memory / 8, 20 * kMiB, 1024 * kMiB);
  budget.write_queue = std::clamp(memory / 10, 24 * kMiB, 256 * kMiB);
  budget.write_unit = memory / 3;
  budget.transport = std::clamp(memory / 8, 16 * kMiB, 512 * kMiB);
  budget.memtables = std::clamp(memory / 8, 8 * kMiB, 1024 * kMiB);
  uint64_t program = 40 * kMiB + memory / 16;
  budget.block_cache = memory - program - budget.calls - budget.write_queue - budget.transport;
  return budget;
}

}  // namespace itemdb::daemon
