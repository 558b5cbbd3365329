// The bounded counts of keys against exact ones.

#include "storage/patterns/top_keys.h"

#include <map>
#include <random>

#include "gmock/gmock.h"

namespace itemdb::testing {
namespace {

using storage::TopKeys;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Names(const std::vector<TopKeys::Counted>& top) {
  std::vector<std::string> names;
  for (const auto& one : top) names.push_back(one.key);
  return names;
}

TEST(TopKeysTest, FewKeysAreCountedExactly) {
  TopKeys keys(4);
  EXPECT_THAT(keys.Top(10), IsEmpty());
  for (const auto& [key, weight] : std::initializer_list<std::pair<const char*, double>>{
           {"a", 1}, {"b", 0.5}, {"c", 2}, {"b", 2.5}, {"d", 3}})
    keys.Add(key, weight);
  const auto top = keys.Top(10);
  EXPECT_THAT(Names(top), ElementsAre("b", "d", "c", "a"));
  EXPECT_EQ(top[0].count, 3);
  EXPECT_EQ(top[0].error, 0);
  EXPECT_THAT(Names(keys.Top(2)), ElementsAre("b", "d"));
}

TEST(TopKeysTest, ANewKeyTakesThePlaceOfTheLeast) {
  TopKeys keys(2);
  keys.Add("a", 5);
  keys.Add("b", 2);
  keys.Add("c", 1);
  const auto top = keys.Top(10);
  EXPECT_THAT(Names(top), ElementsAre("a", "c"));
  EXPECT_EQ(top[1].count, 3);
  EXPECT_EQ(top[1].error, 2);
}

// 200,000 weights of 20,000 keys, the n-th of which is used in proportion to 1 / n. No guarantee may fail.
TEST(TopKeysTest, AgreesWithExactCountsWithinItsError) {
  constexpr size_t kPlaces = 200;
  std::vector<double> shares;
  for (int n = 1; n <= 20'000; ++n) shares.push_back(1.0 / n);
  std::mt19937_64 random(18);
  std::discrete_distribution<int> key(shares.begin(), shares.end());
  std::uniform_int_distribution<int> halves(1, 8);
  TopKeys counted(kPlaces);
  std::map<std::string, double> exact;
  double all = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "customer number " + std::to_string(key(random));
    const double weight = halves(random) / 2.0;
    counted.Add(name, weight);
    exact[name] += weight;
    all += weight;
  }
  const auto top = counted.Top(1'000);
  ASSERT_THAT(top, SizeIs(kPlaces));
  std::map<std::string, double> kept;
  double sum = 0;
  for (const auto& one : top) {
    kept[one.key] = one.count;
    sum += one.count;
    EXPECT_GE(one.count, exact[one.key]) << one.key;
    EXPECT_LE(one.count - one.error, exact[one.key]) << one.key;
    EXPECT_LE(one.error, all / kPlaces) << one.key;
  }
  EXPECT_EQ(sum, all);
  int frequent = 0;
  for (const auto& [name, weight] : exact) {
    if (weight <= all / kPlaces) continue;
    ++frequent;
    EXPECT_TRUE(kept.contains(name)) << name << ": " << weight;
  }
  EXPECT_GT(frequent, 10);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(top[i].key, "customer number " + std::to_string(i));
}

}  // namespace
}  // namespace itemdb::testing
