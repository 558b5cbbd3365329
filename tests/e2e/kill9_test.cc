// kill -9 under concurrent writers, again and again on one database. No acknowledged write is lost, no
// unanswered write is applied partly, and index entries, statistics and change log agree with the items.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/crash_writers.h"
#include "tests/support/files.h"

namespace itemdb::e2e {
namespace {

// A kill comes after at most this many acknowledged writes, plus a delay of at most this many microseconds.
constexpr int kMaxWritesBeforeKill = 300;
constexpr int kMaxDelayUs = 3'000;

class Kill9Test : public E2eTest {
 protected:
  // Starts the daemon again. Sometimes it is first killed during its recovery.
  void Restart(Random& random, const std::vector<std::string>& arguments) {
    if (Pick(random, 0, 4) == 0) {
      daemon_.Launch(arguments);
      std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, 200'000)));
      daemon_.Kill();
    }
    absl::Status started = daemon_.Start(arguments);
    ASSERT_TRUE(started.ok()) << started;
  }

  // Writes from several threads until the daemon has been killed.
  void WriteAndKill(Load& load, CrashModel& model, Random& random) {
    load.endpoint = daemon_.endpoint();
    load.everything = true;
    load.until_stop = static_cast<int>(Pick(random, 1, kMaxWritesBeforeKill));
    Writers writers(load, model, random);
    EXPECT_TRUE(writers.AwaitWrites());
    // A random delay, so that the kill can hit any phase of a commit and not only the time after an answer.
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, kMaxDelayUs)));
    load.stopping = true;
    daemon_.Kill();
  }

  void RunCycles(int cycles, const std::vector<std::string>& arguments) {
    const uint64_t seed = KillSeed();
    SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);

    daemon_.Kill();
    ASSERT_NO_FATAL_FAILURE(Restart(random, arguments));
    LoadOrderEntry();
    ASSERT_TRUE(OpenClient().CreateTable(LedgerDefinition()).ok());
    ASSERT_TRUE(
        OpenClient()
            .UpdateTimeToLive({.table_name = kLedgerTable, .enabled = true, .attribute_name = kLedgerExpires})
            .ok());
    CrashModel model;
    RecordSampleOrders(model);
    // With relaxed durability change records are readable when they are synced; after a restart all are.
    daemon_.Kill();
    ASSERT_NO_FATAL_FAILURE(Restart(random, arguments));
    Compare(model);
    for (int i = 0; i < cycles && !HasFailure(); ++i) {
      SCOPED_TRACE("cycle " + std::to_string(i));
      Load load{.number = i};
      WriteAndKill(load, model, random);
      ASSERT_NO_FATAL_FAILURE(Restart(random, arguments));
      Compare(model);
    }
    RecordProperty("acknowledged", std::to_string(model.acknowledged()));
    RecordProperty("unknown", std::to_string(model.unknown()));
    std::printf("%d kills, %lu writes acknowledged, %lu with unknown outcome\n", cycles,
                static_cast<unsigned long>(model.acknowledged()),
                static_cast<unsigned long>(model.unknown()));
    EXPECT_GT(model.unknown(), 0u) << "no kill hit a write in flight, so this tested little";
  }

 private:
  void Compare(CrashModel& model) {
    Client client = OpenClient();
    model.CompareChanges(client);
    model.CompareCells(client);
    model.CompareOrders(client);
    model.CompareStock(client);
    RepeatInDoubt(client, model);
    ExpectCheckIsClean();
  }
};

TEST_F(Kill9Test, NothingAcknowledgedIsLostAndEverythingAgrees) { RunCycles(Kills(), {}); }

// Relaxed durability answers before the sync. A power loss may lose the last second; a killed process loses
// nothing.
TEST_F(Kill9Test, RelaxedDurabilityLosesNothingWithTheProcessEither) {
  RunCycles((Kills() + 4) / 5, {"--durability", "relaxed"});
}

TEST_F(Kill9Test, AnEncryptedDatabaseLosesNothingEither) {
  const std::string keys = directory_.path() + "/keys";
  testing::WriteFile(keys, "key " + std::string(64, '1') + "\n");
  std::filesystem::permissions(keys, std::filesystem::perms::owner_read);
  daemon_.Kill();
  std::filesystem::remove_all(daemon_.data_directory());
  const absl::Status started = daemon_.Start({"--encryption-key-file", keys});
  ASSERT_TRUE(started.ok()) << started;
  RunCycles((Kills() + 4) / 5, {"--encryption-key-file", keys});
}

}  // namespace
}  // namespace itemdb::e2e
