// kill -9 while tables and indexes are created and deleted, again and again on one database. A change that
// was answered has happened; an unanswered one has happened or not, but never partly.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"
#include "tests/support/table_owner.h"

namespace itemdb::e2e {
namespace {

constexpr int kOwners = 4;
constexpr int kMaxMillisecondsBeforeKill = 60;

class Kill9DefinitionsTest : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
  }
};

TEST_F(Kill9DefinitionsTest, TablesAndIndexesAreThereOrNotAsWasAnswered) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  const int kills = Kills();

  std::vector<TableOwner> owners;
  for (int i = 0; i < kOwners; ++i) owners.emplace_back("Table-" + std::to_string(i), random());
  for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
    SCOPED_TRACE("kill " + std::to_string(kill));
    std::atomic<bool> killed = false;
    std::vector<std::thread> threads;
    for (TableOwner& owner : owners)
      threads.emplace_back([&owner, &killed, client = OpenClient()] { owner.Run(client, killed); });
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, kMaxMillisecondsBeforeKill)));
    killed = true;
    KillAndRestart();
    for (std::thread& thread : threads) thread.join();
    if (HasFatalFailure()) return;
    const Client client = OpenClient();
    std::vector<std::string> names;
    for (TableOwner& owner : owners) {
      owner.Look(client);
      if (owner.exists()) names.push_back(owner.name());
    }
    const auto listed = client.ListTables();
    ASSERT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(listed->table_names, names);
    ExpectCheckIsClean();
  }
  int64_t answered = 0;
  int64_t unanswered = 0;
  for (const TableOwner& owner : owners) {
    answered += owner.answered();
    unanswered += owner.unanswered();
  }
  std::printf("%d kills, %ld calls answered, %ld not\n", kills, static_cast<long>(answered),
              static_cast<long>(unanswered));
  EXPECT_GT(answered, kills);
  EXPECT_GT(unanswered, 0) << "no kill hit a call, so this tested little";
}

}  // namespace
}  // namespace itemdb::e2e
