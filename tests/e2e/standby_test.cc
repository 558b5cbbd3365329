// A primary and its standby as two itemd, killed at random.
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "itemdb/bulk_writer.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/await.h"
#include "tests/support/kills.h"
#include "tests/support/paths.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// How the standby gets at the primary's archive and backups.
enum class Way { kSharedDirectory, kNetwork };

class StandbyE2e : public E2eTest {
 protected:
  void SetUp() override {
    fs::create_directories(directory_.path() + "/second");
    StartPrimary();
    // The same port after a restart.
    daemon_.set_listen({daemon_.endpoint()});
  }

  void StartPrimary() {
    std::vector<std::string> arguments = {"--backup-directory", backups_, "--archive-directory", archive_};
    if (acknowledges_) arguments.push_back("--standby-acknowledge");
    arguments.insert(arguments.end(), primary_arguments_.begin(), primary_arguments_.end());
    const absl::Status started = daemon_.Start(arguments);
    ASSERT_TRUE(started.ok()) << started;
  }
  void StartStandby() {
    std::vector<std::string> arguments = {"--standby", archive_, "--standby-backups", backups_};
    if (way_ == Way::kNetwork) arguments = {"--standby", daemon_.endpoint()};
    const absl::Status started = standby_.Start(arguments);
    ASSERT_TRUE(started.ok()) << started;
  }
  void CreateThings() const {
    ASSERT_TRUE(OpenClient()
                    .CreateTable({.table_name = "Things",
                                  .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                  .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
  }
  // Waits until the primary has been told of the promotion.
  void AwaitRefusal() const {
    for (int i = 0; i < 3000; ++i) {
      const auto status = OpenClient().GetStatus();
      if (status.ok() && !status->writes_refused.empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the old primary takes writes\n" << standby_.log();
  }
  Client OpenStandby() const {
    absl::StatusOr<Client> client = Client::Open({.endpoint = standby_.endpoint()});
    EXPECT_TRUE(client.ok()) << client.status();
    return *std::move(client);
  }
  CommandResult OnStandby(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--endpoint", standby_.endpoint()});
    return RunProgram(testing::ProgramPath("itemctl"), arguments);
  }
  // Waits until a standby can be made: until there is a backup that the archive continues.
  void AwaitBackup() const { AwaitBackup(OpenClient()); }
  static void AwaitBackup(const Client& client) {
    for (int i = 0; i < 3000; ++i) {
      const auto status = client.GetStatus();
      if (status.ok() && status->archive.has_value() && !status->archive->needs_backup &&
          status->archive->oldest_time != absl::UnixEpoch())
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "there is no backup";
  }
  void AwaitStandby(uint64_t change) const {
    uint64_t now = 0;
    for (int i = 0; i < 3000; ++i) {
      const auto status = OpenStandby().GetStatus();
      if (status.ok()) now = status->change_sequence;
      if (now >= change) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "the standby is at change " << now << " of " << change << "\n" << standby_.log();
  }

  Way way_ = Way::kSharedDirectory;
  bool acknowledges_ = false;
  std::vector<std::string> primary_arguments_;
  const std::string backups_ = directory_.path() + "/backups";
  const std::string archive_ = directory_.path() + "/archive";
  DaemonProcess standby_{directory_.path() + "/second"};
};

class StandbyKillE2e : public StandbyE2e, public ::testing::WithParamInterface<Way> {
 protected:
  StandbyKillE2e() { way_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Ways, StandbyKillE2e, ::testing::Values(Way::kSharedDirectory, Way::kNetwork),
                         [](const auto& way) {
                           return way.param == Way::kNetwork ? "Network" : "SharedDirectory";
                         });

TEST_P(StandbyKillE2e, HasEveryWriteUpToItsPromotionAndNoOtherThroughKillMinus9OfBoth) {
  ASSERT_TRUE(OpenClient()
                  .CreateTable({.table_name = "Things",
                                .attribute_definitions = {{"pk", ScalarAttributeType::kString},
                                                          {"state", ScalarAttributeType::kString}},
                                .key_schema = {{"pk", KeyType::kHash}},
                                .global_secondary_indexes = {{.index_name = "ByState",
                                                              .key_schema = {{"state", KeyType::kHash}}}}})
                  .ok());
  AwaitBackup();
  StartStandby();
  Random random(KillSeed());
  std::mutex mutex;
  std::map<uint64_t, std::string> answered;
  const int cycles = Kills();
  for (int cycle = 0; cycle < cycles; ++cycle) {
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 2; ++writer) {
      writers.emplace_back([&, writer, cycle, client = OpenClient()] {
        for (int i = 0;; ++i) {
          const std::string key = absl::StrFormat("%d-%d-%d", writer, cycle, i);
          const auto put =
              client.PutItem({.table_name = "Things", .item = {{"pk", key}, {"state", "new"}}}, OneAttempt());
          if (!put.ok()) return;
          std::lock_guard<std::mutex> lock(mutex);
          answered[put->change_sequence] = key;
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, 500)));
    standby_.Kill();
    StartStandby();
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, 500)));
    daemon_.Kill();
    for (std::thread& writer : writers) writer.join();
    if (cycle + 1 == cycles) break;
    StartPrimary();
    AwaitStandby(ChangeSequence());
  }
  ASSERT_GT(answered.size(), 100u);
  const auto begin = std::chrono::steady_clock::now();
  const CommandResult promoted = OnStandby({"promote", "--yes", "-o", "json"});
  ASSERT_EQ(promoted.exit_code, 0) << promoted.err;
  ASSERT_TRUE(
      OpenStandby().PutItem({.table_name = "Things", .item = {{"pk", "own"}, {"state", "own"}}}).ok());
  RecordProperty("milliseconds_to_the_first_write",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(
                                      std::chrono::steady_clock::now() - begin)
                                      .count()));
  const uint64_t last = Json::parse(promoted.out)["change_sequence"];
  std::set<std::string> found;
  for (const Json& item : ParseLines(OnStandby({"scan", "Things", "-o", "jsonl"}).out))
    found.insert(item["pk"]);
  EXPECT_EQ(found.erase("own"), 1u);
  for (const auto& [change, key] : answered)
    EXPECT_EQ(found.contains(key), change <= last) << key << " is change " << change << " of " << last;
  EXPECT_EQ(found.size(), last - 1) << "each change but the creation of the table is an item";
  const CommandResult check = OnStandby({"check"});
  EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  // The old primary comes back, and takes no writes.
  StartPrimary();
  AwaitRefusal();
  // It tells the writes that were answered and did not reach the standby.
  std::set<std::string> diverged;
  const CommandResult told = Itemctl({"standby", "diverged", "-o", "jsonl"});
  EXPECT_EQ(told.exit_code, 0) << told.err;
  for (const Json& change : ParseLines(told.out)) diverged.insert(change["key"]["pk"]);
  for (const auto& [change, key] : answered)
    EXPECT_EQ(diverged.contains(key), change > last) << key << " is change " << change << " of " << last;
  const CommandResult refused = Itemctl({"item", "put", "Things", R"({"pk": "late"})"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("its standby was promoted"));
}

// The primary's build of an index adds table files that are in no commit, so the standby builds the index
// too. It is promoted, or killed and then promoted, before, in the middle of, and after its build.
TEST_P(StandbyKillE2e, AnIndexThatIsBeingCreatedIsWholeAfterAPromotion) {
  constexpr int kItems = testing::kHasSanitizer ? 3'000 : 20'000;
  Random random(KillSeed());
  for (int cycle = 0; cycle < Kills(kDefaultKillsOfLongSteps); ++cycle) {
    const std::string folder = directory_.path() + absl::StrFormat("/index%d", cycle);
    for (const char* name : {"/primary", "/standby"}) fs::create_directories(folder + name);
    DaemonProcess primary(folder + "/primary");
    DaemonProcess standby(folder + "/standby");
    const std::string archive = folder + "/archive";
    const std::string backups = folder + "/backups";
    ASSERT_TRUE(primary.Start({"--archive-directory", archive, "--backup-directory", backups}).ok());
    auto client = Client::Open({.endpoint = primary.endpoint()});
    ASSERT_TRUE(client.ok());
    AwaitBackup(*client);
    std::vector<std::string> following = {"--standby", archive, "--standby-backups", backups};
    if (way_ == Way::kNetwork) following = {"--standby", primary.endpoint()};
    ASSERT_TRUE(standby.Start(following).ok());
    ASSERT_TRUE(client
                    ->CreateTable({.table_name = "Things",
                                   .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                   .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
    BulkWriter writer(*client);
    for (int i = 0; i < kItems; ++i) {
      ASSERT_TRUE(
          writer.Put("Things", {{"pk", absl::StrCat(i)}, {"group", absl::StrFormat("g%d", i % 10)}}).ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(client
                    ->UpdateTable({.table_name = "Things",
                                   .create_global_secondary_index =
                                       GlobalSecondaryIndex{.index_name = "ByGroup",
                                                            .key_schema = {{"group", KeyType::kHash}}},
                                   .attribute_definitions = {{"group", ScalarAttributeType::kString}}})
                    .ok());
    const int delay = static_cast<int>(Pick(random, 0, 1'500));
    const bool is_killed = Pick(random, 0, 1) == 1;
    SCOPED_TRACE(absl::StrCat("cycle ", cycle, ", ", delay, " ms", is_killed ? ", killed" : ""));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    if (is_killed) {
      standby.Kill();
      ASSERT_TRUE(standby.Start(following).ok()) << standby.log();
    }
    const CommandResult promoted =
        RunProgram(testing::ProgramPath("itemctl"), {"--endpoint", standby.endpoint(), "promote", "--yes"});
    ASSERT_EQ(promoted.exit_code, 0) << promoted.err << standby.log();
    auto other = Client::Open({.endpoint = standby.endpoint()});
    ASSERT_TRUE(other.ok());
    bool is_active = false;
    for (int i = 0; i < 6'000 && !is_active; ++i) {
      const auto described = other->DescribeTable("Things");
      ASSERT_TRUE(described.ok()) << described.status();
      ASSERT_EQ(described->table.indexes.size(), 1u) << "the promotion lost the index";
      is_active = described->table.indexes[0].index_status == TableStatus::kActive;
      if (!is_active) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(is_active);
    const auto count = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), {"--endpoint", standby.endpoint()});
      return RunProgram(testing::ProgramPath("itemctl"), arguments);
    };
    const std::vector<Json> entries =
        ParseLines(count({"scan", "Things", "--index", "ByGroup", "-o", "jsonl"}).out);
    std::set<std::string> found;
    for (const Json& entry : entries) found.insert(entry["pk"]);
    EXPECT_EQ(entries.size(), static_cast<size_t>(kItems));
    EXPECT_EQ(found.size(), static_cast<size_t>(kItems));
    const CommandResult check = count({"check"});
    EXPECT_EQ(check.exit_code, 0) << check.err << check.out;
  }
}

// A planned promotion is killed at any of its steps, and finished by another one.
TEST_P(StandbyKillE2e, Kill9OfAPromotionLosesNothing) {
  Random random(KillSeed());
  KilledRounds rounds(way_ == Way::kNetwork ? "promoting a standby over the network"
                                            : "promoting a standby of a shared directory");
  for (int cycle = 0; cycle < Kills(kDefaultKillsOfLongSteps); ++cycle) {
    const std::string folder = directory_.path() + absl::StrFormat("/cycle%d", cycle);
    for (const char* name : {"/primary", "/standby"}) fs::create_directories(folder + name);
    DaemonProcess primary(folder + "/primary");
    DaemonProcess standby(folder + "/standby");
    const std::string archive = folder + "/archive";
    const std::string backups = folder + "/backups";
    ASSERT_TRUE(primary.Start({"--archive-directory", archive, "--backup-directory", backups}).ok());
    const auto client = Client::Open({.endpoint = primary.endpoint()});
    ASSERT_TRUE(client.ok());
    AwaitBackup(*client);
    std::vector<std::string> following = {"--standby", archive, "--standby-backups", backups};
    if (way_ == Way::kNetwork) following = {"--standby", primary.endpoint()};
    ASSERT_TRUE(standby.Start(following).ok());
    ASSERT_TRUE(client
                    ->CreateTable({.table_name = "Things",
                                   .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                                   .key_schema = {{"pk", KeyType::kHash}}})
                    .ok());
    std::set<std::string> answered;
    std::atomic<bool> is_refused = false;
    std::atomic<bool> stops = false;
    std::thread writer([&] {
      for (int i = 0; !stops; ++i) {
        const std::string key = absl::StrCat(i);
        is_refused = !client->PutItem({.table_name = "Things", .item = {{"pk", key}}}, OneAttempt()).ok();
        if (is_refused) return;
        answered.insert(key);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, 200)));
    bool was_promoted = false;
    std::thread promotion([&, endpoint = standby.endpoint()] {
      was_promoted = RunProgram(testing::ProgramPath("itemctl"), {"--endpoint", endpoint, "promote", "--yes"})
                         .exit_code == 0;
    });
    // The primary is told at once over the network, and sees a file within half a second.
    const int64_t longest_ms = way_ == Way::kNetwork ? 80 : 800;
    std::this_thread::sleep_for(std::chrono::milliseconds(Pick(random, 0, longest_ms)));
    standby.Kill();
    promotion.join();
    ASSERT_TRUE(standby.Start(following).ok()) << standby.log();
    // Nothing, if it was whole already.
    RunProgram(testing::ProgramPath("itemctl"), {"--endpoint", standby.endpoint(), "promote", "--yes"});
    for (int i = 0; i < 1500 && !is_refused; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stops = true;
    writer.join();
    EXPECT_TRUE(is_refused) << "the old primary takes writes";
    const auto promoted = Client::Open({.endpoint = standby.endpoint()});
    ASSERT_TRUE(promoted.ok());
    const auto own = promoted->PutItem({.table_name = "Things", .item = {{"pk", "own"}}});
    ASSERT_TRUE(own.ok()) << own.status() << standby.log();
    std::set<std::string> found;
    const CommandResult scanned = RunProgram(
        testing::ProgramPath("itemctl"), {"--endpoint", standby.endpoint(), "scan", "Things", "-o", "jsonl"});
    for (const Json& item : ParseLines(scanned.out)) found.insert(item["pk"]);
    for (const std::string& key : answered) EXPECT_TRUE(found.contains(key)) << key << " in " << folder;
    rounds.Add({.was_interrupted = !was_promoted, .is_whole = true});
    primary.Kill();
    standby.Kill();
    fs::remove_all(folder);
  }
}

TEST_F(StandbyE2e, ItsStatusSaysWhatItFollowsAndWhyItRefusesWrites) {
  AwaitBackup();
  StartStandby();
  LoadOrderEntry();
  AwaitStandby(ChangeSequence());
  const Json status = Json::parse(OnStandby({"status", "-o", "json"}).out);
  EXPECT_EQ(status["standby"]["archive_directory"], archive_);
  EXPECT_EQ(status["standby"]["needs_base"], false);
  EXPECT_THAT(std::string(status["writes_refused"]), HasSubstr("this database is a standby"));
  EXPECT_EQ(OnStandby({"-o", "jsonl", "scan", "Order"}).out, Itemctl({"-o", "jsonl", "scan", "Order"}).out);
  const CommandResult refused = OnStandby({"order-entry", "load"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("write to the primary"));
}

TEST_F(StandbyE2e, OverTheNetworkAPlannedPromotionLosesNothing) {
  way_ = Way::kNetwork;
  LoadOrderEntry();
  CreateThings();
  AwaitBackup();
  StartStandby();
  AwaitStandby(ChangeSequence());
  const std::string orders = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  EXPECT_EQ(OnStandby({"-o", "jsonl", "scan", "Order"}).out, orders);
  EXPECT_FALSE(fs::exists(standby_.data_directory() + "/standby-copy/backups")) << "it is needed no more";
  // The primary is running, and has answered this a moment ago.
  ASSERT_EQ(Itemctl({"item", "put", "Things", R"({"pk": "last"})"}).exit_code, 0);
  const uint64_t last = ChangeSequence();
  const CommandResult promoted = OnStandby({"promote", "--yes", "-o", "json"});
  ASSERT_EQ(promoted.exit_code, 0) << promoted.err;
  EXPECT_EQ(Json::parse(promoted.out)["change_sequence"], last);
  EXPECT_EQ(Itemctl({"standby", "diverged", "-o", "jsonl"}).out, "");
  const CommandResult refused = Itemctl({"item", "put", "Things", R"({"pk": "late"})"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("its standby was promoted"));
  EXPECT_EQ(OnStandby({"item", "put", "Things", R"({"pk": "own"})"}).exit_code, 0);
  EXPECT_EQ(OnStandby({"check"}).exit_code, 0);
  // It starts without the primary.
  daemon_.Kill();
  EXPECT_EQ(standby_.Terminate(), 0);
  StartStandby();
  EXPECT_EQ(OnStandby({"item", "get", "Things", R"({"pk": "own"})"}).exit_code, 0);
}

TEST_F(StandbyE2e, AClientWithBothEndpointsWritesOnThroughAPromotion) {
  way_ = Way::kNetwork;
  LoadOrderEntry();
  CreateThings();
  AwaitBackup();
  StartStandby();
  AwaitStandby(ChangeSequence());
  const auto client = Client::Open({.endpoint = daemon_.endpoint() + "," + standby_.endpoint(),
                                    .retry = {.max_attempts = 100, .max_backoff = absl::Milliseconds(100)}});
  ASSERT_TRUE(client.ok()) << client.status();
  std::atomic<bool> stops = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (; !stops; ++written) {
      const auto put =
          client->PutItem({.table_name = "Things", .item = {{"pk", absl::StrFormat("w%d", written.load())}}},
                          {.idempotent = true});
      ASSERT_TRUE(put.ok()) << put.status();
    }
  });
  const auto await_written = [&](int count) {
    for (int i = 0; i < 3000 && written < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  await_written(20);
  ASSERT_EQ(OnStandby({"promote", "--yes"}).exit_code, 0);
  await_written(written + 20);
  daemon_.Kill();
  await_written(written + 20);
  stops = true;
  writer.join();
  EXPECT_GE(written, 60);
  for (int i = 0; i < written; ++i) {
    const auto got = client->GetItem({.table_name = "Things", .key = {{"pk", absl::StrFormat("w%d", i)}}});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->item.has_value()) << i;
  }
}

TEST_F(StandbyE2e, OverTheNetworkItServesReadsWithoutItsPrimaryAndSaysSo) {
  way_ = Way::kNetwork;
  LoadOrderEntry();
  AwaitBackup();
  StartStandby();
  AwaitStandby(ChangeSequence());
  const std::string orders = Itemctl({"-o", "jsonl", "scan", "Order"}).out;
  daemon_.Kill();
  Json status;
  for (int i = 0; i < 3000 && status["standby"]["error"].is_null(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = Json::parse(OnStandby({"status", "-o", "json"}).out);
  }
  EXPECT_THAT(std::string(status["standby"]["error"]), HasSubstr(daemon_.endpoint()));
  EXPECT_EQ(OnStandby({"-o", "jsonl", "scan", "Order"}).out, orders);
  // Nothing of it depends on the primary.
  standby_.Kill();
  StartStandby();
  EXPECT_EQ(OnStandby({"-o", "jsonl", "scan", "Order"}).out, orders);
  StartPrimary();
  LoadOrderEntry();
  AwaitStandby(ChangeSequence());
}

class AcknowledgingE2e : public StandbyE2e {
 protected:
  AcknowledgingE2e() {
    way_ = Way::kNetwork;
    acknowledges_ = true;
  }
  void SetUp() override {
    StandbyE2e::SetUp();
    AwaitBackup();
    StartStandby();
    // Until the standby has asked once, a write may be refused.
    for (int i = 0; i < 600; ++i) {
      if (OpenClient()
              .CreateTable({.table_name = "Things",
                            .attribute_definitions = {{"pk", ScalarAttributeType::kString}},
                            .key_schema = {{"pk", KeyType::kHash}}})
              .ok())
        return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << daemon_.log();
  }
  absl::Status Put(const std::string& key) const {
    return OpenClient().PutItem({.table_name = "Things", .item = {{"pk", key}}}, OneAttempt()).status();
  }
};

TEST_F(AcknowledgingE2e, EveryAnsweredWriteIsAtTheStandbyWhenThePrimaryIsKilled) {
  std::mutex mutex;
  std::set<std::string> answered;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0;; ++i) {
        const std::string key = absl::StrFormat("%d-%d", writer, i);
        if (!Put(key).ok()) return;
        std::lock_guard<std::mutex> lock(mutex);
        answered.insert(key);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  daemon_.Kill();
  for (std::thread& writer : writers) writer.join();
  ASSERT_GT(answered.size(), 20u);
  ASSERT_EQ(OnStandby({"promote", "--yes"}).exit_code, 0);
  std::set<std::string> found;
  for (const Json& item : ParseLines(OnStandby({"scan", "Things", "-o", "jsonl"}).out))
    found.insert(item["pk"]);
  for (const std::string& key : answered) EXPECT_TRUE(found.contains(key)) << key;
}

// The primary refused the standby's calls before the writes in flight were acknowledged: these waited in
// vain.
TEST_F(AcknowledgingE2e, AStopLetsTheStandbyAcknowledgeWhatIsInFlight) {
  std::mutex mutex;
  std::set<std::string> answered;
  std::vector<absl::Status> last(4);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; last[writer].ok(); ++i) {
        const std::string key = absl::StrFormat("%d-%d", writer, i);
        last[writer] = Put(key);
        if (!last[writer].ok()) return;
        std::lock_guard<std::mutex> lock(mutex);
        answered.insert(key);
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon_.Terminate(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  for (std::thread& writer : writers) writer.join();
  for (const absl::Status& status : last) EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  ASSERT_GT(answered.size(), 20u);
  ASSERT_EQ(OnStandby({"promote", "--yes"}).exit_code, 0);
  std::set<std::string> found;
  for (const Json& item : ParseLines(OnStandby({"scan", "Things", "-o", "jsonl"}).out))
    found.insert(item["pk"]);
  for (const std::string& key : answered) EXPECT_TRUE(found.contains(key)) << key;
}

TEST_F(AcknowledgingE2e, AStopAnswersAWriteThatNoStandbyAcknowledges) {
  ASSERT_TRUE(Put("first").ok());
  ASSERT_EQ(daemon_.Terminate(), 0);
  primary_arguments_ = {"--shutdown-timeout", "500ms"};
  StartPrimary();
  for (int i = 0; i < 600 && !Put("again").ok(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // It neither calls nor closes its connection.
  standby_.Signal(SIGSTOP);
  const absl::Cleanup go_on = [this] { standby_.Signal(SIGCONT); };
  const uint64_t before = ChangeSequence();
  absl::Status unknown;
  std::thread writer([&] { unknown = Put("alone"); });
  EXPECT_TRUE(testing::Await([&] { return ChangeSequence() != before; }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon_.Terminate(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  writer.join();
  EXPECT_EQ(ReasonOf(unknown), kReasonWriteOutcomeUnknown) << unknown;
}

// A file system that never answers: opening a pipe for reading waits until somebody writes to it.
TEST_F(StandbyE2e, AStopEndsThoughTheArchiveNeverAnswers) {
  CreateThings();
  ASSERT_EQ(daemon_.Terminate(), 0);
  primary_arguments_ = {"--shutdown-timeout", "0s"};
  StartPrimary();
  ASSERT_EQ(mkfifo((archive_ + "/PROMOTED").c_str(), 0600), 0);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ASSERT_TRUE(OpenClient().PutItem({.table_name = "Things", .item = {{"pk", "a"}}}).ok());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon_.Terminate(), 74);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_THAT(daemon_.log(), HasSubstr("stopping takes too long"));
  fs::remove(archive_ + "/PROMOTED");
  StartPrimary();
  EXPECT_EQ(Itemctl({"item", "get", "Things", R"({"pk": "a"})"}).exit_code, 0);
}

TEST_F(AcknowledgingE2e, WithoutAStandbyAWriteIsOfUnknownOutcomeAndTheNextOnesAreRefused) {
  ASSERT_TRUE(Put("first").ok());
  standby_.Kill();
  const absl::Status unknown = Put("alone");
  EXPECT_EQ(ReasonOf(unknown), kReasonWriteOutcomeUnknown) << unknown;
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("no standby"));
  const absl::Status refused = Put("refused");
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  // Reads go on, and a standby that comes back gets everything.
  EXPECT_EQ(Itemctl({"item", "get", "Things", R"({"pk": "first"})"}).exit_code, 0);
  StartStandby();
  absl::Status again = absl::UnavailableError("not tried");
  for (int i = 0; i < 600 && !again.ok(); ++i) {
    again = Put("again");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(again.ok()) << again;
  AwaitStandby(ChangeSequence());
  EXPECT_EQ(OnStandby({"item", "get", "Things", R"({"pk": "alone"})"}).exit_code, 0);
}

TEST_F(StandbyE2e, ANewStandbyThatCannotReachItsPrimaryDoesNotStart) {
  const std::string endpoint = daemon_.endpoint();
  daemon_.Kill();
  const CommandResult result = standby_.RunToEnd({"--standby", endpoint});
  EXPECT_EQ(result.exit_code, 74) << result.err;
  EXPECT_THAT(result.err + standby_.log(), HasSubstr("primary " + endpoint));
}

TEST_F(StandbyE2e, ANewStandbyEndsAtOnceThoughItsPrimaryDoesNotAnswer) {
  CreateThings();
  AwaitBackup();
  daemon_.Signal(SIGSTOP);
  for (const bool begins_anew : {false, true}) {
    // The log goes on from one process to the next.
    const size_t logged = standby_.log().size();
    standby_.Launch({"--standby", daemon_.endpoint()});
    const auto has_begun = [&] {
      const std::string log = standby_.log();
      return log.size() > logged && log.find("a new standby", logged) != std::string::npos;
    };
    for (int i = 0; i < 1'000 && !has_begun(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ASSERT_TRUE(has_begun()) << standby_.log();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(standby_.Terminate(), 0) << begins_anew << standby_.log();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
    EXPECT_THAT(standby_.log(), HasSubstr("stopping signal=Terminated"));
  }
  daemon_.Signal(SIGCONT);
  // What was left does not disturb the next start.
  way_ = Way::kNetwork;
  StartStandby();
  AwaitStandby(ChangeSequence());
  EXPECT_EQ(standby_.Terminate(), 0);
}

TEST_F(StandbyE2e, FollowsAPrimaryThatArchivesIntoAnotherDirectory) {
  way_ = Way::kNetwork;
  CreateThings();
  AwaitBackup();
  StartStandby();
  AwaitStandby(ChangeSequence());
  EXPECT_EQ(daemon_.Terminate(), 0);
  const absl::Status started = daemon_.Start(
      {"--backup-directory", backups_, "--archive-directory", directory_.path() + "/other-archive"});
  ASSERT_TRUE(started.ok()) << started;
  ASSERT_EQ(Itemctl({"item", "put", "Things", R"({"pk": "first of it"})"}).exit_code, 0);
  AwaitStandby(ChangeSequence());
  EXPECT_EQ(OnStandby({"item", "get", "Things", R"({"pk": "first of it"})"}).exit_code, 0);
  EXPECT_EQ(OnStandby({"check"}).exit_code, 0);
}

TEST_F(StandbyE2e, OfAnotherPrimaryIsRefused) {
  way_ = Way::kNetwork;
  AwaitBackup();
  StartStandby();
  AwaitStandby(ChangeSequence());
  daemon_.Kill();
  // Another database at the same address.
  DaemonProcess other(directory_.path() + "/other");
  fs::create_directories(directory_.path() + "/other");
  other.set_listen({daemon_.endpoint()});
  ASSERT_TRUE(other.Start({"--archive-directory", directory_.path() + "/other/archive"}).ok());
  Json status;
  for (int i = 0; i < 3000; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    status = Json::parse(OnStandby({"status", "-o", "json"}).out);
    const Json& error = status["standby"]["error"];
    if (!error.is_null() && std::string(error).find("is a standby of") != std::string::npos) return;
  }
  FAIL() << status;
}

// A standby that reads directories acknowledges nothing: with it, each write would be refused.
TEST_F(StandbyE2e, ANewOneThatReadsDirectoriesIsRefusedWhileItsPrimaryWaitsForAcknowledgements) {
  ASSERT_EQ(daemon_.Terminate(), 0);
  acknowledges_ = true;
  StartPrimary();
  AwaitBackup();
  const CommandResult refused = standby_.RunToEnd({"--standby", archive_, "--standby-backups", backups_});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err + standby_.log(), AllOf(HasSubstr("acknowledges nothing: give --standby HOST:PORT"),
                                                  HasSubstr("WAITS_FOR_STANDBY")));
  EXPECT_FALSE(fs::exists(standby_.data_directory() + "/rocksdb"));
  ASSERT_EQ(daemon_.Terminate(), 0);
  acknowledges_ = false;
  StartPrimary();
  AwaitBackup();
  StartStandby();
  // One that is there is started in any case: it may have to be promoted.
  ASSERT_EQ(standby_.Terminate(), 0);
  ASSERT_EQ(daemon_.Terminate(), 0);
  acknowledges_ = true;
  StartPrimary();
  StartStandby();
  EXPECT_THAT(standby_.log(), HasSubstr("the standby does not fit its primary"));
}

TEST_F(StandbyE2e, SettingsThatDoNotFitAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"--standby", archive_}, "also give --standby-backups"},
      {{"--standby-backups", backups_}, "only with --standby"},
      {{"--standby", archive_, "--standby-backups", backups_, "--archive-directory", archive_},
       "cannot be its own"},
      {{"--standby", "127.0.0.1:1,127.0.0.1:2"}, "follows one primary"},
      {{"--standby-acknowledge"}, "also give --archive-directory"},
      {{"--standby", "127.0.0.1:1", "--standby-backups", backups_}, "only with --standby DIR"},
      {{"--standby", archive_, "--standby-backups", backups_, "--standby-ca", "system"},
       "only with --standby HOST:PORT"},
      {{"--standby", "127.0.0.1:1", "--standby-cert", "c.pem", "--standby-key", "k.pem"},
       "give --standby-ca, --standby-cert and --standby-key together"},
  };
  for (const auto& [arguments, text] : refused) {
    const CommandResult result = standby_.RunToEnd(arguments);
    EXPECT_EQ(result.exit_code, 64) << result.err;
    EXPECT_THAT(result.err + standby_.log(), HasSubstr(text));
  }
}

}  // namespace
}  // namespace itemdb::e2e
