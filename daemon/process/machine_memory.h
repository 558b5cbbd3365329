// How much memory there is for this process.
#pragma once

#include <cstdint>
#include <string>

namespace itemdb {

// Bytes of memory: that of the machine, or less where a control group (version 1 or 2) that this process is
// in, or one above it, is limited to less. `root` stands before /proc and /sys, for tests. Never zero:
// without any information 1 GiB.
uint64_t MachineMemoryBytes(const std::string& root = "");

// Resident memory of this process in bytes; 0 when it cannot be read.
uint64_t ResidentMemoryBytes();

}  // namespace itemdb
