// Counters in memory are those of the commit group that is asked for.
#include "gtest/gtest.h"
#include "storage/store/counters.h"

namespace itemdb::testing {
namespace {

constexpr uint64_t kTable = 7;
constexpr uint64_t kOther = 8;

TEST(CurrentCounters, AreToldOnlyAsTheGroupLeftThem) {
  CurrentCounters counters;
  counters.Reset({{kTable, {.items = 1, .bytes = 10}}});
  EXPECT_EQ(counters.At(5, kTable), (Counters{.items = 1, .bytes = 10}));
  EXPECT_EQ(counters.At(5, kOther), Counters()) << "nothing was counted";
  counters.Commit(6, {{kTable, {.items = 2, .bytes = 20}}}, {});
  EXPECT_EQ(counters.At(5, kTable), std::nullopt) << "it was changed since";
  EXPECT_EQ(counters.At(5, kOther), Counters());
  EXPECT_EQ(counters.At(6, kTable), (Counters{.items = 2, .bytes = 20}));
  EXPECT_EQ(counters.Of(kTable), (Counters{.items = 2, .bytes = 20}));
}

TEST(CurrentCounters, OfWhatWasDroppedAreNotTakenForNone) {
  CurrentCounters counters;
  counters.Reset({{kTable, {.items = 1, .bytes = 10}}});
  counters.Commit(6, {}, {kTable});
  EXPECT_EQ(counters.At(5, kTable), std::nullopt) << "it was there then";
  EXPECT_EQ(counters.At(6, kTable), Counters());
  EXPECT_EQ(counters.Of(kTable), Counters());
  counters.Reset({});
  EXPECT_EQ(counters.At(5, kTable), Counters());
}

}  // namespace
}  // namespace itemdb::testing
