// SizeStatistics in memory return the values of the requested commit group.
#include "gtest/gtest.h"
#include "storage/store/size_statistics.h"

namespace itemdb::testing {
namespace {

constexpr uint64_t kTable = 7;
constexpr uint64_t kOther = 8;

TEST(CurrentStatistics, AreToldOnlyAsTheGroupLeftThem) {
  storage::CurrentStatistics size_statistics;
  size_statistics.Reset({{kTable, {.items = 1, .bytes = 10}}});
  EXPECT_EQ(size_statistics.At(5, kTable), (storage::SizeStatistics{.items = 1, .bytes = 10}));
  EXPECT_EQ(size_statistics.At(5, kOther), storage::SizeStatistics()) << "nothing was counted";
  size_statistics.Install(6, {{kTable, {.items = 2, .bytes = 20}}}, {});
  EXPECT_EQ(size_statistics.At(5, kTable), std::nullopt) << "it was changed since";
  EXPECT_EQ(size_statistics.At(5, kOther), storage::SizeStatistics());
  EXPECT_EQ(size_statistics.At(6, kTable), (storage::SizeStatistics{.items = 2, .bytes = 20}));
  EXPECT_EQ(size_statistics.Of(kTable), (storage::SizeStatistics{.items = 2, .bytes = 20}));
}

TEST(CurrentStatistics, OfWhatWasDroppedAreNotTakenForNone) {
  storage::CurrentStatistics size_statistics;
  size_statistics.Reset({{kTable, {.items = 1, .bytes = 10}}});
  size_statistics.Install(6, {}, {kTable});
  EXPECT_EQ(size_statistics.At(5, kTable), std::nullopt) << "it was there then";
  EXPECT_EQ(size_statistics.At(6, kTable), storage::SizeStatistics());
  EXPECT_EQ(size_statistics.Of(kTable), storage::SizeStatistics());
  size_statistics.Reset({});
  EXPECT_EQ(size_statistics.At(5, kTable), storage::SizeStatistics());
}

}  // namespace
}  // namespace itemdb::testing
