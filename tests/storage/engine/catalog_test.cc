// The catalog compared with a plain map after many random changes; and a catalog does not change when another
// one is made from it.
#include "storage/catalog/catalog.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

using Names = std::map<std::string, uint64_t>;

std::shared_ptr<const storage::Table> NewTable(const std::string& name, uint64_t storage_id) {
  auto table = std::make_shared<storage::Table>();
  table->name = name;
  table->storage_id = storage_id;
  return table;
}

Names NamesOf(const storage::Catalog& catalog) {
  Names names;
  std::string last;
  for (const auto& table : catalog) {
    EXPECT_LT(last, table->name);
    last = table->name;
    names.emplace(table->name, table->storage_id);
  }
  EXPECT_EQ(names.size(), catalog.size());
  return names;
}

void ExpectFinds(const storage::Catalog& catalog, const Names& expected, const std::string& name) {
  const auto found = expected.find(name);
  const auto table = catalog.FindByName(name);
  ASSERT_EQ(table != nullptr, found != expected.end()) << name;
  if (table != nullptr) {
    EXPECT_EQ(table->storage_id, found->second);
  }
  const auto expect_at = [&](storage::Catalog::Iterator it, Names::const_iterator at) {
    ASSERT_EQ(it == catalog.end(), at == expected.end()) << name;
    if (at != expected.end()) {
      EXPECT_EQ((*it)->name, at->first);
    }
  };
  expect_at(catalog.LowerBound(name), expected.lower_bound(name));
  expect_at(catalog.UpperBound(name), expected.upper_bound(name));
}

TEST(CatalogTest, IsAMapThatKeepsItsFormerStates) {
  std::mt19937_64 random(storage::TestSeed());
  auto catalog = std::make_shared<const storage::Catalog>();
  Names expected;
  std::vector<std::pair<std::shared_ptr<const storage::Catalog>, Names>> former;
  // Grows to some hundred tables, shrinks to none, and so on.
  for (int step = 0; step < 20'000; ++step) {
    const bool growing = step / 2'500 % 2 == 0;
    const std::string name = "t" + std::to_string(random() % 1'000);
    if (random() % 4 == 0 ? !growing : growing) {
      expected[name] = step;
      catalog = catalog->With(NewTable(name, step));
    } else if (const auto at = expected.lower_bound(name); at != expected.end()) {
      catalog = catalog->Without(at->first);
      expected.erase(at);
    } else if (!expected.empty()) {
      catalog = catalog->Without(expected.begin()->first);
      expected.erase(expected.begin());
    }
    ExpectFinds(*catalog, expected, "t" + std::to_string(random() % 1'000));
    if (step % 500 == 0) former.emplace_back(catalog, expected);
  }
  former.emplace_back(catalog, expected);
  for (const auto& [then, names] : former) EXPECT_EQ(NamesOf(*then), names);
}

TEST(CatalogTest, OfTablesThatAreThere) {
  std::vector<std::shared_ptr<const storage::Table>> tables;
  for (int i = 1'000; i < 1'300; ++i) tables.push_back(NewTable(std::to_string(i), i));
  const storage::Catalog catalog(tables);
  EXPECT_EQ(catalog.size(), 300u);
  const Names names = NamesOf(catalog);
  for (const char* name : {"", "1000", "1063", "1064", "1299", "13", "2"}) ExpectFinds(catalog, names, name);
  EXPECT_EQ(NamesOf(*catalog.Without("1128")).size(), 299u);
}

}  // namespace
}  // namespace itemdb::testing
