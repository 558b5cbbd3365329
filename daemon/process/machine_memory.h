// The memory that this process may use, and the memory that it uses.
#pragma once

#include <cstdint>
#include <string>

namespace itemdb::daemon {

// Bytes of memory: the least of the machine's memory and the limits of this process's control group (version
// 1 or 2) and the groups above it. Never zero: 1 GiB if none can be read. `root` is a prefix of /proc and
// /sys, for tests.
uint64_t MachineMemoryBytes(const std::string& root = "");

// Resident memory of this process in bytes; 0 when it cannot be read.
uint64_t ResidentMemoryBytes();

}  // namespace itemdb::daemon
