// Keys that are numbers: change sequences in the change log, storage ids in the counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb {

// In the checksums of their records the catalog and the change log go by this id, which no table or index
// has.
inline constexpr uint64_t kCatalogStorageId = 0;
inline constexpr uint64_t kChangesStorageId = 0;

// `number` as 8 bytes, big-endian, so that byte order is numeric order (for changes: commit order).
std::string SequenceKey(uint64_t number);
// Nothing when `key` is not one.
std::optional<uint64_t> ParseSequenceKey(std::string_view key);

}  // namespace itemdb
