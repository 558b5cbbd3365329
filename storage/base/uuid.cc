#include "storage/base/uuid.h"

#include <sys/random.h>

#include "absl/strings/escaping.h"
#include "storage/base/check.h"

namespace itemdb::storage {

std::string NewUuid() {
  std::string bytes(16, '\0');
  // So few bytes come whole, and without a signal in between, once the kernel has random numbers.
  ITEMDB_CHECK(getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string uuid = absl::BytesToHexString(bytes);
  for (const size_t at : {20, 16, 12, 8}) uuid.insert(at, 1, '-');
  return uuid;
}

}  // namespace itemdb::storage
