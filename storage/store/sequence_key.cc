#include "storage/store/sequence_key.h"

namespace itemdb::storage {

std::string SequenceKey(uint64_t number) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; ++i) key[i] = static_cast<char>(number >> (8 * (7 - i)));
  return key;
}

std::optional<uint64_t> ParseSequenceKey(std::string_view key) {
  if (key.size() != 8) return std::nullopt;
  uint64_t number = 0;
  for (char byte : key) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

}  // namespace itemdb::storage
