#include "storage/keys/key_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "storage/base/hex.h"
#include "storage/values/canonical.h"
#include "storage/values/number.h"
#include "tests/storage/values/decimal_oracle.h"
#include "tests/storage/values/random_item.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/paths.h"

namespace itemdb::storage {
namespace {

std::string Hex(std::string_view bytes) {
  std::string hex;
  for (char byte : bytes) {
    if (!hex.empty()) hex += " ";
    hex += absl::AsciiStrToUpper(absl::BytesToHexString(absl::string_view(&byte, 1)));
  }
  return hex;
}

std::string FromSpacedHex(std::string hex) {
  hex.erase(std::remove(hex.begin(), hex.end(), ' '), hex.end());
  return FromHex(hex);
}

std::string S(std::string_view text) { return EncodeValue(ValueType::kS, text); }
std::string B(std::string_view bytes) { return EncodeValue(ValueType::kB, bytes); }
std::string N(std::string_view text) { return *CanonicalizeValue(EncodeValue(ValueType::kN, text)); }

std::string Key(const std::string& value) {
  std::string key;
  AppendKeyValue(ValueView(value), &key);
  return key;
}

std::string Prefix(const std::string& value) {
  std::string prefix;
  AppendKeyPrefix(ValueView(value), &prefix);
  return prefix;
}

// The sign of the byte order, as RocksDB's bytewise comparator defines it.
int ByteOrder(std::string_view a, std::string_view b) {
  int order = std::char_traits<char>::compare(a.data(), b.data(), std::min(a.size(), b.size()));
  if (order == 0) order = static_cast<int>(a.size() > b.size()) - static_cast<int>(a.size() < b.size());
  return (order > 0) - (order < 0);
}

// The sign of the data model's order of two values of the same type (SEM-014).
int ModelOrder(ValueView a, ValueView b) {
  if (a.type() != ValueType::kN) return ByteOrder(a.payload(), b.payload());
  int order = DecimalOracle::Parse(a.payload()).Compare(DecimalOracle::Parse(b.payload()));
  return (order > 0) - (order < 0);
}

// Short values of few different bytes, so that common prefixes and the bytes 00, 01 and FF are frequent.
std::string RandomValue(std::mt19937_64& random, ValueType type) {
  if (type == ValueType::kN) return N(RandomNumberText(random));
  if (type == ValueType::kS) return S(RandomText(random, 4));
  static constexpr char kBytes[] = {'\x00', '\x01', '\x02', '\x61', '\xFE', '\xFF'};
  std::string bytes(Pick(random, 0, 4), '\0');
  for (char& byte : bytes) byte = kBytes[Pick(random, 0, std::size(kBytes) - 1)];
  return B(bytes);
}

constexpr ValueType kKeyTypes[] = {ValueType::kS, ValueType::kN, ValueType::kB};

// ---- golden bytes --------------------------------------------------------------------------------

// Reviewed by eye and never regenerated, because stored keys have these bytes.
TEST(KeyCodec, WritesTheGoldenBytes) {
  std::ifstream file(testing::SourcePath("tests/storage/keys/key_codec.golden"));
  ASSERT_TRUE(file.is_open());
  int count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    SCOPED_TRACE(line);
    std::istringstream fields(line);
    std::string type, text, expected;
    fields >> type >> text;
    std::getline(fields >> std::ws, expected);
    std::string value;
    if (type == "S") {
      value = S(text.substr(1, text.size() - 2));
    } else if (type == "S!") {
      value = S(FromSpacedHex(text));
    } else if (type == "B") {
      value = B(text == "-" ? "" : FromSpacedHex(text));
    } else {
      ASSERT_EQ(type, "N");
      value = N(text);
    }
    EXPECT_EQ(Hex(Key(value)), expected);
    std::string bytes = FromSpacedHex(expected);
    std::string_view in = bytes;
    absl::StatusOr<std::string> decoded = ConsumeKeyValue(&in);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, value);
    EXPECT_TRUE(in.empty());
    ++count;
  }
  EXPECT_GE(count, 44);
}

// ---- order ---------------------------------------------------------------------------------------

// `ascending` is in the expected order; its encodings are shuffled, sorted as bytes and compared.
void ExpectSorts(const std::vector<std::string>& ascending) {
  std::vector<std::string> keys;
  for (const std::string& value : ascending) keys.push_back(Key(value));
  std::vector<std::string> sorted = keys;
  std::shuffle(sorted.begin(), sorted.end(), std::mt19937_64(TestSeed()));
  std::sort(sorted.begin(), sorted.end(),
            [](const std::string& a, const std::string& b) { return ByteOrder(a, b) < 0; });
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(Hex(sorted[i]), Hex(keys[i])) << "at " << i;
}

TEST(KeyCodec, SortsStringsByUtf8Bytes_SEM_014) {
  const std::string zero(1, '\0');
  ExpectSorts({S(""),
               S(zero),
               S(zero + zero),
               S(zero + "\x01"),
               S(zero + "a"),
               S("\x01"),
               S("\x01" + zero),
               S("A"),
               S("Z"),
               S("a"),
               S("a" + zero),
               S("a" + zero + "b"),
               S("a\x01"),
               S("aa"),
               S("ab"),
               S("b"),
               S("\x7F"),
               S("é"),
               S("世"),
               S("\xEF\xBF\xBF"),
               S("🙂"),
               S("\xF4\x8F\xBF\xBF")});
}

TEST(KeyCodec, SortsBytesUnsigned_SEM_014) {
  const std::string zero(1, '\0');
  ExpectSorts({B(""), B(zero), B(zero + zero), B(zero + "\x01"), B(zero + "\xFF"), B("\x01"),
               B("\x01" + zero), B("\x01\xFF"), B("\x7F"), B("\x80"), B("\xFE\xFF"), B("\xFF"),
               B("\xFF" + zero), B("\xFF\x01"), B("\xFF\xFF"), B("\xFF\xFF" + zero), B("\xFF\xFF\xFF")});
}

TEST(KeyCodec, SortsNumbersByValue_SEM_014) {
  ExpectSorts({N("-9.9999999999999999999999999999999999999e125"),
               N("-1e125"),
               N("-1e38"),
               N("-1001"),
               N("-1000.1"),
               N("-1000"),
               N("-999"),
               N("-101"),
               N("-100.5"),
               N("-100"),
               N("-99"),
               N("-20"),
               N("-11"),
               N("-10.1"),
               N("-10"),
               N("-9.9"),
               N("-2"),
               N("-1.01"),
               N("-1.001"),
               N("-1"),
               N("-0.99"),
               N("-0.11"),
               N("-0.1"),
               N("-0.01"),
               N("-1e-129"),
               N("-1.1e-130"),
               N("-1e-130"),
               N("0"),
               N("1e-130"),
               N("1.1e-130"),
               N("1e-129"),
               N("0.01"),
               N("0.1"),
               N("0.11"),
               N("0.99"),
               N("1"),
               N("1.001"),
               N("1.01"),
               N("2"),
               N("9.9"),
               N("10"),
               N("10.1"),
               N("11"),
               N("20"),
               N("99"),
               N("100"),
               N("100.5"),
               N("101"),
               N("999"),
               N("1000"),
               N("1000.1"),
               N("1001"),
               N("1e38"),
               N("1e125"),
               N("9.9999999999999999999999999999999999999e125")});
}

TEST(KeyCodec, ByteOrderIsModelOrder_KeyOrder) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int equal = 0;
  for (int i = 0; i < 30'000; ++i) {
    ValueType type = kKeyTypes[i % 3];
    std::string a = RandomValue(random, type), b = RandomValue(random, type);
    int expected = ModelOrder(ValueView(a), ValueView(b));
    ASSERT_EQ(ByteOrder(Key(a), Key(b)), expected) << Hex(Key(a)) << " and " << Hex(Key(b));
    equal += expected == 0;
  }
  EXPECT_GT(equal, 0);
}

// A composite key sorts by its first attribute that differs, whatever follows.
TEST(KeyCodec, ByteOrderOfSequencesIsModelOrder_KeyOrder) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string a_key, b_key;
    int expected = 0;
    for (int64_t count = Pick(random, 2, 4); count > 0; --count) {
      ValueType type = kKeyTypes[Pick(random, 0, 2)];
      std::string a = RandomValue(random, type);
      std::string b = Pick(random, 0, 1) ? a : RandomValue(random, type);
      if (expected == 0) expected = ModelOrder(ValueView(a), ValueView(b));
      AppendKeyValue(ValueView(a), &a_key);
      AppendKeyValue(ValueView(b), &b_key);
    }
    ASSERT_EQ(ByteOrder(a_key, b_key), expected) << Hex(a_key) << " and " << Hex(b_key);
  }
}

// ---- decoding ------------------------------------------------------------------------------------

TEST(KeyCodec, EqualNumbersHaveOneEncoding_SEM_013_OneNumberOneKey) {
  for (std::string text : {"1000", "1e3", "1000.0", "+01000", "0.1E4"})
    EXPECT_EQ(Key(N(text)), Key(N("1000"))) << text;
  for (std::string text : {"-0", "0.00", "0e9"}) EXPECT_EQ(Key(N(text)), Key(N("0"))) << text;
}

TEST(KeyCodec, DecodingUndoesEncoding) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> values;
    std::string key;
    for (int64_t count = Pick(random, 1, 4); count > 0; --count) {
      values.push_back(RandomValue(random, kKeyTypes[Pick(random, 0, 2)]));
      AppendKeyValue(ValueView(values.back()), &key);
    }
    std::string_view in = key;
    for (const std::string& value : values) {
      ASSERT_EQ(KeyValueLength(in), Key(value).size()) << Hex(in);
      absl::StatusOr<std::string> decoded = ConsumeKeyValue(&in);
      ASSERT_TRUE(decoded.ok()) << decoded.status() << " " << Hex(in);
      ASSERT_EQ(*decoded, value) << Hex(key);
    }
    ASSERT_TRUE(in.empty());
  }
}

// If one encoding were a prefix of another, cutting the longer one would give the shorter one.
TEST(KeyCodec, RefusesEveryTruncation_PrefixFree) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = Key(RandomValue(random, kKeyTypes[i % 3]));
    for (size_t size = 0; size < key.size(); ++size) {
      std::string cut = key.substr(0, size);
      cut.shrink_to_fit();
      ASSERT_EQ(KeyValueLength(cut), std::nullopt) << Hex(cut);
      std::string_view in = cut;
      ASSERT_EQ(ConsumeKeyValue(&in).status().code(), absl::StatusCode::kDataLoss) << Hex(cut);
    }
  }
}

TEST(KeyCodec, RefusesWhatItNeverWrites) {
  std::string pairs_20;
  for (int i = 0; i < 20; ++i) pairs_20 += "0B ";
  const struct {
    std::string name, hex;
  } rows[] = {
      {"type 00", "00 61 00 01"},
      {"free type", "54 61 00 01"},
      {"type FF", "FF"},
      {"bad escape 00 00", "53 61 00 00 00 01"},
      {"bad escape 00 02", "53 61 00 02 00 01"},
      {"bad escape 00 FE", "42 00 FE 00 01"},
      {"escape at the end", "53 61 00"},
      {"no end", "53 61 62"},
      {"not UTF-8", "53 FF 00 01"},
      {"sign 00", "4E 00 82 0B 00"},
      {"sign 81", "4E 81"},
      {"sign FF", "4E FF 82 0B 00"},
      {"no digits", "4E C0 82 00"},
      {"no digits, negative", "4E 3F 7D FF"},
      {"first digit zero", "4E C0 82 0A 00"},
      {"first pair zero", "4E C0 82 01 0B 00"},
      {"last pair zero", "4E C0 82 0B 01 00"},
      {"last pair zero, negative", "4E 3F 7D F4 FE FF"},
      {"pair above 99", "4E C0 82 65 00"},
      {"pair above 99 behind", "4E C0 82 0B 65 00"},
      {"pair above 99, negative", "4E 3F 7D 9A FF"},
      {"40 digits", "4E C0 82 " + pairs_20 + "00"},
      {"end of the other sign", "4E C0 82 0B FF"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    std::string bytes = FromSpacedHex(row.hex);
    std::string_view in = bytes;
    absl::StatusOr<std::string> decoded = ConsumeKeyValue(&in);
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(ReasonOf(decoded.status()), kReasonDataLoss);
    EXPECT_EQ(KeyValueLength(bytes).has_value(), row.name == "not UTF-8");
  }
}

// Decoded bytes encode to the same bytes, so a damaged key never decodes as another notation of a valid key.
TEST(KeyCodec, AcceptsOnlyItsOwnBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string key = Key(RandomValue(random, kKeyTypes[i % 3]));
    for (int64_t flips = Pick(random, 1, 3); flips > 0; --flips) {
      key[Pick(random, 0, key.size() - 1)] = static_cast<char>(Pick(random, 0, 255));
    }
    std::string_view in = key;
    absl::StatusOr<std::string> decoded = ConsumeKeyValue(&in);
    if (!decoded.ok()) continue;
    ++accepted;
    ASSERT_EQ(Hex(Key(*decoded)), Hex(key.substr(0, key.size() - in.size())));
    absl::StatusOr<std::string> canonical = CanonicalizeValue(*decoded);
    ASSERT_TRUE(canonical.ok()) << canonical.status();
    ASSERT_EQ(*canonical, *decoded);
  }
  EXPECT_GT(accepted, 0);
}

// ---- bounds --------------------------------------------------------------------------------------

TEST(PrefixSuccessor, IsTheLeastKeyAfterThePrefix) {
  const struct {
    std::string prefix, expected;
  } rows[] = {
      {"", ""},
      {"00", "01"},
      {"FF", ""},
      {"FF FF", ""},
      {"61", "62"},
      {"61 FF", "62"},
      {"61 FF FF", "62"},
      {"61 FF 00", "61 FF 01"},
      {"00 FF", "01"},
      {"FF 00", "FF 01"},
      {"FE FF", "FF"},
      {"7F", "80"},
      {"FF 61 FF", "FF 62"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.prefix);
    EXPECT_EQ(Hex(PrefixSuccessor(FromSpacedHex(row.prefix))), row.expected);
  }
}

TEST(KeyCodec, BoundsBeginsWith) {
  const std::string zero(1, '\0');
  const struct {
    std::string name, prefix, lower, upper;
  } rows[] = {
      {"empty S", S(""), "53", "54"},
      {"S a", S("a"), "53 61", "53 62"},
      {"S 00", S(zero), "53 00 FF", "53 01"},
      {"S a 00", S("a" + zero), "53 61 00 FF", "53 61 01"},
      {"empty B", B(""), "42", "43"},
      {"B 00", B(zero), "42 00 FF", "42 01"},
      {"B FF", B("\xFF"), "42 FF", "43"},
      {"B FF FF", B("\xFF\xFF"), "42 FF FF", "43"},
      {"B 61 FF", B("a\xFF"), "42 61 FF", "42 62"},
      {"B 00 FF", B(zero + "\xFF"), "42 00 FF FF", "42 01"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    std::string lower = Prefix(row.prefix);
    EXPECT_EQ(Hex(lower), row.lower);
    EXPECT_EQ(Hex(PrefixSuccessor(lower)), row.upper);
  }
}

// begins_with on the last of several attributes selects exactly the keys whose earlier attributes are equal
// and whose value begins with the prefix.
TEST(KeyCodec, BoundsOfBeginsWithSelectExactlyTheValuesThatBegin) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int inside = 0;
  for (int i = 0; i < 60'000; ++i) {
    ValueType type = i % 2 == 0 ? ValueType::kS : ValueType::kB;
    std::string partition = RandomValue(random, kKeyTypes[Pick(random, 0, 2)]);
    std::string other = Pick(random, 0, 3) ? partition : RandomValue(random, ValueView(partition).type());
    std::string prefix = RandomValue(random, type), value = RandomValue(random, type);

    std::string lower = Key(partition);
    AppendKeyPrefix(ValueView(prefix), &lower);
    std::string upper = PrefixSuccessor(lower);
    std::string key = Key(other);
    AppendKeyValue(ValueView(value), &key);
    // A further sort attribute must not change the result.
    if (Pick(random, 0, 1))
      AppendKeyValue(ValueView(RandomValue(random, kKeyTypes[Pick(random, 0, 2)])), &key);

    bool expected = partition == other && ValueView(value).payload().starts_with(ValueView(prefix).payload());
    bool selected = ByteOrder(lower, key) <= 0 && ByteOrder(key, upper) < 0;
    ASSERT_EQ(selected, expected) << Hex(lower) << " <= " << Hex(key) << " < " << Hex(upper);
    inside += expected;
  }
  EXPECT_GT(inside, 1'000);
}

// An item collection is the range from its encoded partition key to the successor of that key.
TEST(KeyCodec, SuccessorOfAWholeValueBoundsItsItemCollection) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 30'000; ++i) {
    ValueType type = kKeyTypes[i % 3];
    std::string partition = RandomValue(random, type), other = RandomValue(random, type);
    std::string lower = Key(partition), upper = PrefixSuccessor(lower);
    std::string key = Key(other) + Key(RandomValue(random, kKeyTypes[Pick(random, 0, 2)]));
    ASSERT_EQ(ByteOrder(lower, key) <= 0 && ByteOrder(key, upper) < 0, partition == other)
        << Hex(lower) << " <= " << Hex(key) << " < " << Hex(upper);
  }
}

TEST(KeyCodecDeathTest, AbortsOnValuesNoKeyCanHave) {
  std::string out;
  EXPECT_DEATH(AppendKeyValue(ValueView(EncodeNull()), &out), "key attribute value");
  EXPECT_DEATH(AppendKeyPrefix(ValueView(N("1")), &out), "check failed");
}

}  // namespace
}  // namespace itemdb::storage
