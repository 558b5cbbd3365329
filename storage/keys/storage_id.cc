#include "storage/keys/storage_id.h"

namespace itemdb::storage {
namespace {

constexpr uint64_t kLargestInOneByte = 0xEF;

}  // namespace

void AppendStorageId(uint64_t storage_id, std::string* out) {
  if (storage_id <= kLargestInOneByte) return out->push_back(static_cast<char>(storage_id));
  int bytes = 1;
  while (bytes < 8 && storage_id >> (8 * bytes) != 0) ++bytes;
  out->push_back(static_cast<char>(kLargestInOneByte + bytes));
  for (int i = bytes - 1; i >= 0; --i) out->push_back(static_cast<char>(storage_id >> (8 * i)));
}

std::optional<uint64_t> ConsumeStorageId(std::string_view* in) {
  if (in->empty()) return std::nullopt;
  const uint64_t first = static_cast<uint8_t>(in->front());
  in->remove_prefix(1);
  if (first <= kLargestInOneByte) return first;
  const size_t bytes = first - kLargestInOneByte;
  if (bytes > 8 || in->size() < bytes) return std::nullopt;
  uint64_t storage_id = 0;
  for (size_t i = 0; i < bytes; ++i) storage_id = storage_id << 8 | static_cast<uint8_t>((*in)[i]);
  in->remove_prefix(bytes);
  const uint64_t least = bytes == 1 ? kLargestInOneByte + 1 : uint64_t{1} << (8 * (bytes - 1));
  if (storage_id < least) return std::nullopt;
  return storage_id;
}

}  // namespace itemdb::storage
