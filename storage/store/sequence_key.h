// Keys that are numbers of 8 bytes: change sequences in the change log, storage ids in the catalog and in the
// size statistics. (Keys of items and index entries have another encoding of storage ids: keys/storage_id.h.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb::storage {

// The storage id in checksums of records of the catalog and the change log. No table or index has it.
inline constexpr uint64_t kCatalogStorageId = 0;
inline constexpr uint64_t kChangesStorageId = 0;

// Returns `number` as 8 bytes, big-endian. Byte order is numeric order (for change sequences: commit order).
std::string SequenceKey(uint64_t number);
// std::nullopt when `key` is not 8 bytes long.
std::optional<uint64_t> ParseSequenceKey(std::string_view key);

// The same for storage ids.
inline std::string StorageIdKey(uint64_t storage_id) { return SequenceKey(storage_id); }
inline std::optional<uint64_t> ParseStorageIdKey(std::string_view key) { return ParseSequenceKey(key); }

}  // namespace itemdb::storage
