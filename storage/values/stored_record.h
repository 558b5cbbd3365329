// The form of every value in RocksDB: a checksummed header before the payload.
//
//   +----------------+---------------------------+----------------+------------- - -
//   | format version | item size, varint         | XXH3-64,       | payload
//   | 1 byte = 01    | (SEM-002; 0 for no item)  | little-endian  | (encoded message)
//   +----------------+---------------------------+----------------+------------- - -
//
// The checksum covers storage id, key, size and payload. So it also finds a record that was moved to another
// table, index or key. It is verified on every read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace itemdb::storage {

inline constexpr char kRecordFormatVersion = 1;

struct StoredRecord {
  uint64_t item_size = 0;
  uint64_t checksum = 0;
  // Borrows from the bytes that were decoded.
  std::string_view payload;
};

// Returns the record that stores `payload` under `key` in the table or index `storage_id`.
std::string EncodeRecord(uint64_t storage_id, std::string_view key, uint64_t item_size,
                         std::string_view payload);

// The checksum in the header of `record`, a result of EncodeRecord.
uint64_t ChecksumInRecord(std::string_view record);

// The checksum that EncodeRecord stores.
uint64_t RecordChecksum(uint64_t storage_id, std::string_view key, uint64_t item_size,
                        std::string_view payload);

// std::nullopt when the bytes are damaged, of another format version, or of another table, index or key.
std::optional<StoredRecord> DecodeRecord(uint64_t storage_id, std::string_view key, std::string_view record);

}  // namespace itemdb::storage
