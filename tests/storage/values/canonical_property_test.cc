// Canonical bytes compared with generated messages, and malformed input.
#include <gtest/gtest.h>

#include "google/protobuf/util/message_differencer.h"
#include "storage/values/canonical.h"
#include "tests/storage/values/random_item.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::storage {
namespace {

// Reads everything that a view offers; the returned sum keeps the compiler from dropping the reads.
size_t Walk(ValueView value);

size_t Walk(const ItemView& item) {
  size_t sum = 0;
  for (const AttributeView& attribute : item) sum += attribute.name.size() + Walk(attribute.value);
  return sum;
}

size_t Walk(ValueView value) {
  switch (value.type()) {
    case ValueType::kL: {
      size_t sum = 0;
      for (ValueView element : ListView(value.payload())) sum += Walk(element);
      return sum;
    }
    case ValueType::kM:
      return Walk(ItemView(value.payload()));
    case ValueType::kSS:
    case ValueType::kNS:
    case ValueType::kBS: {
      size_t sum = 0;
      for (std::string_view element : SetView(value.payload())) sum += element.size();
      return sum;
    }
    default:
      return value.payload().size();
  }
}

// Any input is refused, or its canonical form is stable and parses as an item of the generated class.
void CheckHostileInput(const std::string& encoded) {
  absl::StatusOr<std::string> canonical = CanonicalizeItem(encoded);
  if (!canonical.ok()) {
    ASSERT_EQ(canonical.status().code(), absl::StatusCode::kInvalidArgument);
    return;
  }
  v1::Item sent, kept;
  ASSERT_TRUE(sent.ParseFromString(encoded));
  ASSERT_TRUE(kept.ParseFromString(*canonical));
  ASSERT_EQ(kept.SerializeAsString(), *canonical);
  ASSERT_EQ(sent.attributes_size(), kept.attributes_size());
  absl::StatusOr<std::string> again = CanonicalizeItem(*canonical);
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(*again, *canonical);
  Walk(ItemView(*canonical));
  ItemSizeBytes(ItemView(*canonical));
}

TEST(CanonicalizeItem, GivesEqualItemsEqualBytes_EqualItemsEqualBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1'000; ++i) {
    v1::Item item = RandomCanonicalItem(random);
    const std::string expected = item.SerializeAsString();
    for (int way = 0; way < 3; ++way) {
      std::string sent = way == 0 ? expected : EncodeLoosely(item, random);
      absl::StatusOr<std::string> canonical = CanonicalizeItem(sent);
      ASSERT_TRUE(canonical.ok()) << canonical.status() << "\n" << item.DebugString();
      ASSERT_EQ(*canonical, expected) << item.DebugString();
    }
    v1::Item parsed;
    ASSERT_TRUE(parsed.ParseFromString(expected));
    ASSERT_TRUE(google::protobuf::util::MessageDifferencer::Equals(parsed, item));
    for (const v1::Attribute& attribute : item.attributes()) {
      std::string value = attribute.value().SerializeAsString();
      ASSERT_EQ(*CanonicalizeValue(value), value);
    }
  }
}

TEST(CanonicalizeItem, SurvivesEveryTruncationAndBitFlip) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 30; ++i) {
    v1::Item item = RandomCanonicalItem(random);
    const std::string encoded = i % 2 == 0 ? item.SerializeAsString() : EncodeLoosely(item, random);
    if (encoded.size() > 2'000) continue;
    for (size_t size = 0; size < encoded.size(); ++size) {
      // A copy of exactly this size, so that a sanitizer finds a read beyond the end.
      ASSERT_NO_FATAL_FAILURE(CheckHostileInput(std::string(encoded, 0, size)));
      std::string flipped = encoded;
      flipped[size] = static_cast<char>(flipped[size] ^ (1 << Pick(random, 0, 7)));
      ASSERT_NO_FATAL_FAILURE(CheckHostileInput(flipped));
      for (int64_t more = Pick(random, 1, 4); more > 0; --more) {
        flipped[Pick(random, 0, flipped.size() - 1)] = static_cast<char>(Pick(random, 0, 255));
      }
      ASSERT_NO_FATAL_FAILURE(CheckHostileInput(flipped));
    }
  }
}

TEST(CanonicalizeItem, SurvivesRandomBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(Pick(random, 0, 30), '\0');
    // Small bytes are more often valid tags and lengths.
    for (char& byte : bytes)
      byte = static_cast<char>(Pick(random, 0, 1) ? Pick(random, 0, 20) : Pick(random, 0, 255));
    ASSERT_NO_FATAL_FAILURE(CheckHostileInput(bytes));
    CanonicalizeValue(bytes).IgnoreError();
  }
}

// Views do not validate, but must not read outside their bytes, whatever the content.
TEST(Views, StayWithinDamagedBytes) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t sum = 0;
  for (int i = 0; i < 300; ++i) {
    std::string encoded = RandomCanonicalItem(random).SerializeAsString();
    for (int64_t cut = Pick(random, 0, 3); cut > 0 && !encoded.empty(); --cut) {
      encoded[Pick(random, 0, encoded.size() - 1)] = static_cast<char>(Pick(random, 0, 255));
    }
    encoded = encoded.substr(0, Pick(random, 0, encoded.size()));
    encoded.shrink_to_fit();
    for (const AttributeView& attribute : ItemView(encoded)) sum += attribute.value.payload().size();
    for (ValueView value : ListView(encoded)) sum += value.payload().size();
    for (std::string_view element : SetView(encoded)) sum += element.size();
    sum += ItemView(encoded).Count() + ItemView(encoded).Find("a").has_value();
  }
  EXPECT_GT(sum, 0u);
}

TEST(Views, ShowWhatTheMessageHolds) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 500; ++i) {
    v1::Item item = RandomCanonicalItem(random);
    const std::string encoded = item.SerializeAsString();
    std::string copied;
    int index = 0;
    for (const AttributeView& attribute : ItemView(encoded)) {
      const v1::Attribute& expected = item.attributes(index++);
      ASSERT_EQ(attribute.name, expected.name());
      ASSERT_EQ(static_cast<int>(attribute.value.type()), static_cast<int>(expected.value().value_case()));
      ASSERT_EQ(attribute.value.encoded(), expected.value().SerializeAsString());
      ASSERT_EQ(ItemView(encoded).Find(expected.name())->encoded(), attribute.value.encoded());
      AppendAttribute(attribute.name, attribute.value.encoded(), &copied);
    }
    ASSERT_EQ(index, item.attributes_size());
    ASSERT_EQ(copied, encoded);
    ASSERT_EQ(ItemView(encoded).Count(), static_cast<size_t>(index));
  }
}

}  // namespace
}  // namespace itemdb::storage
