#include "storage/base/hex.h"

#include <cctype>

#include "storage/base/check.h"

namespace itemdb::storage {

std::string FromHex(std::string_view digits) {
  ITEMDB_DCHECK(digits.size() % 2 == 0);
  const auto value = [](char digit) {
    ITEMDB_DCHECK(std::isxdigit(static_cast<unsigned char>(digit)));
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
  };
  std::string bytes(digits.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(value(digits[2 * i]) << 4 | value(digits[2 * i + 1]));
  return bytes;
}

}  // namespace itemdb::storage
