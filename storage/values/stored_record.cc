#include "storage/values/stored_record.h"

#include <algorithm>

#include "storage/base/check.h"
#include "storage/base/xxh3.h"
#include "storage/values/wire.h"

namespace itemdb::storage {
namespace {

constexpr size_t kChecksumBytes = 8;

uint64_t ReadChecksum(std::string_view bytes) {
  uint64_t checksum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i)
    checksum |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  return checksum;
}

}  // namespace

uint64_t RecordChecksum(uint64_t storage_id, std::string_view key, uint64_t item_size,
                        std::string_view payload) {
  // Each hash is the seed of the next one. For short inputs this is faster than XXH3's streaming state.
  uint64_t seed = XXH3_64bits_withSeed(key.data(), key.size(), storage_id);
  seed = XXH3_64bits_withSeed(&item_size, sizeof(item_size), seed);
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

uint64_t ChecksumInRecord(std::string_view record) {
  uint64_t item_size = 0;
  record.remove_prefix(1);
  const bool is_encoded = wire::ConsumeVarint(&record, &item_size) && record.size() >= kChecksumBytes;
  ITEMDB_CHECK(is_encoded);
  return ReadChecksum(record);
}

std::string EncodeRecord(uint64_t storage_id, std::string_view key, uint64_t item_size,
                         std::string_view payload) {
  std::string record;
  char* to = wire::GrowBy(1 + wire::VarintSize(item_size) + kChecksumBytes + payload.size(), &record);
  *to++ = kRecordFormatVersion;
  to = wire::WriteVarint(item_size, to);
  const uint64_t checksum = RecordChecksum(storage_id, key, item_size, payload);
  for (size_t i = 0; i < kChecksumBytes; ++i) *to++ = static_cast<char>(checksum >> (8 * i));
  std::copy(payload.begin(), payload.end(), to);
  return record;
}

std::optional<StoredRecord> DecodeRecord(uint64_t storage_id, std::string_view key, std::string_view record) {
  if (record.empty() || record[0] != kRecordFormatVersion) return std::nullopt;
  record.remove_prefix(1);
  StoredRecord decoded;
  if (!wire::ConsumeVarint(&record, &decoded.item_size) || record.size() < kChecksumBytes)
    return std::nullopt;
  decoded.checksum = ReadChecksum(record);
  decoded.payload = record.substr(kChecksumBytes);
  if (decoded.checksum != RecordChecksum(storage_id, key, decoded.item_size, decoded.payload))
    return std::nullopt;
  return decoded;
}

}  // namespace itemdb::storage
