#include "tools/moving/item_digest.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace itemdb::tools {
namespace {

void AppendSized(std::string_view bytes, std::string* out) {
  const uint64_t size = bytes.size();
  out->append(reinterpret_cast<const char*>(&size), sizeof size).append(bytes);
}

void AppendCount(uint64_t count, std::string* out) {
  out->append(reinterpret_cast<const char*>(&count), sizeof count);
}

// Sets are compared without their order.
void AppendSet(std::vector<std::string> elements, std::string* out) {
  std::sort(elements.begin(), elements.end());
  AppendCount(elements.size(), out);
  for (const std::string& element : elements) AppendSized(element, out);
}

void AppendItem(const Item& item, std::string* out);

void AppendValue(const Value& value, std::string* out) {
  AppendSized(TypeName(value.type()), out);
  switch (value.type()) {
    case ValueType::kNull:
      break;
    case ValueType::kString:
      AppendSized(*value.string_or_null(), out);
      break;
    case ValueType::kNumber:
      AppendSized(CanonicalNumber(*value.number_or_null()), out);
      break;
    case ValueType::kBinary:
      AppendSized(*value.binary_or_null(), out);
      break;
    case ValueType::kStringSet:
      AppendSet(*value.string_set_or_null(), out);
      break;
    case ValueType::kBinarySet:
      AppendSet(*value.binary_set_or_null(), out);
      break;
    case ValueType::kNumberSet: {
      std::vector<std::string> numbers;
      for (const Number& number : *value.number_set_or_null()) numbers.push_back(CanonicalNumber(number));
      AppendSet(std::move(numbers), out);
      break;
    }
    case ValueType::kList:
      AppendCount(value.list_or_null()->size(), out);
      for (const Value& element : *value.list_or_null()) AppendValue(element, out);
      break;
    case ValueType::kMap:
      AppendItem(*value.map_or_null(), out);
      break;
    case ValueType::kBool:
      out->push_back(*value.bool_or_null() ? '1' : '0');
      break;
  }
}

void AppendItem(const Item& item, std::string* out) {
  AppendCount(item.size(), out);
  for (const Attribute& attribute : item) {
    AppendSized(attribute.name, out);
    AppendValue(attribute.value, out);
  }
}

}  // namespace

std::string CanonicalNumber(const Number& number) {
  std::string_view text = number.text();
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  long exponent = 0;
  if (const size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    exponent = std::strtol(std::string(text.substr(e + 1)).c_str(), nullptr, 10);
    text = text.substr(0, e);
  }
  std::string digits;
  if (const size_t point = text.find('.'); point != std::string_view::npos) {
    digits.append(text.substr(0, point)).append(text.substr(point + 1));
    exponent -= static_cast<long>(text.size() - point - 1);
  } else {
    digits = text;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return "0";
  while (digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  return (negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

Digest DigestOf(const Item& item) {
  std::string bytes;
  bytes.reserve(512);
  AppendItem(item, &bytes);
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash);
  Digest digest;
  std::memcpy(&digest.high, hash, sizeof digest.high);
  std::memcpy(&digest.low, hash + sizeof digest.high, sizeof digest.low);
  return digest;
}

void DigestSum::Add(const Digest& digest) {
  ++count;
  high += digest.high;
  low += digest.low;
}

}  // namespace itemdb::tools
