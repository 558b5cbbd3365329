// The property test of the whole database: random operations on the database and on the model must have the
// same replies, outcomes, pages, change records and counts, also after closing and opening the database.
//
//   ITEMDB_TEST_SEED=n     repeats a failure with the seed that it printed; that round runs first
//   ITEMDB_TEST_ROUNDS=n   the number of rounds
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/storage/database/random/random_reads.h"
#include "tests/storage/database/random/random_writes.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

constexpr int kOperationsPerRound = 500;

int Rounds() {
  const char* given = std::getenv("ITEMDB_TEST_ROUNDS");
  return given != nullptr ? std::atoi(given) : 3;
}

DatabaseOptions RandomOptions(const std::string& directory, RandomRequests& random) {
  DatabaseOptions options = TestDatabase::DefaultOptions(directory);
  options.durable = random.Chance(0.2);
  // Sometimes the cache is so small that nearly all data comes from disk, on an I/O thread.
  if (random.Chance(0.5)) options.block_cache_bytes = 4096;
  return options;
}

void RunOne(SideBySide& both) {
  int kind = both.random.Pick(0, 999);
  if (kind < 3) return both.database.Reopen();
  if (kind < 6) return RandomWrite(both, RandomWriteKind::kReplaceTable);
  if (kind < 15) return RandomWrite(both, RandomWriteKind::kUpdateTable);
  if (kind < 290) return RandomWrite(both, RandomWriteKind::kPutItem);
  if (kind < 430) return RandomWrite(both, RandomWriteKind::kUpdateItem);
  if (kind < 500) return RandomWrite(both, RandomWriteKind::kDeleteItem);
  if (kind < 570) return RandomWrite(both, RandomWriteKind::kBatchWriteItem);
  if (kind < 660) return RandomWrite(both, RandomWriteKind::kTransactWriteItems);
  if (kind < 690) return RandomWrite(both, RandomWriteKind::kRepeatRequest);
  if (kind < 740) return RandomRead(both, RandomReadKind::kGetItem);
  if (kind < 780) return RandomBatchGet(both);
  if (kind < 820) return RandomTransactGet(both);
  if (kind < 940) return RandomRead(both, RandomReadKind::kQuery);
  if (kind < 960) return RandomRead(both, RandomReadKind::kScanSegments);
  RandomRead(both, RandomReadKind::kScan);
}

void ExpectCounts(SideBySide& both, const TableModel& table) {
  v1::DescribeTableRequest request;
  request.set_table_name(table.name());
  auto reply = both.database->DescribeTable(request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  auto expect = [&table](const ModelIndex* index, int64_t count, int64_t bytes) {
    std::vector<ModelEntry> entries = table.Entries(index);
    EXPECT_EQ(count, static_cast<int64_t>(entries.size()));
    for (const ModelEntry& entry : entries) bytes -= SizeOf(entry.item);
    EXPECT_EQ(bytes, 0) << "bytes too many";
  };
  expect(nullptr, reply->table().item_count(), reply->table().table_size_bytes());
  auto index = table.indexes().begin();
  for (const auto& described : reply->table().global_secondary_indexes())
    expect(&*index++, described.item_count(), described.index_size_bytes());
  for (const auto& described : reply->table().local_secondary_indexes())
    expect(&*index++, described.item_count(), described.index_size_bytes());
}

void ExpectChanges(SideBySide& both) {
  size_t position = 0;
  int64_t last_time = 0;
  while (position < both.log.size()) {
    v1::ReadChangesRequest request;
    request.set_after_sequence(position);
    request.set_limit(both.random.Pick(1, 20));
    auto reply =
        Await<v1::ReadChangesReply>([&](auto done) { both.database->ReadChanges(request, std::move(done)); });
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_FALSE(reply->records().empty());
    EXPECT_EQ(reply->change_sequence(), both.log.size());
    // No more records than requested, except for the rest of the last commit.
    uint64_t last_asked =
        reply->records(std::min(reply->records_size(), request.limit()) - 1).commit_last_sequence();
    EXPECT_LE(reply->records(reply->records_size() - 1).change_sequence(), last_asked);
    EXPECT_EQ(reply->records(reply->records_size() - 1).commit_last_sequence(),
              position + static_cast<size_t>(reply->records_size()));
    for (auto& record : *reply->mutable_records()) {
      ASSERT_LT(position, both.log.size());
      EXPECT_GE(record.commit_time_us(), last_time);
      last_time = record.commit_time_us();
      record.clear_commit_time_us();
      ASSERT_EQ(record.SerializeAsString(), both.log[position].SerializeAsString())
          << record.ShortDebugString() << "\nexpected " << both.log[position].ShortDebugString();
      ++position;
    }
  }
}

// Compares the whole content.
void ExpectSame(SideBySide& both) {
  both.database.Reopen();
  both.database.CheckIsClean();
  ExpectChanges(both);
  for (auto& [name, table] : both.tables) {
    SCOPED_TRACE("table " + name);
    ExpectCounts(both, table);
    ExpectAllPages(both, table, nullptr);
    for (const ModelIndex& index : table.indexes()) {
      SCOPED_TRACE("index " + index.name);
      ExpectAllPages(both, table, &index);
    }
  }
}

TEST(RandomOperations, AnswerAsPlainMapsDo) {
  uint64_t seed = TestSeed();
  for (int round = 0; round < Rounds() && !HasFailure(); ++round, ++seed) {
    std::printf("round %d: ITEMDB_TEST_SEED=%llu\n", round, static_cast<unsigned long long>(seed));
    SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
    SideBySide both(seed, RandomOptions);
    for (const char* name : {"first", "second", "third"}) CreateRandomTable(both, name);
    for (int i = 1; i <= kOperationsPerRound && !HasFailure(); ++i) {
      SCOPED_TRACE("operation " + std::to_string(i));
      RunOne(both);
      if (i % (kOperationsPerRound / 2) == 0 && !HasFailure()) ExpectSame(both);
    }
  }
}

}  // namespace
}  // namespace itemdb::testing
