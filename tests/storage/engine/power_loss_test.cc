// Power cuts at random moments, with several writers: invariants AckMeansDurable, OneBatch and ChangeOrder.
//
// A seed decides the writes, the moment of the cut, and which unsynced data survives. It does not decide how
// the threads interleave, so a failing seed may need several runs. ITEMDB_TEST_SEED=N runs only that seed,
// and with ITEMDB_POWER_CUTS=M the M seeds from N on.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "gtest/gtest.h"
#include "storage/restore.h"
#include "tests/storage/engine/order_workload.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"
#include "tests/support/repetitions.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr uint64_t kSeeds = kHasSanitizer ? 25 : 200;
constexpr uint64_t kRelaxedSeeds = Repetitions<uint64_t>(60);
constexpr int kMachinesAtOnce = 12;
constexpr int kWriters = 4;
constexpr int kStepsPerWriter = 60;

bool SeedsAreGiven() { return std::getenv("ITEMDB_TEST_SEED") != nullptr; }

// `count` seeds from `first` on, or those of the environment.
std::vector<uint64_t> Seeds(uint64_t first, uint64_t count) {
  if (const char* chosen = std::getenv("ITEMDB_TEST_SEED"); chosen != nullptr) {
    const char* more = std::getenv("ITEMDB_POWER_CUTS");
    first = std::strtoull(chosen, nullptr, 10);
    count = more == nullptr ? 1 : std::strtoull(more, nullptr, 10);
  }
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < count; ++i) seeds.push_back(first + i);
  return seeds;
}

// One machine, whose power fails once or twice.
class Machine {
 public:
  struct Outcome {
    bool opened = false;
    // The greatest acknowledged sequence, and the last sequence that was found afterwards.
    uint64_t acknowledged_sequence = 0;
    uint64_t found_sequence = 0;
    int64_t acknowledged_writes = 0;
    int64_t unknown_writes = 0;
    // Databases that were restored from the archive.
    int64_t restored = 0;
  };

  Machine(uint64_t seed, bool durable) : seed_(seed), random_(seed), durable_(durable) {
    memtable_bytes_ = random_() % 2 == 0 ? 1 << 20 : 8 << 20;
    std::filesystem::create_directory(root_);
    PowerOn();
  }

  Outcome Run() {
    const LostBytes lost_bytes = seed_ % 3 == 1 ? LostBytes::kAnySectors : LostBytes::kEnd;
    RunUntilPowerFails();
    disk_->DropUnsynced(seed_, lost_bytes);
    if (random_() % 3 == 0) {
      // The power fails again during recovery.
      PowerOn();
      disk_->CutPowerAfter(random_() % 60);
      (void)Database::Open(Options());
      disk_->DropUnsynced(seed_ + 1, lost_bytes);
    }
    PowerOn();
    LookAtWhatIsLeft();
    return outcome_;
  }

 private:
  void PowerOn() {
    disk_.reset();  // Two objects would use the same sibling directory.
    disk_ = std::make_shared<PowerLossFileSystem>(root_);
    disk_->SetFreeSpace(128 << 20);  // Too little for a ballast, which would write 32 MiB for every seed.
  }

  DatabaseOptions Options() const {
    DatabaseOptions options = TestDatabase::DefaultOptions(root_ + "/data");
    options.durable = durable_;
    options.memtable_bytes = memtable_bytes_;
    options.file_system = disk_;
    if (seed_ / 2 % 2 == 0) options.encryption_keys = KeysOf({"key"});
    // Of the others half have spare logs.
    if (seed_ / 4 % 2 == 0) options.spare_log_after_bytes = 4 << 10;
    if (archives_) {
      options.archive_directory = root_ + "/archive";
      options.backup_directory = root_ + "/backups";
      options.archive_interval = std::chrono::milliseconds(1 + seed_ % 7);
    }
    // Reclaiming syncs data, and then a cut loses less.
    if (!durable_ && seed_ % 2 == 0) options.reclaim_interval = std::chrono::hours(1);
    return options;
  }

  // Of eight cuts one comes while the database is created, one while the tables are created, the others
  // during the writes.
  void RunUntilPowerFails() {
    uint64_t phase = random_() % 8;
    if (phase == 0) disk_->CutPowerAfter(random_() % 60);
    auto opened = Database::Open(Options());
    if (!opened.ok()) return;
    std::unique_ptr<Database> database = *std::move(opened);
    if (phase == 1) disk_->CutPowerAfter(random_() % 40);
    auto created = CreateTable(*database, OrderTableRequest());
    if (!created.ok()) return;
    has_table_ = true;
    outcome_.acknowledged_sequence = created->change_sequence();

    disk_->CutPowerAfter(random_() % 400);
    for (int i = 0; i < kWriters; ++i) {
      writers_.push_back(OrderWriter(
          {.seed = seed_, .number = i, .max_padding_bytes = memtable_bytes_ >= 8 << 20 ? 800u : 8'000u}));
    }
    std::vector<std::thread> threads;
    for (OrderWriter& writer : writers_) {
      threads.emplace_back([&writer, &database] {
        for (int step = 0; step < kStepsPerWriter; ++step) {
          if (!writer.Step(*database)) return;
        }
      });
    }
    switch (random_() % 3) {
      case 0:
        ChangeTables(*database);
        break;
      case 1:
        ChangeIndexes(*database);
        break;
    }
    for (std::thread& thread : threads) thread.join();
    database.reset();
  }

  // Creates small tables and deletes some, during the writes.
  void ChangeTables(Database& database) {
    for (int i = 0; i < 6; ++i) {
      v1::CreateTableRequest request = TableRequest("Side-" + std::to_string(i));
      AddIndex(&request, "ByDate", {"date:S"}, 1, v1::PROJECTION_TYPE_ALL);
      auto created = CreateTable(database, request);
      if (!created.ok()) return;
      outcome_.acknowledged_sequence = std::max(outcome_.acknowledged_sequence, created->change_sequence());
      side_tables_.insert(request.table_name());
      if (i % 2 == 0) continue;
      v1::DeleteTableRequest remove;
      remove.set_table_name("Side-" + std::to_string(i - 1));
      deleted_in_flight_ = remove.table_name();
      auto deleted =
          Await<v1::DeleteTableReply>([&](auto done) { database.DeleteTable(remove, std::move(done)); });
      if (!deleted.ok()) return;
      deleted_in_flight_.clear();
      side_tables_.erase(remove.table_name());
    }
  }

  // Creates and deletes an index of the written table.
  void ChangeIndexes(Database& database) {
    for (int i = 0; i < 4; ++i) {
      auto created =
          UpdateTable(database, CreateIndexRequest(kOrderTable, "Live", {"status:S", "total:N"}, 1));
      if (!created.ok()) return;
      outcome_.acknowledged_sequence = std::max(outcome_.acknowledged_sequence, created->change_sequence());
      // One index is deleted during its backfill.
      if (i != 1 && !AwaitLiveIndex(database)) return;
      auto deleted = UpdateTable(database, DeleteIndexRequest(kOrderTable, "Live"));
      if (!deleted.ok()) return;
      outcome_.acknowledged_sequence = std::max(outcome_.acknowledged_sequence, deleted->change_sequence());
    }
  }

  // False if the power failed first.
  bool AwaitLiveIndex(Database& database) {
    v1::DescribeTableRequest request;
    request.set_table_name(kOrderTable);
    while (!disk_->power_is_cut()) {
      auto reply = database.DescribeTable(request);
      if (reply.ok() && reply->table().table_status() == v1::TABLE_STATUS_ACTIVE) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  static absl::StatusOr<v1::CreateTableReply> CreateTable(Database& database,
                                                          const v1::CreateTableRequest& request) {
    return Await<v1::CreateTableReply>([&](auto done) { database.CreateTable(request, std::move(done)); });
  }

  void LookAtWhatIsLeft() {
    auto opened = Database::Open(Options());
    ASSERT_TRUE(opened.ok()) << opened.status();
    std::unique_ptr<Database> database = *std::move(opened);
    outcome_.opened = true;
    // An unfinished index is now backfilled, or will never exist. Its change is visible once it is durable.
    AwaitIndexes(*database, kOrderTable);
    if (!durable_) {
      database.reset();
      opened = Database::Open(Options());
      ASSERT_TRUE(opened.ok()) << opened.status();
      database = *std::move(opened);
    }
    StoredOrders stored = ReadOrders(*database);
    outcome_.found_sequence = stored.last_sequence;
    for (const OrderWriter& writer : writers_) {
      outcome_.acknowledged_sequence =
          std::max(outcome_.acknowledged_sequence, writer.acknowledged_sequence());
      outcome_.acknowledged_writes += writer.acknowledged_writes();
      outcome_.unknown_writes += writer.unknown_writes();
    }
    if (durable_) ExpectNothingLost(*database, stored);

    // The database continues with the next number.
    auto created = CreateTable(*database, TableRequest("Afterwards"));
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_EQ(created->change_sequence(), stored.last_sequence + 1);
    if (archives_) ExpectArchived(*database, created->change_sequence());
  }

  // What the archive can restore is what the change log says.
  void ExpectArchived(Database& database, uint64_t last) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    v1::ArchiveStatus status;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      status = database.GetStatus().archive();
      ASSERT_LT(std::chrono::steady_clock::now(), until) << status.DebugString();
    } while (status.change_sequence() < last || status.oldest_time_us() == 0 || status.needs_backup());
    for (int i = 0; i < 4; ++i) {
      RestoreOptions options;
      options.backup_directory = root_ + "/backups";
      options.archive_directory = root_ + "/archive";
      options.data_directory = directory_.path() + "/restored-" + std::to_string(i);
      options.encryption_keys = Options().encryption_keys;
      options.log = Options().log;
      if (i > 0) options.to_change = i == 1 ? last : 1 + random_() % last;
      const auto restored = RestoreDatabase(options);
      if (i > 1 && !restored.ok()) {
        // Inside of a transaction, or from before a power cut that took the backup or the end of the archive.
        EXPECT_TRUE(absl::IsInvalidArgument(restored.status()) || absl::IsOutOfRange(restored.status()))
            << restored.status();
        continue;
      }
      ASSERT_TRUE(restored.ok()) << restored.status();
      ++outcome_.restored;
      EXPECT_EQ(restored->change_sequence, options.to_change.value_or(last));
      DatabaseOptions other = TestDatabase::DefaultOptions(options.data_directory);
      other.encryption_keys = options.encryption_keys;
      auto opened = Database::Open(other);
      ASSERT_TRUE(opened.ok()) << opened.status();
      // It finishes an index that was being built then, which is a change.
      AwaitIndexes(**opened, kOrderTable);
      const uint64_t last_read = ReadOrders(**opened).last_sequence;
      EXPECT_GE(last_read, restored->change_sequence);
      EXPECT_LE(last_read, restored->change_sequence + 1);
    }
  }

  void ExpectNothingLost(Database& database, const StoredOrders& stored) {
    EXPECT_GE(stored.last_sequence, outcome_.acknowledged_sequence);
    if (has_table_) {
      EXPECT_TRUE(stored.has_table);
      ExpectExplained(writers_, stored);
    }
    auto tables = database.ListTables({});
    ASSERT_TRUE(tables.ok()) << tables.status();
    std::set<std::string> names(tables->table_names().begin(), tables->table_names().end());
    for (const std::string& name : side_tables_) {
      EXPECT_TRUE(names.contains(name) || name == deleted_in_flight_) << name << " was acknowledged";
    }
  }

  const uint64_t seed_;
  std::mt19937_64 random_;
  const bool durable_;
  const bool archives_ = seed_ % 5 == 4;
  size_t memtable_bytes_;
  TemporaryDirectory directory_;
  const std::string root_ = directory_.path() + "/disk";
  std::shared_ptr<PowerLossFileSystem> disk_;
  std::vector<OrderWriter> writers_;
  bool has_table_ = false;
  std::set<std::string> side_tables_;
  std::string deleted_in_flight_;
  Outcome outcome_;
};

struct Sums {
  std::atomic<int64_t> acknowledged_writes = 0;
  std::atomic<int64_t> unknown_writes = 0;
  std::atomic<int64_t> restored = 0;
  // Seeds that lost an acknowledged change.
  std::atomic<int64_t> lossy_seeds = 0;
};

// Runs several machines at once, because they mostly wait: RocksDB sleeps for a second after a failed
// background job. Stops at the first failure.
void RunSeeds(uint64_t first, uint64_t count, bool durable, Sums* sums) {
  const std::vector<uint64_t> seeds = Seeds(first, count);
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kMachinesAtOnce; ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < seeds.size() && !::testing::Test::HasFailure(); at = next++) {
        SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seeds[at]));
        Machine::Outcome outcome = Machine(seeds[at], durable).Run();
        sums->acknowledged_writes += outcome.acknowledged_writes;
        sums->unknown_writes += outcome.unknown_writes;
        sums->restored += outcome.restored;
        if (outcome.found_sequence < outcome.acknowledged_sequence) ++sums->lossy_seeds;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PowerLossTest, AcknowledgedWritesSurviveEveryCut) {
  Sums sums;
  RunSeeds(0, kSeeds, /*durable=*/true, &sums);
  if (SeedsAreGiven()) return;
  // The cuts came during many writes.
  EXPECT_GT(sums.acknowledged_writes, 20 * static_cast<int64_t>(kSeeds));
  EXPECT_GT(sums.unknown_writes, static_cast<int64_t>(kSeeds) / 2);
  EXPECT_GE(sums.restored, static_cast<int64_t>(kSeeds) / 5 * 2);
  RecordProperty("restored", static_cast<int>(sums.restored));
}

// Without syncs acknowledged writes are lost; otherwise the test above could not find a missing sync. What is
// left is a prefix of the commits: it opens, and ReadOrders and CheckDatabase find it consistent.
TEST(PowerLossTest, WithoutSyncsCutsTakeAcknowledgedWritesAndLeaveAConsistentPrefix) {
  Sums sums;
  RunSeeds(1'000, kRelaxedSeeds, /*durable=*/false, &sums);
  if (SeedsAreGiven()) return;
  EXPECT_GT(sums.lossy_seeds, static_cast<int64_t>(kRelaxedSeeds) / 16);
  RecordProperty("lossy_seeds", static_cast<int>(sums.lossy_seeds));
}

}  // namespace
}  // namespace itemdb::testing
