#include "storage/values/utf8.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace itemdb::storage {
namespace {

// The definition of UTF-8, implemented slowly: decode, then refuse bytes that differ from the encoding of the
// decoded character.
bool IsCharacter(const std::string& bytes) {
  auto at = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  size_t length = at(0) < 0x80 ? 1 : at(0) >> 5 == 6 ? 2 : at(0) >> 4 == 14 ? 3 : at(0) >> 3 == 30 ? 4 : 0;
  if (length != bytes.size()) return false;
  uint32_t character = length == 1 ? at(0) : at(0) & (0x7F >> length);
  for (size_t i = 1; i < length; ++i) {
    if (at(i) >> 6 != 2) return false;
    character = character << 6 | (at(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  return character >= kLeast[length] && character <= 0x10FFFF && (character < 0xD800 || character > 0xDFFF);
}

TEST(Utf8, KnowsEveryTwoByteSequence) {
  for (int a = 0; a < 256; ++a) {
    std::string one(1, static_cast<char>(a));
    ASSERT_EQ(IsValidUtf8(one), a < 0x80) << a;
    for (int b = 0; b < 256; ++b) {
      std::string two = {static_cast<char>(a), static_cast<char>(b)};
      ASSERT_EQ(IsValidUtf8(two), IsCharacter(two) || (a < 0x80 && b < 0x80)) << a << " " << b;
    }
  }
}

// The second byte decides about overlong forms, surrogates and the upper end; the later bytes need only be
// continuation bytes.
TEST(Utf8, KnowsEveryLeadWithEverySecondByte) {
  const uint8_t later[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
  for (int a = 0xC0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      for (uint8_t c : later) {
        std::string three = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c)};
        bool split = IsCharacter(three.substr(0, 2)) && c < 0x80;
        ASSERT_EQ(IsValidUtf8(three), IsCharacter(three) || split) << a << " " << b << " " << int{c};
        for (uint8_t d : later) {
          std::string four = three + static_cast<char>(d);
          bool valid = IsCharacter(four) || (IsValidUtf8(three) && d < 0x80) ||
                       (IsCharacter(four.substr(0, 2)) && IsCharacter(four.substr(2)));
          ASSERT_EQ(IsValidUtf8(four), valid) << a << " " << b << " " << int{c} << " " << int{d};
        }
      }
    }
  }
}

// The code checks eight bytes at once, and must find an invalid byte at each place.
TEST(Utf8, FindsABadByteAnywhere) {
  for (size_t size = 1; size < 40; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      ASSERT_TRUE(IsValidUtf8(text));
      text[at] = '\x80';
      ASSERT_FALSE(IsValidUtf8(text)) << size << " " << at;
    }
  }
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8(std::string(3, '\0')));
  EXPECT_TRUE(IsValidUtf8("Grüße, 世界, 🙂 and on"));
}

}  // namespace
}  // namespace itemdb::storage
