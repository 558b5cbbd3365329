// kill -9 while an index of a live table is backfilled or deleted, under concurrent writes, again and again
// on one database. Afterwards the index is complete or does not exist, a started backfill continues by
// itself, and no acknowledged write is lost.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "itemdb/bulk_writer.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

constexpr int kItems = testing::kHasSanitizer ? 3'000 : 20'000;

constexpr char kTable[] = "Things";
constexpr char kIndex[] = "ByGroup";

constexpr int kWriters = 2;

using Clock = std::chrono::steady_clock;

Item Thing(int64_t id, int64_t version) {
  return {{"pk", std::to_string(id)}, {"group", "g" + std::to_string(version % 10)}, {"version", version}};
}

class Kill9IndexBuildTest : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    Client client = OpenClient();
    ASSERT_TRUE(client
                    .CreateTable({.table_name = kTable,
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
    BulkWriter writer(client);
    for (int i = 0; i < kItems; ++i) ASSERT_TRUE(writer.Put(kTable, Thing(i, i)).ok());
    ASSERT_TRUE(writer.Finish().ok());
  }

  absl::Status AddIndex(Client& client) {
    return client
        .UpdateTable({.table_name = kTable,
                      .create_global_secondary_index =
                          GlobalSecondaryIndex{.index_name = kIndex,
                                               .key_schema = {{"group", KeyType::kHash}},
                                               .projection = {.projection_type = ProjectionType::kAll}},
                      .attribute_definitions = {{"group", ScalarAttributeType::kString}}},
                     OneAttempt())
        .status();
  }
  absl::Status DropIndex(Client& client) {
    return client.UpdateTable({.table_name = kTable, .delete_global_secondary_index = kIndex}, OneAttempt())
        .status();
  }
  // Empty if the index does not exist.
  std::optional<TableStatus> IndexStatus(Client& client) {
    auto described = client.DescribeTable(kTable);
    EXPECT_TRUE(described.ok()) << described.status();
    if (!described.ok() || described->table.indexes.empty()) return std::nullopt;
    return described->table.indexes[0].index_status;
  }
  void AwaitActive(Client& client) {
    for (int i = 0; i < 60'000; ++i) {
      const std::optional<TableStatus> status = IndexStatus(client);
      ASSERT_TRUE(status.has_value()) << "the index is gone";
      if (status == TableStatus::kActive) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    FAIL() << "the index was not filled";
  }
  void Restart() {
    daemon_.Kill();
    absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }

  // The writes of one thread until the kill: items whose number modulo kWriters is `rest`, with increasing
  // versions.
  struct Written {
    int64_t rest = 0;
    // The last acknowledged version of each item, and the last write that was sent.
    std::map<int64_t, int64_t> acknowledged = {};
    int64_t last_id = 0;
    int64_t last_version = 0;
  };
  void Write(Written& written, uint64_t seed, const std::atomic<bool>& killed) {
    Random random(seed);
    Client client = OpenClient();
    // Ends with `killed`, because a put may never meet the kill and would continue after the restart.
    while (!killed) {
      written.last_id = Pick(random, 0, kItems / kWriters - 1) * kWriters + written.rest;
      written.last_version = ++version_;
      const auto put = client.PutItem(
          {.table_name = kTable, .item = Thing(written.last_id, written.last_version)}, OneAttempt());
      if (!put.ok()) {
        EXPECT_TRUE(killed) << "refused while the daemon ran: " << put.status();
        return;
      }
      written.acknowledged[written.last_id] = written.last_version;
    }
  }

  void ExpectEverythingIsThere(Client& client, const std::vector<Written>& written) {
    std::map<int64_t, int64_t> stored;
    ItemRange items = client.ScanAll({.table_name = kTable});
    for (const Item& item : items) {
      stored[std::stoll(*item.find_or_null("pk")->string_or_null())] =
          item.find_or_null("version")->number_or_null()->ToInt64().value_or(-1);
    }
    ASSERT_TRUE(items.status().ok()) << items.status();
    EXPECT_EQ(stored.size(), static_cast<size_t>(kItems));
    for (const Written& one : written) {
      for (const auto& [id, version] : one.acknowledged) {
        // The write that the kill interrupted may have been applied.
        const bool is_last = id == one.last_id && stored[id] == one.last_version;
        EXPECT_TRUE(is_last || stored[id] == version) << id << " has version " << stored[id];
      }
    }
  }

  std::atomic<int64_t> version_ = kItems;
};

// The backfill of an index on a live table (SEM-097).
TEST_F(Kill9IndexBuildTest, LeavesAWholeIndexOrNoneAndFinishesWhatWasUnderWay) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  const int cycles = Kills();

  // The duration of an undisturbed backfill, so that kills can come at any point of it.
  Client client = OpenClient();
  const Clock::time_point begin = Clock::now();
  ASSERT_TRUE(AddIndex(client).ok());
  AwaitActive(client);
  int64_t whole_us = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();

  int while_filling = 0;
  int64_t acknowledged = 0;
  // Runs more cycles until at least one kill has hit a backfill.
  const int most = cycles + 50;
  for (int cycle = 0; (cycle < cycles || (while_filling == 0 && cycle < most)) && !HasFailure(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    std::atomic<bool> killed = false;
    std::vector<Written> written(kWriters);
    for (int i = 0; i < kWriters; ++i) written[i].rest = i;
    std::vector<std::thread> writers;
    for (Written& one : written)
      writers.emplace_back(
          [this, &one, &killed, writer_seed = random()] { Write(one, writer_seed, killed); });

    EXPECT_TRUE(DropIndex(client).ok());
    absl::Status added = absl::UnknownError("not tried");
    // The kill may also come before the index is requested, or before the request is answered.
    std::thread definer([&, wait_us = Pick(random, 0, whole_us / 10)] {
      std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
      added = AddIndex(client);
    });
    // Up to twice the duration, because the writers slow the backfill down.
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, 2 * whole_us)));
    killed = true;
    Restart();
    definer.join();
    for (std::thread& writer : writers) writer.join();
    if (HasFatalFailure()) return;
    for (const Written& one : written) acknowledged += static_cast<int64_t>(one.acknowledged.size());

    std::optional<TableStatus> status = IndexStatus(client);
    EXPECT_TRUE(status.has_value() || !added.ok()) << "an index that was said to be created is gone";
    // Adjusts the duration to the current speed of the machine.
    if (status == TableStatus::kActive) whole_us = whole_us * 3 / 4 + 1;
    if (!status.has_value()) whole_us = whole_us * 5 / 4 + 1;
    if (status == TableStatus::kCreating) {
      ++while_filling;
      // Sometimes kills again while the backfill continues.
      if (Pick(random, 0, 3) == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, whole_us)));
        ASSERT_NO_FATAL_FAILURE(Restart());
        status = IndexStatus(client);
        EXPECT_TRUE(status.has_value());
      }
    }
    if (!status.has_value()) {
      ASSERT_TRUE(AddIndex(client).ok());
    }
    ASSERT_NO_FATAL_FAILURE(AwaitActive(client));
    ExpectEverythingIsThere(client, written);
    ExpectCheckIsClean();
    auto described = client.DescribeTable(kTable);
    ASSERT_TRUE(described.ok()) << described.status();
    EXPECT_EQ(described->table.indexes[0].item_count, kItems);
  }
  std::printf("%d kills, %d of them while the index was being filled, %ld items written\n", cycles,
              while_filling, static_cast<long>(acknowledged));
  EXPECT_GT(while_filling, 0) << "no kill hit an index that was being filled, so this tested little";
}

}  // namespace
}  // namespace itemdb::e2e
