#include "storage/keys/key_codec.h"

#include <algorithm>
#include <cstring>

#include "storage/base/check.h"
#include "storage/base/limits.h"
#include "storage/values/number.h"
#include "storage/values/utf8.h"

namespace itemdb::storage {
namespace {

// The registry in key_codec.h lists these bytes. They are on disk: never renumber, never reuse.
constexpr char kTypeB = 0x42;
constexpr char kTypeN = 0x4E;
constexpr char kTypeS = 0x53;

constexpr char kEscape = 0x00;
constexpr char kEscapedZero = static_cast<char>(0xFF);
constexpr char kEnd = 0x01;

constexpr uint8_t kNegative = 0x3F;
constexpr uint8_t kZero = 0x80;
constexpr uint8_t kPositive = 0xC0;
constexpr uint8_t kNumberEnd = 0x00;
constexpr int kExponentBias = -kMinNumberExponent;
constexpr size_t kMaxPairs = kMaxNumberDigits / 2;

static_assert(kMaxNumberExponent + kExponentBias == 0xFF, "the exponent fills its byte");
static_assert((kNegative ^ kPositive) == 0xFF, "negative numbers are the complement of positive ones");

void AppendEscaped(std::string_view bytes, std::string* out) {
  while (!bytes.empty()) {
    size_t zero = std::min(bytes.find('\0'), bytes.size());
    out->append(bytes.substr(0, zero));
    if (zero == bytes.size()) return;
    out->push_back(kEscape);
    out->push_back(kEscapedZero);
    bytes.remove_prefix(zero + 1);
  }
}

// The significant digits of a canonical number text and the exponent of the first digit. Example: 0.0105 has
// the digits 105 and exponent -2.
struct Digits {
  bool negative = false;
  int exponent = 0;
  int count = 0;
  uint8_t digit[kMaxNumberDigits + 1] = {};  // one zero more, so that the last pair is complete
};

Digits ScanNumber(std::string_view text) {
  Digits digits;
  digits.negative = !text.empty() && text.front() == '-';
  if (digits.negative) text.remove_prefix(1);
  int zeros = 0;  // zeros after the last other digit
  bool in_fraction = false;
  int integer_digits = 0, leading_fraction_zeros = 0;
  for (char c : text) {
    if (c == '.') {
      in_fraction = true;
      continue;
    }
    bool started = digits.count > 0;
    if (c == '0') {
      zeros += started;
      leading_fraction_zeros += !started && in_fraction;
    } else {
      ITEMDB_CHECK(c > '0' && c <= '9' && digits.count + zeros < kMaxNumberDigits);
      digits.count += zeros;
      zeros = 0;
      digits.digit[digits.count++] = static_cast<uint8_t>(c - '0');
      started = true;
    }
    integer_digits += started && !in_fraction;
  }
  digits.exponent = integer_digits > 0 ? integer_digits - 1 : -1 - leading_fraction_zeros;
  ITEMDB_CHECK(digits.count == 0 ||
               (digits.exponent >= kMinNumberExponent && digits.exponent <= kMaxNumberExponent));
  return digits;
}

void AppendNumber(std::string_view text, std::string* out) {
  Digits digits = ScanNumber(text);
  if (digits.count == 0) {
    out->push_back(static_cast<char>(kZero));
    return;
  }
  uint8_t complement = digits.negative ? 0xFF : 0x00;
  auto append = [&](uint8_t byte) { out->push_back(static_cast<char>(byte ^ complement)); };
  append(kPositive);
  append(static_cast<uint8_t>(digits.exponent + kExponentBias));
  for (int i = 0; i < digits.count; i += 2) {
    append(static_cast<uint8_t>(digits.digit[i] * 10 + digits.digit[i + 1] + 1));
  }
  append(kNumberEnd);
}

// Returns the length of the escaped bytes, with their end mark, at the front of `encoded`.
std::optional<size_t> EscapedLength(std::string_view encoded) {
  for (size_t at = encoded.find(kEscape); at != std::string_view::npos; at = encoded.find(kEscape, at + 2)) {
    if (at + 1 == encoded.size()) return std::nullopt;
    if (encoded[at + 1] == kEnd) return at + 2;
    if (encoded[at + 1] != kEscapedZero) return std::nullopt;
  }
  return std::nullopt;
}

// Returns the length of the number, without type byte, at the front of `encoded`. Accepts only the one
// encoding that AppendNumber writes.
std::optional<size_t> NumberLength(std::string_view encoded) {
  if (encoded.empty()) return std::nullopt;
  uint8_t marker = static_cast<uint8_t>(encoded[0]);
  if (marker == kZero) return 1;
  if (marker != kPositive && marker != kNegative) return std::nullopt;
  uint8_t complement = marker == kNegative ? 0xFF : 0x00;
  constexpr size_t kFirstPair = 2;
  uint8_t last = 0;
  for (size_t i = kFirstPair; i < encoded.size(); ++i) {
    uint8_t byte = static_cast<uint8_t>(encoded[i]) ^ complement;
    // There is at least one pair, and the last pair is not 00.
    if (byte == kNumberEnd) return last > 1 ? std::optional<size_t>(i + 1) : std::nullopt;
    // A pair is at most 99, there are at most kMaxPairs, and the first digit is not 0.
    if (byte > 100 || i == kFirstPair + kMaxPairs || (i == kFirstPair && byte <= 10)) return std::nullopt;
    last = byte;
  }
  return std::nullopt;
}

std::string Unescape(std::string_view escaped) {
  std::string bytes;
  bytes.reserve(escaped.size());
  while (!escaped.empty()) {
    size_t zero = escaped.find(kEscape);
    if (zero == std::string_view::npos) {
      bytes.append(escaped);
      break;
    }
    bytes.append(escaped.substr(0, zero + 1));
    escaped.remove_prefix(zero + 2);
  }
  return bytes;
}

// `encoded` has passed NumberLength.
absl::StatusOr<Number> DecodeNumber(std::string_view encoded) {
  uint8_t marker = static_cast<uint8_t>(encoded[0]);
  if (marker == kZero) return Number();
  uint8_t complement = marker == kNegative ? 0xFF : 0x00;
  int exponent = (static_cast<uint8_t>(encoded[1]) ^ complement) - kExponentBias;
  unsigned __int128 coefficient = 0;
  size_t pairs = encoded.size() - 3;
  for (size_t i = 0; i < pairs; ++i) {
    coefficient = coefficient * 100 + ((static_cast<uint8_t>(encoded[2 + i]) ^ complement) - 1);
  }
  return Number::FromParts(marker == kNegative, coefficient, exponent - static_cast<int>(2 * pairs) + 1);
}

}  // namespace

void AppendKeyValue(ValueView value, std::string* out) {
  switch (value.type()) {
    case ValueType::kN:
      out->push_back(kTypeN);
      AppendNumber(value.payload(), out);
      return;
    case ValueType::kS:
    case ValueType::kB:
      AppendKeyPrefix(value, out);
      out->push_back(kEscape);
      out->push_back(kEnd);
      return;
    default:
      ITEMDB_CHECK(false && "a key attribute value is of type S, N or B");
  }
}

void AppendKeyPrefix(ValueView prefix, std::string* out) {
  ITEMDB_CHECK(prefix.type() == ValueType::kS || prefix.type() == ValueType::kB);
  out->push_back(prefix.type() == ValueType::kS ? kTypeS : kTypeB);
  AppendEscaped(prefix.payload(), out);
}

std::optional<size_t> KeyValueLength(std::string_view encoded) {
  if (encoded.empty()) return std::nullopt;
  std::optional<size_t> length;
  char type = encoded[0];
  if (type == kTypeS || type == kTypeB) {
    length = EscapedLength(encoded.substr(1));
  } else if (type == kTypeN) {
    length = NumberLength(encoded.substr(1));
  }
  if (length.has_value()) ++*length;
  return length;
}

absl::StatusOr<std::string> ConsumeKeyValue(std::string_view* in) {
  std::optional<size_t> length = KeyValueLength(*in);
  if (!length.has_value()) return DataLossError("An encoded key does not decode");
  char type = (*in)[0];
  std::string_view contents = in->substr(1, *length - 1);
  in->remove_prefix(*length);
  if (type == kTypeN) {
    ITEMDB_ASSIGN_OR_RETURN(Number number, DecodeNumber(contents));
    return EncodeValue(ValueType::kN, number.ToString());
  }
  std::string bytes = Unescape(contents.substr(0, contents.size() - 2));
  if (type == kTypeB) return EncodeValue(ValueType::kB, bytes);
  if (!IsValidUtf8(bytes)) return DataLossError("An encoded key holds a string that is not UTF-8");
  return EncodeValue(ValueType::kS, bytes);
}

std::string PrefixSuccessor(std::string_view prefix) {
  size_t last = prefix.find_last_not_of('\xFF');
  if (last == std::string_view::npos) return std::string();
  std::string successor(prefix.substr(0, last + 1));
  successor.back() = static_cast<char>(static_cast<uint8_t>(successor.back()) + 1);
  return successor;
}

}  // namespace itemdb::storage
