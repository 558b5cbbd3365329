// Keys that are numbers: change sequences in the change log, storage ids in the counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb {

// The change log is one of the fixed families; in its records' checksums it goes by this id.
inline constexpr uint64_t kChangesStorageId = 0;

// `number` as 8 bytes, big-endian, so that byte order is numeric order (for changes: commit order).
std::string SequenceKey(uint64_t number);
// Nothing when `key` is not one.
std::optional<uint64_t> ParseSequenceKey(std::string_view key);

}  // namespace itemdb
