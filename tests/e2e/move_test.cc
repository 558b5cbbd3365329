// `itemctl graduate` and `adopt` between two daemons, with writers going on.
#include <signal.h>

#include <fstream>

#include "tests/client/cutting_proxy.h"
#include "tests/e2e/move_fixture.h"
#include "tests/support/await.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

std::optional<WriteFence> FenceOf(const Client& client) {
  const auto described = client.DescribeTable(kMovedTable);
  EXPECT_TRUE(described.ok()) << described.status();
  return described.ok() ? described->table.write_fence : std::nullopt;
}

TEST_F(MoveTest, MovesWithWritersGoingOn) {
  MakeTable(ClientOf(*source_), 20'000);
  ASSERT_TRUE(ClientOf(*source_)
                  .UpdateTimeToLive({.table_name = kMovedTable, .enabled = true, .attribute_name = "until"})
                  .ok());
  ASSERT_TRUE(
      ClientOf(*source_).UpdateTable({.table_name = kMovedTable, .deletion_protection_enabled = true}).ok());
  ASSERT_TRUE(ClientOf(*source_)
                  .UpdateTable({.table_name = kMovedTable,
                                .stream_view_type = StreamViewType::kNewImage,
                                .stream_enabled = true})
                  .ok());
  CounterWriters writers(source_->endpoint(), target_->endpoint(), 4, absl::Milliseconds(1));
  const Json report = GraduateReport({"--yes"});
  EXPECT_GE(report["items_copied"], 20'000);
  EXPECT_EQ(report["step"], "DONE");
  EXPECT_EQ(report["differences"], 0) << report;
  EXPECT_LT(report["write_pause_ms"], 10'000) << report;
  // Every writer has found the target, and has seen no other failure.
  EXPECT_TRUE(testing::Await([&] { return writers.sent_on() == 4; }));
  const int64_t before = writers.acknowledged();
  EXPECT_TRUE(testing::Await([&] { return writers.acknowledged() > before + 100; }));
  writers.Stop();
  EXPECT_EQ(writers.failures(), 0) << writers.last_failure();
  ExpectCounters(writers, ClientOf(*target_));
  ExpectClean(*target_);

  // The table has the settings that it was not copied with, and the source says where it is.
  const auto target = ClientOf(*target_).DescribeTable(kMovedTable);
  ASSERT_TRUE(target.ok());
  EXPECT_TRUE(target->table.definition.stream_enabled);
  EXPECT_EQ(target->table.definition.stream_view_type, StreamViewType::kNewImage);
  EXPECT_TRUE(target->table.definition.deletion_protection_enabled);
  EXPECT_EQ(ClientOf(*target_).DescribeTimeToLive(kMovedTable)->attribute_name, "until");
  const WriteFence moved{.endpoint = target_->endpoint(), .moved = true};
  EXPECT_EQ(FenceOf(ClientOf(*source_)), moved);
  source_->Kill();
  ASSERT_TRUE(source_->Start().ok());
  EXPECT_EQ(FenceOf(ClientOf(*source_)), moved);

  // Run again it has nothing to do.
  EXPECT_EQ(GraduateReport({"--yes"})["items_copied"], 0);
  // Giving up is too late; bringing the tables back is not.
  const CommandResult aborted = Graduate({"--abort"});
  EXPECT_EQ(aborted.exit_code, 1);
  EXPECT_THAT(aborted.err, HasSubstr("--back"));
  const std::map<std::string, Item> items = ItemsOf(ClientOf(*target_));
  EXPECT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
  EXPECT_EQ(ItemsOf(ClientOf(*source_)), items);
  EXPECT_EQ(FenceOf(ClientOf(*source_)), std::nullopt);
  EXPECT_EQ(FenceOf(ClientOf(*target_)), (WriteFence{.endpoint = source_->endpoint(), .moved = true}));
  ExpectClean(*source_);
}

// As many writes a second as the machine makes, with pauses that allow up to 2,000; the figures are printed,
// because they depend on the machine.
TEST_F(MoveTest, LosesNothingWhileSixteenWritersGoOn) {
  const int items = testing::kHasSanitizer ? 5'000 : 100'000;
  const absl::Time begin = absl::Now();
  MakeTable(ClientOf(*source_), items);
  const double bulk_rate = items / absl::ToDoubleSeconds(absl::Now() - begin);
  CounterWriters writers(source_->endpoint(), target_->endpoint(), 16, absl::Milliseconds(7));
  absl::SleepFor(absl::Seconds(1));
  const int64_t before = writers.acknowledged();
  const absl::Time counted = absl::Now();
  const Json report = GraduateReport({"--yes"});
  const double write_rate =
      static_cast<double>(writers.acknowledged() - before) / absl::ToDoubleSeconds(absl::Now() - counted);
  EXPECT_TRUE(testing::Await([&] { return writers.sent_on() == 16; }));
  writers.Stop();
  EXPECT_EQ(writers.failures(), 0) << writers.last_failure();
  EXPECT_EQ(report["differences"], 0) << report;
  ExpectCounters(writers, ClientOf(*target_));
  std::printf(
      "bulk writes of one client %.0f items/s; copied %.0f items/s while %.0f writes/s went on; lag %d ms, "
      "writes paused %d ms, longest write %d ms\n",
      bulk_rate, report["items_copied"].get<double>() * 1000 / report["copy_ms"].get<double>(), write_rate,
      report["lag_ms"].get<int>(), report["write_pause_ms"].get<int>(),
      static_cast<int>(absl::ToInt64Milliseconds(writers.longest_write())));
}

TEST_F(MoveTest, ADryRunChangesNothing) {
  MakeTable(ClientOf(*source_), 100);
  const Json plan = GraduateReport({"--dry-run"});
  EXPECT_EQ(plan["item_count"], 100);
  EXPECT_EQ(plan["tables"][0]["table_name"], kMovedTable);
  EXPECT_EQ(plan["tables"][0]["exists_in_target"], false);
  EXPECT_TRUE(ClientOf(*target_).ListTables()->table_names.empty());
  EXPECT_FALSE(std::filesystem::exists(state_file()));
}

TEST_F(MoveTest, DoesNotSwitchWithoutBeingTold) {
  MakeTable(ClientOf(*source_), 100);
  const CommandResult result = Graduate();
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(FenceOf(ClientOf(*source_)), std::nullopt);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
  // What was written since is followed by the next run.
  ASSERT_TRUE(
      ClientOf(*source_).PutItem({.table_name = kMovedTable, .item = {{"id", "new"}, {"grp", "g"}}}).ok());
  ASSERT_TRUE(ClientOf(*source_).DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
  const Json report = GraduateReport({"--yes"});
  EXPECT_EQ(report["items_copied"], 0);
  EXPECT_EQ(report["changes_applied"], 2);
  EXPECT_EQ(report["differences"], 0);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
}

// Changes that nobody made in the source are found: an item more, one less, and one that differs.
TEST_F(MoveTest, RepairsWhatDiffers) {
  MakeTable(ClientOf(*source_), 6'000);
  EXPECT_EQ(Graduate().exit_code, 2);
  Client target = ClientOf(*target_);
  ASSERT_TRUE(target.UpdateTable({.table_name = kMovedTable, .write_fence = WriteFence{}}).ok());
  ASSERT_TRUE(target.PutItem({.table_name = kMovedTable, .item = {{"id", "extra"}}}).ok());
  ASSERT_TRUE(target.DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
  ASSERT_TRUE(target.PutItem({.table_name = kMovedTable, .item = {{"id", "item2"}, {"price", 2}}}).ok());
  const CommandResult result = Graduate({"--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ParseLines(result.out)[0]["differences"], 3);
  EXPECT_THAT(result.err, HasSubstr(R"(only in the target: {"id": "extra"})"));
  EXPECT_THAT(result.err, HasSubstr(R"(only in the source: {"id": "item1"})"));
  EXPECT_THAT(result.err, HasSubstr(R"(different: {"id": "item2"})"));
  EXPECT_EQ(ItemsOf(target), ItemsOf(ClientOf(*source_)));
}

TEST_F(MoveTest, GivingUpLeavesTheSourceAsItWas) {
  MakeTable(ClientOf(*source_), 100);
  const std::map<std::string, Item> items = ItemsOf(ClientOf(*source_));
  EXPECT_EQ(Graduate().exit_code, 2);
  // As after a kill between the fence and the switch.
  ASSERT_TRUE(ClientOf(*source_)
                  .UpdateTable(
                      {.table_name = kMovedTable, .write_fence = WriteFence{.endpoint = target_->endpoint()}})
                  .ok());
  EXPECT_EQ(ReasonOf(ClientOf(*source_)
                         .PutItem({.table_name = kMovedTable, .item = {{"id", "x"}}}, OneAttempt())
                         .status()),
            kReasonTableMoving);
  const CommandResult aborted = Graduate({"--abort"});
  EXPECT_EQ(aborted.exit_code, 0) << aborted.err;
  EXPECT_FALSE(std::filesystem::exists(state_file()));
  EXPECT_EQ(FenceOf(ClientOf(*source_)), std::nullopt);
  EXPECT_TRUE(ClientOf(*source_).PutItem({.table_name = kMovedTable, .item = {{"id", "x"}}}).ok());
  ASSERT_TRUE(ClientOf(*source_).DeleteItem({.table_name = kMovedTable, .key = {{"id", "x"}}}).ok());
  EXPECT_EQ(ItemsOf(ClientOf(*source_)), items);
  // Another move begins anew, into the table that the first one has made.
  const CommandResult again = Graduate();
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("--overwrite"));
  EXPECT_EQ(GraduateReport({"--overwrite", "--yes"})["items_copied"], 100);
}

// The target is away while writers wait: they go on at the source.
TEST_F(MoveTest, ATargetThatIsLostAtTheSwitchGivesTheWritersBack) {
  MakeTable(ClientOf(*source_), 100);
  EXPECT_EQ(Graduate().exit_code, 2);
  CounterWriters writers(source_->endpoint(), target_->endpoint(), 2, absl::Milliseconds(1));
  // Stopped, not dead: its connections stay, and nothing is answered.
  Mover mover(GraduateArguments({"--yes", "--switch-patience", "2"}), directory_.path() + "/mover.log");
  EXPECT_TRUE(testing::Await([&] {
    const auto fence = FenceOf(ClientOf(*source_));
    if (fence.has_value()) target_->Signal(SIGSTOP);
    return fence.has_value() || mover.Said("switched");
  }));
  // The stop may come after the switch; then there is nothing to see here.
  const int64_t before = writers.acknowledged();
  if (!mover.Said("switched")) {
    EXPECT_TRUE(
        testing::Await([&] { return writers.acknowledged() > before + 10 || mover.Said("switched"); }));
  }
  target_->Signal(SIGCONT);
  mover.process().Wait();
  writers.Stop();
  EXPECT_EQ(writers.failures(), 0) << writers.last_failure();
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  ExpectCounters(writers, ClientOf(*target_));
}

TEST_F(MoveTest, SaysWhatIsInTheWay) {
  MakeTable(ClientOf(*source_), 10);
  const auto error = [&](const std::vector<std::string>& more, int exit_code) {
    const CommandResult result = Graduate(more);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"--tables", "Nothing"}, 3), HasSubstr("the source has no table Nothing"));
  EXPECT_THAT(error({"--dry-run", "--abort"}, 2), HasSubstr("exclude each other"));
  // Another schema.
  ASSERT_TRUE(ClientOf(*target_)
                  .CreateTable({.table_name = kMovedTable,
                                .attribute_definitions = {{"id", ScalarAttributeType::kNumber}},
                                .key_schema = {{"id", KeyType::kHash}}})
                  .ok());
  EXPECT_THAT(error({}, 1), HasSubstr("the target has another table Counters"));
  EXPECT_THAT(error({"--dry-run"}, 1), HasSubstr("the target has another table Counters"));
  ASSERT_TRUE(ClientOf(*target_).DeleteTable(kMovedTable).ok());

  const CommandResult itself = RunProgram(
      testing::ProgramPath("itemctl"),
      {"--endpoint", source_->endpoint(), "graduate", source_->endpoint(), "--state", state_file()});
  EXPECT_EQ(itself.exit_code, 1);
  EXPECT_THAT(itself.err, HasSubstr("one database"));
  const CommandResult away =
      RunProgram(testing::ProgramPath("itemctl"),
                 {"--endpoint", source_->endpoint(), "graduate", "unix:" + directory_.path() + "/nobody",
                  "--patience", "0.5", "--state", state_file()});
  EXPECT_EQ(away.exit_code, 5) << away.err;
  EXPECT_THAT(away.err, HasSubstr("the target unix:"));

  // A file of another move, and a target that has lost the move.
  EXPECT_EQ(Graduate().exit_code, 2);
  ASSERT_TRUE(ClientOf(*target_).DeleteTable("itemdb_moves").ok());
  EXPECT_THAT(error({}, 1), HasSubstr("the target has no record of the move"));
  std::ofstream(state_file()) << "{}";
  EXPECT_THAT(error({}, 1), HasSubstr("move.json: the state of the move has no valid format"));
}

// At their HTTP address databases have no id. A database that is moved to itself would send its writers away
// for good.
TEST_F(MoveTest, ADatabaseIsTheSameAtItsHttpAddress) {
  source_->Kill();
  ASSERT_TRUE(source_->Start({"--http-listen", "127.0.0.1:0"}).ok());
  MakeTable(ClientOf(*source_), 10);
  const std::string url = "http://" + source_->http_endpoint();
  const std::map<std::string, Item> items = ItemsOf(ClientOf(*source_));
  for (const char* command : {"graduate", "adopt"}) {
    for (const char* option : {"--overwrite", "--dry-run", "--yes", "--enable-streams"}) {
      SCOPED_TRACE(std::string(command) + " " + option);
      if (std::string(command) == "adopt" && std::string(option) == "--yes") continue;
      std::vector<std::string> arguments = {"--endpoint", source_->endpoint(), command, url,
                                            "--state",    state_file(),        option};
      if (std::string(option) == "--yes") arguments.push_back("--overwrite");
      const CommandResult result = RunProgram(testing::ProgramPath("itemctl"), arguments);
      EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
      EXPECT_THAT(result.err,
                  HasSubstr("source and target are one database: table Counters has the TableId"));
      EXPECT_THAT(result.err, HasSubstr(url));
      EXPECT_EQ(FenceOf(ClientOf(*source_)), std::nullopt);
      EXPECT_EQ(ClientOf(*source_).ListTables()->table_names, std::vector<std::string>{kMovedTable});
      EXPECT_TRUE(ClientOf(*source_).ListChangeHolds()->empty());
      EXPECT_FALSE(ClientOf(*source_).DescribeTable(kMovedTable)->table.definition.stream_enabled);
      EXPECT_FALSE(std::filesystem::exists(state_file()));
    }
  }
  EXPECT_EQ(ItemsOf(ClientOf(*source_)), items);
}

TEST_F(MoveTest, ATableThatIsNamedTwiceIsOne) {
  MakeTable(ClientOf(*source_), 10);
  const std::string twice = std::string(kMovedTable) + "," + kMovedTable;
  EXPECT_EQ(GraduateReport({"--tables", twice, "--dry-run"})["tables"].size(), 1u);
  const Json report = GraduateReport({"--tables", twice, "--yes"});
  EXPECT_EQ(report["items_copied"], 10);
  EXPECT_EQ(report["items_compared"], 10);
}

// What is not switched cannot be brought back: the move is as it was, and so is one that runs.
TEST_F(MoveTest, ARefusedWayBackLeavesTheMoveAsItWas) {
  MakeTable(ClientOf(*source_), 10);
  EXPECT_EQ(Graduate().exit_code, 2);
  Client client = ClientOf(*source_);
  const std::vector<ChangeHold> holds = *client.ListChangeHolds();
  ASSERT_EQ(holds.size(), 1u);
  ASSERT_TRUE(client.ReleaseChanges(holds[0].name).ok());
  const std::optional<WriteFence> fence = FenceOf(ClientOf(*target_));
  for (const char* option : {"--back", "--follow-back"}) {
    SCOPED_TRACE(option);
    const CommandResult result = Graduate({option, "--yes"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("writers were not sent to the target"));
    EXPECT_TRUE(client.ListChangeHolds()->empty());
    EXPECT_EQ(FenceOf(ClientOf(*target_)), fence);
  }
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
}

// The table's file of the mover is lost: the target knows where the move is.
TEST_F(MoveTest, GoesOnWithoutItsFile) {
  MakeTable(ClientOf(*source_), 100);
  EXPECT_EQ(Graduate().exit_code, 2);
  std::filesystem::remove(state_file());
  EXPECT_EQ(GraduateReport({"--yes"})["items_copied"], 0);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
}

TEST_F(MoveTest, AfterOneMoveAnotherTakesTheTablesThatAreLeft) {
  MakeTable(ClientOf(*source_), 100);
  ASSERT_EQ(GraduateReport({"--tables", kMovedTable, "--yes"})["items_copied"], 100);
  Client source = ClientOf(*source_);
  ASSERT_TRUE(source
                  .CreateTable({.table_name = "Later",
                                .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                .key_schema = {{"id", KeyType::kHash}}})
                  .ok());
  ASSERT_TRUE(source.PutItem({.table_name = "Later", .item = {{"id", "x"}}}).ok());
  const Json report = GraduateReport({"--yes"});
  EXPECT_EQ(report["items_copied"], 1) << report;
  EXPECT_EQ(ItemsOf(ClientOf(*target_), "Later").size(), 1u);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)).size(), 100u);
}

// The fences of the source have the target's name, by which a move finds out how far it is.
TEST_F(MoveTest, ATargetKeepsItsName) {
  MakeTable(ClientOf(*source_), 10);
  EXPECT_EQ(Graduate().exit_code, 2);
  const std::string socket = target_->endpoint().substr(std::string("unix:").size());
  const std::string other = "unix:" + std::filesystem::path(socket).parent_path().string() + "/./" +
                            std::filesystem::path(socket).filename().string();
  for (const char* option : {"--yes", "--abort"}) {
    const CommandResult result =
        RunProgram(testing::ProgramPath("itemctl"),
                   {"--endpoint", source_->endpoint(), "graduate", other, "--state", state_file(), option});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("begun with the target's name " + target_->endpoint()));
  }
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
}

// A mover that is killed after writers were sent back to the source must not replace what they write there.
TEST_F(MoveTest, GoingBackEndsOnceWritersAreBack) {
  MakeTable(ClientOf(*source_), 10);
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  // What a mover has done that is killed before it forgets the move.
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  std::ifstream before(state_file());
  std::string state{std::istreambuf_iterator<char>(before), {}};
  before.close();
  const size_t step = state.find("\"DONE\"");
  ASSERT_NE(step, std::string::npos) << state;
  state.replace(step, 6, "\"GOING_BACK\"");
  std::ofstream(state_file()) << state;
  ASSERT_TRUE(target
                  .UpdateTable({.table_name = kMovedTable,
                                .write_fence = WriteFence{.endpoint = source_->endpoint(), .moved = true}})
                  .ok());
  ASSERT_TRUE(source.UpdateTable({.table_name = kMovedTable, .write_fence = WriteFence{}}).ok());
  Item written = ItemsOf(source).begin()->second;
  written.Set("written", "after");
  ASSERT_TRUE(source.PutItem({.table_name = kMovedTable, .item = written}).ok());
  const std::map<std::string, Item> items = ItemsOf(source);
  EXPECT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
  EXPECT_EQ(ItemsOf(source), items);
  EXPECT_FALSE(std::filesystem::exists(state_file()));
}

// Whatever was not read of the change log before it was trimmed is found by comparison.
TEST_F(MoveTest, AChangeLogThatWasTrimmedIsReplacedByAComparison) {
  MakeTable(ClientOf(*source_), 6'000);
  EXPECT_EQ(Graduate({"--hold", "0"}).exit_code, 2);
  Client client = ClientOf(*source_);
  EXPECT_TRUE(client.ListChangeHolds()->empty());
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(
        client.DeleteItem({.table_name = kMovedTable, .key = {{"id", "item" + std::to_string(i)}}}).ok());
  }
  source_->Kill();
  ASSERT_TRUE(source_->Start({"--change-retention", "1s"}).ok());
  const uint64_t first = client.ReadChanges({.limit = 1}).ok() ? 1 : 0;
  if (first == 1) {
    ASSERT_TRUE(testing::Await(
        [&] { return absl::IsOutOfRange(client.ReadChanges({.after_sequence = 0, .limit = 1}).status()); }));
  }
  const CommandResult result = Graduate({"--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("all items are compared"));
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
}

// The source keeps what the mover has not read, also when it is killed.
TEST_F(MoveTest, AStopLongerThanTheRetentionMissesNoChange) {
  MakeTable(ClientOf(*source_), 6'000);
  EXPECT_EQ(Graduate().exit_code, 2);
  Client client = ClientOf(*source_);
  const auto holds = client.ListChangeHolds();
  ASSERT_TRUE(holds.ok()) << holds.status();
  ASSERT_EQ(holds->size(), 1u);
  const ChangeHold hold = holds->front();
  EXPECT_TRUE(hold.name.starts_with("move-")) << hold.name;
  EXPECT_EQ(hold.lease, absl::Hours(72));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(
        client.DeleteItem({.table_name = kMovedTable, .key = {{"id", "item" + std::to_string(i)}}}).ok());
  }
  source_->Kill();
  ASSERT_TRUE(source_->Start({"--change-retention", "1s"}).ok());
  // Everything before is trimmed, and nothing else.
  ASSERT_TRUE(testing::Await([&] {
    const auto page = client.ReadChanges({.after_sequence = hold.after_sequence, .limit = 1});
    EXPECT_TRUE(page.ok()) << page.status();
    return !page.ok() || page->oldest_sequence > 1;
  }));
  const auto page = client.ReadChanges({.after_sequence = hold.after_sequence, .limit = 1});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->oldest_sequence, hold.after_sequence + 1);
  const CommandResult result = Graduate({"--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("all items are compared"))) << result.err;
  EXPECT_EQ(ParseLines(result.out)[0]["changes_applied"], 300);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
  // It is not needed any more.
  EXPECT_TRUE(client.ListChangeHolds()->empty());
}

// An operator takes the space back. The move stops, and goes on when it is run again.
TEST_F(MoveTest, AMoveWhoseHoldIsReleasedStops) {
  MakeTable(ClientOf(*source_), 2'000);
  Mover mover(GraduateArguments({"--follow", "--hold", "8"}), directory_.path() + "/follow.log");
  ASSERT_TRUE(testing::Await([&] { return mover.Said("following: "); })) << mover.log();
  Client client = ClientOf(*source_);
  const auto holds = client.ListChangeHolds();
  ASSERT_TRUE(holds.ok() && holds->size() == 1) << holds.status();
  const CommandResult released = RunProgram(
      testing::ProgramPath("itemctl"),
      {"--endpoint", source_->endpoint(), "change-holds", "release", holds->front().name, "--yes"});
  EXPECT_EQ(released.exit_code, 0) << released.err;
  EXPECT_EQ(mover.process().Wait(), 1) << mover.log();
  EXPECT_TRUE(mover.Said("the source: there is no hold of the change log with the name move-"))
      << mover.log();
  EXPECT_TRUE(mover.Said("run the same command again")) << mover.log();
  ASSERT_TRUE(client.PutItem({.table_name = kMovedTable, .item = {{"id", "new"}}}).ok());
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(client));
}

// Its change log ends before the place of the move.
TEST_F(MoveTest, ASourceThatWasRestoredToAnEarlierTimeIsComparedAnew) {
  MakeTable(ClientOf(*source_), 100);
  source_->Kill();
  const std::string earlier = directory_.path() + "/earlier";
  std::filesystem::copy(source_->data_directory(), earlier, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(source_->Start().ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(ClientOf(*source_)
                    .PutItem({.table_name = kMovedTable, .item = {{"id", "lost" + std::to_string(i)}}})
                    .ok());
  }
  EXPECT_EQ(Graduate().exit_code, 2);
  source_->Kill();
  std::filesystem::remove_all(source_->data_directory());
  std::filesystem::rename(earlier, source_->data_directory());
  ASSERT_TRUE(source_->Start().ok());
  ASSERT_TRUE(ClientOf(*source_).PutItem({.table_name = kMovedTable, .item = {{"id", "new"}}}).ok());
  const CommandResult result = Graduate({"--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("all items are compared")) << result.err;
  const std::map<std::string, Item> items = ItemsOf(ClientOf(*target_));
  EXPECT_EQ(items.size(), 101u);
  EXPECT_EQ(items, ItemsOf(ClientOf(*source_)));
  EXPECT_TRUE(ClientOf(*source_).ListChangeHolds()->empty());
}

class RolledBackSourceTest : public MoveTest {
 protected:
  void CopySource(const std::string& to) {
    source_->Kill();
    std::filesystem::copy(source_->data_directory(), to, std::filesystem::copy_options::recursive);
    ASSERT_TRUE(source_->Start().ok());
  }
  void RollSourceBack(const std::string& earlier) {
    source_->Kill();
    std::filesystem::remove_all(source_->data_directory());
    std::filesystem::rename(earlier, source_->data_directory());
    ASSERT_TRUE(source_->Start().ok());
  }
  void Put(const std::string& name, int count) {
    Client client = ClientOf(*source_);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(
          client.PutItem({.table_name = kMovedTable, .item = {{"id", name + std::to_string(i)}}}).ok());
    }
  }
  bool AreEqual() const { return ItemsOf(ClientOf(*source_)) == ItemsOf(ClientOf(*target_)); }
};

// From a backup, or because a standby was promoted that had less. The hold of the move may be older than it
// was, or not be there. New writes may have taken the numbers of the changes that the mover has read, before
// it reads again.
TEST_F(RolledBackSourceTest, IsComparedAnewByTheMoverThatRuns) {
  MakeTable(ClientOf(*source_), 100);
  for (const bool has_hold : {false, true}) {
    for (const int written : {1, 50}) {
      SCOPED_TRACE(std::string(has_hold ? "with" : "without") + " the hold, " + std::to_string(written) +
                   " writes since");
      const std::string name = (has_hold ? "h" : "n") + std::to_string(written);
      const std::string earlier = directory_.path() + "/earlier";
      if (!has_hold) CopySource(earlier);
      const std::vector<std::string> more = {"--follow", "--hold", "8", "--overwrite"};
      Mover mover(GraduateArguments(more), directory_.path() + "/" + name + ".log");
      ASSERT_TRUE(testing::Await([&] { return mover.Said("following: "); })) << mover.log();
      if (has_hold) CopySource(earlier);
      Put("lost" + name, 20);
      ASSERT_TRUE(testing::Await([&] { return AreEqual(); })) << mover.log();
      mover.process().Signal(SIGSTOP);
      RollSourceBack(earlier);
      Put("new" + name, written);
      ASSERT_TRUE(ClientOf(*source_).DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
      mover.process().Signal(SIGCONT);
      EXPECT_TRUE(testing::Await([&] { return mover.Said("all items are compared"); })) << mover.log();
      EXPECT_TRUE(mover.Said("it was restored to an earlier time")) << mover.log();
      EXPECT_TRUE(testing::Await([&] { return AreEqual(); })) << mover.log();
      // Another hold keeps the changes from then on, and is renewed.
      const auto renewed = [&] {
        const auto holds = ClientOf(*source_).ListChangeHolds();
        return holds.ok() && holds->size() == 1 ? holds->front().renewed_time : absl::InfinitePast();
      };
      const absl::Time first = renewed();
      EXPECT_GT(first, absl::InfinitePast());
      EXPECT_TRUE(testing::Await([&] { return renewed() > first; })) << mover.log();
      Put("after" + name, 5);
      EXPECT_TRUE(testing::Await([&] { return AreEqual(); })) << mover.log();
      mover.process().Signal(SIGINT);
      mover.process().Wait();
      EXPECT_FALSE(mover.Said("there is no hold")) << mover.log();
      EXPECT_EQ(Graduate({"--abort"}).exit_code, 0);
    }
  }
  EXPECT_EQ(GraduateReport({"--yes", "--overwrite"})["step"], "DONE");
  EXPECT_TRUE(AreEqual());
}

// The same for a run that begins after it.
TEST_F(RolledBackSourceTest, ThatWasWrittenToSinceIsComparedAnew) {
  MakeTable(ClientOf(*source_), 100);
  const std::string earlier = directory_.path() + "/earlier";
  CopySource(earlier);
  Put("lost", 20);
  EXPECT_EQ(Graduate().exit_code, 2);
  RollSourceBack(earlier);
  Put("new", 50);
  const CommandResult result = Graduate({"--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("it was restored to an earlier time"));
  EXPECT_TRUE(AreEqual());
  EXPECT_TRUE(ClientOf(*source_).ListChangeHolds()->empty());
}

// Where nothing is fenced only the changes tell what to compare at the end.
TEST_F(RolledBackSourceTest, IsComparedAnewBeforeItsTablesAreTakenOver) {
  MakeTable(ClientOf(*source_), 100);
  Mover mover({"--endpoint", target_->endpoint(), "adopt", source_->endpoint(), "--state", state_file(),
               "--quiet", "10"},
              directory_.path() + "/adopt.log");
  ASSERT_TRUE(testing::Await([&] { return mover.Said("stop the writers of"); })) << mover.log();
  const std::string earlier = directory_.path() + "/earlier";
  CopySource(earlier);
  Put("lost", 20);
  ASSERT_TRUE(testing::Await([&] { return AreEqual(); })) << mover.log();
  mover.process().Signal(SIGSTOP);
  RollSourceBack(earlier);
  Put("new", 50);
  mover.process().Signal(SIGCONT);
  EXPECT_EQ(mover.process().Wait(), 0) << mover.log();
  EXPECT_TRUE(mover.Said("both sides are equal")) << mover.log();
  EXPECT_TRUE(AreEqual()) << mover.log();
}

// Each try of a move that cannot begin would leave one.
TEST_F(MoveTest, AMoveThatCannotBeginLeavesNoHold) {
  MakeTable(ClientOf(*source_), 10);
  Client client = ClientOf(*source_);
  CommandResult result;
  for (const char* file : {"/missing/move.json", "/source"}) {
    result = RunProgram(testing::ProgramPath("itemctl"),
                        {"--endpoint", source_->endpoint(), "graduate", target_->endpoint(), "--state",
                         directory_.path() + file});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(file));
    EXPECT_TRUE(client.ListChangeHolds()->empty());
    EXPECT_TRUE(ClientOf(*target_).ListTables()->table_names.empty());
  }
  // Nor is a record in the way of a move of other tables.
  ASSERT_TRUE(client
                  .CreateTable({.table_name = "Other",
                                .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                .key_schema = {{"id", KeyType::kHash}}})
                  .ok());
  EXPECT_EQ(Graduate({"--tables", "Other"}).exit_code, 2);
  EXPECT_EQ(Graduate({"--abort"}).exit_code, 0);
  ASSERT_TRUE(client.DeleteTable("Other").ok());
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  // One that was killed in that moment leaves it. Whose it is, --abort cannot know.
  ASSERT_TRUE(client.HoldChanges({.name = "move-0123"}).ok());
  ASSERT_TRUE(ClientOf(*target_).DeleteTable("itemdb_moves").ok());
  ASSERT_TRUE(std::filesystem::remove(state_file()));
  result = Graduate({"--abort"});
  EXPECT_THAT(result.err, HasSubstr("itemctl change-holds release move-0123")) << result.err;
}

// What is given up holds nothing; nor does what was taken over.
TEST_F(MoveTest, HoldsEndWithTheirMoves) {
  MakeTable(ClientOf(*source_), 10);
  Client client = ClientOf(*source_);
  EXPECT_EQ(Graduate().exit_code, 2);
  EXPECT_EQ(client.ListChangeHolds()->size(), 1u);
  EXPECT_EQ(Graduate({"--abort"}).exit_code, 0);
  EXPECT_TRUE(client.ListChangeHolds()->empty());
  ASSERT_TRUE(ClientOf(*target_).DeleteTable(kMovedTable).ok());
  const CommandResult result = RunProgram(testing::ProgramPath("itemctl"),
                                          {"--endpoint", target_->endpoint(), "adopt", source_->endpoint(),
                                           "--state", state_file(), "--quiet", "0.2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(client.ListChangeHolds()->empty());
}

TEST_F(MoveTest, AdoptsTables) {
  MakeTable(ClientOf(*source_), 6'000);
  const std::vector<std::string> arguments = {
      "--endpoint",        target_->endpoint(), "-o",         "jsonl",   "adopt",
      source_->endpoint(), "--state",           state_file(), "--quiet", "0.2"};
  CommandResult result = RunProgram(testing::ProgramPath("itemctl"), arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ParseLines(result.out)[0]["items_copied"], 6'000);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
  // Run again it brings what was written since.
  ASSERT_TRUE(ClientOf(*source_).PutItem({.table_name = kMovedTable, .item = {{"id", "new"}}}).ok());
  ASSERT_TRUE(ClientOf(*source_).DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
  // It is done, so the target may have writers of its own.
  result = RunProgram(testing::ProgramPath("itemctl"), arguments);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("were taken over already, and differ now in 2 items: --overwrite"));
  EXPECT_EQ(ItemsOf(ClientOf(*target_)).count("new"), 0u);
  std::vector<std::string> again = arguments;
  again.push_back("--overwrite");
  result = RunProgram(testing::ProgramPath("itemctl"), again);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(ParseLines(result.out)[0]["differences"], 2);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
}

// The change log of the source has what they write; the end waits for them.
TEST_F(MoveTest, AdoptsWhileWritersGoOn) {
  MakeTable(ClientOf(*source_), 2'000);
  CounterWriters writers(source_->endpoint(), target_->endpoint(), 2, absl::Milliseconds(1));
  Mover mover({"--endpoint", target_->endpoint(), "-o", "jsonl", "adopt", source_->endpoint(), "--state",
               state_file(), "--quiet", "1"},
              directory_.path() + "/adopt.log");
  ASSERT_TRUE(testing::Await([&] { return mover.Said("stop the writers of"); })) << mover.log();
  const int64_t acknowledged = writers.acknowledged();
  ASSERT_TRUE(testing::Await([&] { return writers.acknowledged() > acknowledged + 1'000; }));
  EXPECT_FALSE(mover.Said("both sides are equal"));
  writers.Stop();
  EXPECT_EQ(mover.process().Wait(), 0) << mover.log();
  ExpectCounters(writers, ClientOf(*target_));
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
}

// The source sends its writers away all the time, and only the mover writes there.
TEST_F(MoveTest, FollowsBackByTheChangeLogOfTheTarget) {
  MakeTable(ClientOf(*source_), 100);
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  EXPECT_THAT(Graduate({"--follow-back"}).err, HasSubstr("no move to"));
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  ASSERT_TRUE(target.PutItem({.table_name = kMovedTable, .item = {{"id", "before"}}}).ok());
  const auto has = [&](const char* id) {
    const auto found = source.GetItem({.table_name = kMovedTable, .key = {{"id", id}}});
    return found.ok() && found->item.has_value();
  };
  for (const char* id : {"first", "second"}) {
    SCOPED_TRACE(id);
    Mover mover(GraduateArguments({"--follow-back"}), directory_.path() + "/" + id + ".log");
    ASSERT_TRUE(testing::Await([&] { return mover.Said("following: change"); })) << mover.log();
    EXPECT_TRUE(has("before"));
    ASSERT_TRUE(target.PutItem({.table_name = kMovedTable, .item = {{"id", id}}}).ok());
    EXPECT_TRUE(testing::Await([&] { return has(id); })) << mover.log();
    const absl::Status refused =
        source.PutItem({.table_name = kMovedTable, .item = {{"id", "x"}}}, OneAttempt()).status();
    EXPECT_EQ(ReasonOf(refused), kReasonTableMoved) << refused;
    mover.process().Signal(SIGKILL);
    mover.process().Wait();
  }
  ASSERT_TRUE(target.DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
  EXPECT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
  EXPECT_EQ(ItemsOf(source), ItemsOf(target));
  EXPECT_TRUE(source.PutItem({.table_name = kMovedTable, .item = {{"id", "x"}}}).ok());
}

// Its record has no run and no revision.
TEST_F(MoveTest, GoesOnWithTheRecordOfAnEarlierVersion) {
  MakeTable(ClientOf(*source_), 10);
  EXPECT_EQ(Graduate().exit_code, 2);
  Client target = ClientOf(*target_);
  const ItemPage page = *target.Scan({.table_name = "itemdb_moves"});
  ASSERT_EQ(page.items.size(), 1u);
  Item record = page.items.front();
  std::string state = *record.find_or_null("state")->string_or_null();
  const size_t run = state.find("\"run\""), rest = state.find("\"sequence\"");
  ASSERT_LT(run, rest) << state;
  state.erase(run, rest - run);
  Item old{{"source", *record.find_or_null("source")},
           {"move_id", *record.find_or_null("move_id")},
           {"step", *record.find_or_null("step")},
           {"sequence", *record.find_or_null("sequence")},
           {"state", state}};
  ASSERT_TRUE(target.PutItem({.table_name = "itemdb_moves", .item = old}).ok());
  EXPECT_EQ(GraduateReport({"--yes"})["step"], "DONE");
}

// The tables of a killed adopt refuse writers until it goes on or is given up.
TEST_F(MoveTest, AnAdoptThatWasKilledCanBeGivenUp) {
  MakeTable(ClientOf(*source_), 6'000);
  std::vector<std::string> arguments = {
      "--endpoint", target_->endpoint(), "adopt", source_->endpoint(), "--state",
      state_file(), "--quiet",           "0.2",   "--max-rate",        "500"};
  Mover mover(arguments, directory_.path() + "/adopt.log", "itemctl");
  ASSERT_TRUE(testing::Await([&] {
    const auto described = ClientOf(*target_).DescribeTable(kMovedTable);
    return described.ok() && described->table.write_fence.has_value();
  })) << mover.log();
  mover.process().Signal(SIGKILL);
  mover.process().Wait();
  const auto put = [&] {
    return ClientOf(*target_)
        .PutItem({.table_name = kMovedTable, .item = {{"id", "x"}}}, OneAttempt())
        .status();
  };
  EXPECT_EQ(ReasonOf(put()), kReasonTableMoving);
  arguments.resize(8);
  const auto run = [&](const char* option) {
    std::vector<std::string> more = arguments;
    more.push_back(option);
    return RunProgram(testing::ProgramPath("itemctl"), more);
  };
  EXPECT_EQ(run("--abort").exit_code, 0);
  EXPECT_TRUE(put().ok());
  EXPECT_EQ(run("--overwrite").exit_code, 0);
  EXPECT_EQ(ItemsOf(ClientOf(*target_)), ItemsOf(ClientOf(*source_)));
  EXPECT_TRUE(put().ok());
  EXPECT_THAT(run("--abort").err, HasSubstr("were taken over already"));
}

// A proxy before the target cuts connections, before and after requests and replies: writes are sent again.
TEST_F(MoveTest, AProxyThatCutsConnectionsLosesNothing) {
  target_ = nullptr;
  const std::string directory = directory_.path() + "/behind";
  std::filesystem::create_directory(directory);
  target_ = std::make_unique<DaemonProcess>(directory);
  ASSERT_TRUE(target_->Start().ok());
  CuttingProxy proxy({.daemon_endpoint = target_->endpoint(), .seed = KillSeed(), .pieces_per_cut = 60});
  MakeTable(ClientOf(*source_), 20'000);
  CounterWriters writers(source_->endpoint(), proxy.endpoint(), 3, absl::Milliseconds(2));
  const CommandResult result = RunProgram(testing::ProgramPath("itemctl"),
                                          {"--endpoint", source_->endpoint(), "-o", "jsonl", "graduate",
                                           proxy.endpoint(), "--state", state_file(), "--yes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(testing::Await([&] { return writers.sent_on() == 3; }));
  writers.Stop();
  ExpectCounters(writers, ClientOf(*target_));
  EXPECT_GE(ItemsOf(ClientOf(*target_)).size(), 20'000u);
  std::printf("cut %d times before a request, %d after one, %d in a reply\n", proxy.cuts_before_request(),
              proxy.cuts_after_request(), proxy.cuts_of_replies());
  EXPECT_GT(proxy.cuts_before_request() + proxy.cuts_after_request() + proxy.cuts_of_replies(), 0);
}

// kill -9 of mover, source and target at random moments, again and again: nothing that was acknowledged is
// lost, nothing is applied twice, and both sides are equal. ITEMDB_KILL9_CYCLES sets the number of kills.
TEST_F(MoveTest, OutlastsKillsOfEveryProcess) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  int kills = 0;
  int kills_of[3] = {};
  for (int round = 0; kills < Kills() && !HasFailure(); ++round) {
    SCOPED_TRACE("move " + std::to_string(round));
    std::filesystem::remove(state_file());
    source_ = nullptr;
    target_ = nullptr;
    source_ = MakeDaemon("source" + std::to_string(round));
    target_ = MakeDaemon("target" + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(MakeTable(ClientOf(*source_), 6'000));
    CounterWriters writers(source_->endpoint(), target_->endpoint(), 3, absl::Milliseconds(2));
    const std::vector<std::string> arguments = GraduateArguments({"--yes", "--max-rate", "8000"});
    const std::string log = directory_.path() + "/mover" + std::to_string(round) + ".log";
    auto mover = std::make_unique<Mover>(arguments, log);
    bool is_done = false;
    while (!is_done) {
      if (kills < Kills()) {
        const int patience_ms = static_cast<int>(Pick(random, 0, 700));
        const int code = mover->process().Wait(patience_ms);
        is_done = code == 0;
        if (is_done) break;
        // Wait has killed a mover that had not ended.
        ++kills;
        ++kills_of[0];
        const int64_t other = Pick(random, 0, 3);
        if (other < 2) {
          DaemonProcess& daemon = other == 0 ? *source_ : *target_;
          // With the next mover at work.
          mover = std::make_unique<Mover>(arguments, log);
          absl::SleepFor(absl::Milliseconds(Pick(random, 0, 500)));
          daemon.Kill();
          ++kills;
          ++kills_of[1 + other];
          absl::SleepFor(absl::Milliseconds(Pick(random, 0, 300)));
          const absl::Status started = daemon.Start();
          ASSERT_TRUE(started.ok()) << started;
          continue;
        }
        mover = std::make_unique<Mover>(arguments, log);
        continue;
      }
      const int code = mover->process().Wait();
      ASSERT_EQ(code, 0) << mover->log();
      is_done = true;
    }
    EXPECT_TRUE(testing::Await([&] { return writers.sent_on() == 3; })) << mover->log();
    writers.Stop();
    ExpectCounters(writers, ClientOf(*target_));
    ExpectClean(*source_);
    ExpectClean(*target_);
    EXPECT_GE(ItemsOf(ClientOf(*target_)).size(), 6'000u);
    if (HasFailure()) std::fprintf(stderr, "the mover said:\n%s", mover->log().c_str());
  }
  std::printf("%d kills of the mover, %d of the source, %d of the target\n", kills_of[0], kills_of[1],
              kills_of[2]);
}

}  // namespace
}  // namespace itemdb::e2e
