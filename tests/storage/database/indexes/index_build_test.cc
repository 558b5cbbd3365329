// An index that is created during random writes equals the index of a table without writes.
//
//   ITEMDB_TEST_SEED=n          runs only that seed
//   ITEMDB_INDEX_BUILD_SEEDS=n  the number of seeds (default 20)
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/storage/database/requests.h"
#include "tests/support/live_index.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

constexpr int kWriters = 3;
constexpr uint64_t kKeys = 120;
// Each writer makes at least this many writes, and stops when the indexes are ACTIVE.
constexpr int kMinWrites = 60;

class RandomWriter {
 public:
  RandomWriter(TestDatabase& database, uint64_t seed) : database_(database), random_(seed) {}

  void Write() {
    switch (random_() % 6) {
      case 0:
        return Expect(database_.Delete("Things", {{"pk", S(Pick())}, {"sk", S("s")}}).status());
      case 1:
      case 2:
        return Expect(database_.Update(Set(Pick())).status());
      case 3:
        return Expect(
            database_.Update(UpdateRequest("Things", {{"pk", S(Pick())}, {"sk", S("s")}}, "REMOVE grp"))
                .status());
      case 4: {
        wire::TransactWriteItemsRequest request;
        const uint64_t first = random_() % kKeys;
        for (uint64_t i = 0; i < 3; ++i)
          *request.add_transact_items()->mutable_update() = Set(Name((first + i) % kKeys));
        return Expect(database_.Transact(request).status());
      }
      default:
        return Expect(database_
                          .Put("Things", {{"pk", S(Pick())},
                                          {"sk", S("s")},
                                          {"grp", Group()},
                                          {"n", Number()},
                                          {"padding", S(std::string(random_() % 200, 'x'))}})
                          .status());
    }
  }

 private:
  static std::string Name(uint64_t i) { return "p" + std::to_string(i); }
  std::string Pick() { return Name(random_() % kKeys); }
  v1::AttributeValue Group() { return S("g" + std::to_string(random_() % 7)); }
  v1::AttributeValue Number() { return N(std::to_string(random_() % 5)); }
  wire::WriteItemRequest Set(const std::string& pk) {
    return UpdateRequest("Things", {{"pk", S(pk)}, {"sk", S("s")}}, "SET grp = :g, n = :n",
                         {{":g", Group()}, {":n", Number()}});
  }
  static void Expect(const absl::Status& status) { ASSERT_TRUE(status.ok()) << status; }

  TestDatabase& database_;
  std::mt19937_64 random_;
};

std::vector<std::string> ScanIndex(TestDatabase& database, const std::string& index) {
  wire::PageRequest request = ScanRequest("Things");
  request.set_index_name(index);
  return ScanAll(database, request);
}

void RunSeed(uint64_t seed) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.durable = random() % 2 == 0;
  options.index_build_bytes = 1'000 << random() % 7;
  if (random() % 2 == 0) options.memtable_bytes = 1 << 20;
  // A build pins the changes that it needs, whatever the retention.
  if (random() % 2 == 0) {
    options.change_retention = std::chrono::milliseconds(1);
    options.change_trim_interval = std::chrono::milliseconds(1);
  }
  TestDatabase database(options);
  auto table = TableRequest("Things");
  if (random() % 2 == 0) table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  AddIndex(&table, "Before", {"grp:S", "n:N"}, 1, v1::PROJECTION_TYPE_ALL);
  database.CreateTable(table);
  RandomWriter first(database, random());
  const uint64_t prepared = random() % 300;
  for (uint64_t i = 0; i < prepared && !::testing::Test::HasFailure(); ++i) first.Write();

  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  const auto start_writers = [&] {
    stop = false;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&database, &stop, writer_seed = random()] {
        RandomWriter writer(database, writer_seed);
        for (int written = 0; (written < kMinWrites || !stop) && !::testing::Test::HasFailure(); ++written)
          writer.Write();
      });
    }
  };
  const auto stop_writers = [&] {
    stop = true;
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  };
  start_writers();
  // Some indexes are deleted before they are ACTIVE.
  const uint64_t given_up = random() % 3;
  const auto create = CreateIndexRequest("Things", "After", {"grp:S", "n:N"}, 1);
  for (uint64_t i = 0; i <= given_up; ++i) {
    auto created = UpdateTable(*database, create);
    EXPECT_TRUE(created.ok()) << created.status();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    if (i == given_up) break;
    auto deleted = UpdateTable(*database, DeleteIndexRequest("Things", "After"));
    EXPECT_TRUE(deleted.ok()) << deleted.status();
  }
  // Some builds continue after one or several restarts.
  for (uint64_t restarts = random() % 3; restarts > 0; --restarts) {
    stop_writers();
    database.Reopen();
    start_writers();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
  }
  AwaitIndexes(*database, "Things");
  stop_writers();
  EXPECT_EQ(ScanIndex(database, "After"), ScanIndex(database, "Before"));
  database.CheckIsClean();
  // The index stays equal after further writes and a restart.
  for (int i = 0; i < 20; ++i) first.Write();
  database.Reopen();
  EXPECT_EQ(ScanIndex(database, "After"), ScanIndex(database, "Before"));
  database.CheckIsClean();
}

TEST(IndexBuild, UnderWritesGivesTheIndexOfAQuietTable) {
  if (const char* chosen = std::getenv("ITEMDB_TEST_SEED"); chosen != nullptr)
    return RunSeed(std::strtoull(chosen, nullptr, 10));
  const char* given = std::getenv("ITEMDB_INDEX_BUILD_SEEDS");
  const int seeds = given != nullptr ? std::atoi(given) : Repetitions(20);
  for (int seed = 0; seed < seeds && !HasFailure(); ++seed) RunSeed(static_cast<uint64_t>(seed));
}

}  // namespace
}  // namespace itemdb::testing
