#include "storage/keys/storage_id.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "storage/base/hex.h"

namespace itemdb::storage {
namespace {

std::string Encode(uint64_t storage_id) {
  std::string encoded;
  AppendStorageId(storage_id, &encoded);
  return encoded;
}

TEST(StorageId, HasTheBytesThatAreOnDisk) {
  const std::pair<uint64_t, const char*> rows[] = {{0, "00"},
                                                   {1, "01"},
                                                   {239, "ef"},
                                                   {240, "f0f0"},
                                                   {255, "f0ff"},
                                                   {256, "f10100"},
                                                   {65'535, "f1ffff"},
                                                   {65'536, "f2010000"},
                                                   {UINT64_MAX, "f7ffffffffffffffff"}};
  for (const auto& [storage_id, bytes] : rows) EXPECT_EQ(absl::BytesToHexString(Encode(storage_id)), bytes);
}

TEST(StorageId, IsReadBackFromTheFrontOfAKeyAndSortsAsANumber) {
  std::vector<uint64_t> storage_ids;
  for (uint64_t i = 0; i < 1'000; ++i) storage_ids.push_back(i);
  for (int shift = 0; shift < 64; ++shift) {
    for (int64_t near : {-1, 0, 1}) storage_ids.push_back((uint64_t{1} << shift) + near);
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 1'000; ++i) storage_ids.push_back(random() >> (random() % 64));
  for (const uint64_t one : storage_ids) {
    const std::string key = Encode(one) + "key";
    std::string_view rest = key;
    ASSERT_EQ(ConsumeStorageId(&rest), one);
    EXPECT_EQ(rest, "key");
    for (const uint64_t other : storage_ids) {
      ASSERT_EQ(Encode(one) < Encode(other), one < other) << one << " " << other;
      // Whatever bytes follow, the records of one id are next to each other.
      if (one < other) {
        ASSERT_LT(Encode(one) + std::string(3, '\xFF'), Encode(other));
      }
    }
  }
}

TEST(StorageId, IsRefusedInAnyOtherForm) {
  for (const char* hex :
       {"", "f0", "f000", "f0ef", "f100ff", "f1ff", "f20000ff", "f7ffffffffffffff", "f8", "ff"}) {
    const std::string bytes = FromHex(hex);
    std::string_view rest = bytes;
    EXPECT_FALSE(ConsumeStorageId(&rest).has_value()) << hex;
  }
}

}  // namespace
}  // namespace itemdb::storage
