// kill -9 of mover, source and target between the steps of the switch and of going back, in turn after each.
#include <signal.h>

#include <random>

#include "itemdb/bulk_writer.h"
#include "tests/e2e/move_fixture.h"
#include "tests/support/await.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

constexpr char kEvents[] = "Events";

const char* const kVictims[] = {"the mover", "the source", "the target"};

int KillsBetweenSteps() {
  constexpr int kInEveryRun = testing::kHasSanitizer ? 4 : 24;
  return std::getenv("ITEMDB_KILL9_CYCLES") == nullptr ? kInEveryRun : Kills();
}

class MoveStepsTest : public MoveTest {
 protected:
  void SetUp() override {
    MoveTest::SetUp();
    MakeTable(ClientOf(*source_), 300);
    ASSERT_TRUE(ClientOf(*source_)
                    .CreateTable({.table_name = kEvents,
                                  .attribute_definitions = {{"id", ScalarAttributeType::kString}},
                                  .key_schema = {{"id", KeyType::kHash}},
                                  .stream_view_type = StreamViewType::kNewImage,
                                  .stream_enabled = true})
                    .ok());
  }

  // Writes into both tables of `sides`, as a program does that was told nothing of the move. What is
  // acknowledged must not be lost.
  void Write(const std::vector<const DaemonProcess*>& sides) {
    for (const DaemonProcess* side : sides) {
      for (const char* table : {kMovedTable, kEvents}) {
        const std::string id = "event" + std::to_string(++events_);
        const CallOptions once{.timeout = absl::Seconds(10), .retry = RetryOptions{.max_attempts = 1}};
        const absl::Status status =
            ClientOf(*side).PutItem({.table_name = table, .item = {{"id", id}}}, once).status();
        if (status.ok()) {
          acknowledged_.emplace_back(table, id);
        } else {
          EXPECT_TRUE(ReasonOf(status) == kReasonTableMoving || ReasonOf(status) == kReasonTableMoved)
              << status;
        }
      }
    }
  }

  void ExpectAcknowledged(const DaemonProcess& side) {
    for (const auto& [table, id] : acknowledged_) {
      const auto found = ClientOf(side).GetItem({.table_name = table, .key = {{"id", id}}});
      ASSERT_TRUE(found.ok()) << found.status();
      EXPECT_TRUE(found->item.has_value()) << id << " of " << table << " is lost";
    }
  }

  std::unique_ptr<Mover> Start(int step, const std::string& direction, const std::string& log_name,
                               bool counts_reads = false) {
    const std::string log = directory_.path() + "/" + log_name;
    std::filesystem::remove(log);
    std::vector<std::string> arguments = {source_->endpoint(), target_->endpoint(), state_file(), direction,
                                          std::to_string(step)};
    if (counts_reads) arguments.push_back("calls");
    return std::make_unique<Mover>(arguments, log, "paused_mover");
  }
  // False: the mover ended before it stopped after `step`.
  static bool AwaitPause(const Mover& mover, int step) {
    const std::string line = std::to_string(step) + " ";
    const auto is_there = [&] { return mover.log().starts_with(line) || mover.Said("\n" + line); };
    EXPECT_TRUE(testing::Await([&] { return is_there() || mover.Said("\nended"); })) << mover.log();
    return is_there();
  }
  std::unique_ptr<Mover> Pause(int step, const std::string& direction,
                               const std::string& log_name = "mover.log") {
    std::unique_ptr<Mover> mover = Start(step, direction, log_name);
    EXPECT_TRUE(AwaitPause(*mover, step)) << mover->log();
    return mover;
  }

  // Runs the mover until it stops after `step`, kills the victim, and goes on to the end. False: the mover
  // had fewer steps.
  bool KillAfter(int step, const std::string& direction, int victim) {
    const std::unique_ptr<Mover> paused = Start(step, direction, "mover.log");
    Mover& mover = *paused;
    if (!AwaitPause(mover, step)) {
      EXPECT_EQ(mover.process().Wait(), 0) << mover.log();
      return false;
    }
    SCOPED_TRACE("kill of " + std::string(kVictims[victim]) + " after step " + std::to_string(step) + " of " +
                 direction);
    // Before the switch nobody is to know the target.
    std::vector<const DaemonProcess*> sides = {source_.get()};
    if (direction == "back") sides.push_back(target_.get());
    Write(sides);
    ++kills_[victim];
    if (victim == 0) {
      mover.process().Signal(SIGKILL);
      mover.process().Wait();
    } else {
      DaemonProcess& daemon = victim == 1 ? *source_ : *target_;
      daemon.Kill();
      mover.process().Signal(SIGCONT);
      const absl::Status started = daemon.Start();
      EXPECT_TRUE(started.ok()) << started;
      mover.process().Wait();
    }
    Write(sides);
    // Unless the mover went on to the end of going back, after which there is no move.
    if (!std::filesystem::exists(state_file())) return true;
    std::vector<std::string> more = {"--yes"};
    if (direction == "back") more.push_back("--back");
    const CommandResult result = Graduate(more);
    EXPECT_EQ(result.exit_code, 0) << mover.log() << result.err;
    return true;
  }

  int kills() const { return kills_[0] + kills_[1] + kills_[2]; }

  std::vector<std::pair<std::string, std::string>> acknowledged_;
  int events_ = 0;
  int kills_[3] = {};
};

// Both sides refuse writers from its beginning on, and the mover writes through the fence.
TEST_F(MoveStepsTest, WritersOfBothSidesWaitWhileTablesAreBroughtBack) {
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  ASSERT_TRUE(target.PutItem({.table_name = kEvents, .item = {{"id", "there"}}}).ok());
  ASSERT_TRUE(target.DeleteItem({.table_name = kMovedTable, .key = {{"id", "item1"}}}).ok());
  const std::map<std::string, Item> items = ItemsOf(target);
  // Steps: the run, the record, a fence of each table of the target, one of each of the source, what differs.
  for (const int step : {6, 7, 7}) {
    SCOPED_TRACE(step);
    const auto mover = Pause(step, "back");
    for (const Client& client : {source, target}) {
      for (const char* table : {kMovedTable, kEvents}) {
        const absl::Status refused =
            client.PutItem({.table_name = table, .item = {{"id", "x"}}}, OneAttempt()).status();
        EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
        EXPECT_EQ(ReasonOf(refused), kReasonTableMoving);
        EXPECT_THAT(std::string(refused.message()), HasSubstr("is moving to " + source_->endpoint()));
        EXPECT_GT(RetryAfterOf(refused), absl::ZeroDuration());
      }
    }
    // What the fence shows is no pass.
    const std::string shown = source.DescribeTable(kEvents)->table.write_fence->pass_sha256;
    EXPECT_EQ(shown.size(), 64u);
    BulkWriter writer(source, {.call = OneAttempt(), .fence_pass = shown});
    EXPECT_TRUE(writer.Put(kEvents, {{"id", "x"}}).ok());
    EXPECT_EQ(ReasonOf(writer.Finish().status()), kReasonTableMoving);
    const CommandResult aborted = Graduate({"--abort"});
    EXPECT_EQ(aborted.exit_code, 1);
    EXPECT_THAT(aborted.err, HasSubstr("bring it back with --back"));
    EXPECT_THAT(Graduate({"--yes"}).err, HasSubstr("go on with --back"));
    mover->process().Signal(SIGKILL);
    mover->process().Wait();
  }
  EXPECT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
  EXPECT_EQ(ItemsOf(source), items);
  EXPECT_EQ(ItemsOf(source, kEvents).count("there"), 1u);
  EXPECT_TRUE(source.PutItem({.table_name = kEvents, .item = {{"id", "x"}}}).ok());
  const CommandResult again = Graduate({"--back", "--yes"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("nothing can be brought back"));
  ExpectClean(*source_);
}

// A mover that was taken for dead and wakes up: the fence has another pass by then.
TEST_F(MoveStepsTest, AnEarlierMoverWritesNoMore) {
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  ASSERT_TRUE(ClientOf(*target_).PutItem({.table_name = kEvents, .item = {{"id", "there"}}}).ok());
  const auto earlier = Pause(6, "back", "earlier.log");
  const auto later = Pause(6, "back", "later.log");
  earlier->process().Signal(SIGCONT);
  EXPECT_EQ(earlier->process().Wait(), 1);
  EXPECT_THAT(earlier->log(), HasSubstr("another run of this command"));
  EXPECT_TRUE(ItemsOf(ClientOf(*source_), kEvents).empty());
  later->process().Signal(SIGCONT);
  EXPECT_EQ(later->process().Wait(), 0) << later->log();
  EXPECT_EQ(ItemsOf(ClientOf(*source_), kEvents).size(), 1u);
}

// Each time the earlier mover wakes up when the later one has ended, and writers are at the source again.
TEST_F(MoveStepsTest, AnEarlierMoverThatWakesUpAfterTheEndReplacesNothing) {
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  for (const int step : {1, 2, 4, 6, 7, 8}) {
    SCOPED_TRACE(step);
    // From the round before; a target with fences is refused.
    for (const char* table : {kMovedTable, kEvents})
      std::ignore = target.UpdateTable({.table_name = table, .write_fence = WriteFence{}});
    ASSERT_EQ(GraduateReport({"--yes", "--overwrite"})["step"], "DONE");
    for (const char* table : {kMovedTable, kEvents})
      ASSERT_TRUE(
          target.PutItem({.table_name = table, .item = {{"id", "both"}, {"at", "target"}, {"step", step}}})
              .ok());
    const auto earlier = Pause(step, "back", "earlier.log");
    ASSERT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
    for (const char* table : {kMovedTable, kEvents})
      ASSERT_TRUE(source.PutItem({.table_name = table, .item = {{"id", "both"}, {"at", "source"}}}).ok());
    const std::map<std::string, Item> items = ItemsOf(source), events = ItemsOf(source, kEvents);
    earlier->process().Signal(SIGCONT);
    EXPECT_EQ(earlier->process().Wait(), 1);
    EXPECT_THAT(earlier->log(), HasSubstr("another run of this command"));
    EXPECT_EQ(ItemsOf(source), items);
    EXPECT_EQ(ItemsOf(source, kEvents), events);
    EXPECT_TRUE(source.PutItem({.table_name = kEvents, .item = {{"id", "x"}}}).ok());
    EXPECT_FALSE(std::filesystem::exists(state_file()));
  }
}

// A target that takes writes is one that writers were sent to: otherwise a mover that goes on in the source,
// as after a kill here, would replace what they wrote.
TEST_F(MoveStepsTest, WritersAreSentToTheTargetBeforeItsFencesAreLifted) {
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  int steps_with_open_target = 0;
  for (int step = 1; step < 100; ++step) {
    SCOPED_TRACE(step);
    const auto mover = Start(step, "switch", "mover.log");
    const bool is_paused = AwaitPause(*mover, step);
    if (is_paused) {
      bool is_open = false;
      for (const char* table : {kMovedTable, kEvents})
        is_open = is_open || !target.DescribeTable(table)->table.write_fence.has_value();
      steps_with_open_target += is_open ? 1 : 0;
      for (const char* table : {kMovedTable, kEvents}) {
        const std::optional<WriteFence> fence = source.DescribeTable(table)->table.write_fence;
        EXPECT_TRUE(!is_open || (fence.has_value() && fence->moved)) << table << "\n" << mover->log();
      }
      mover->process().Signal(SIGCONT);
    }
    ASSERT_EQ(mover->process().Wait(), 0) << mover->log();
    if (!is_paused) break;
    ASSERT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
    for (const char* table : {kMovedTable, kEvents}) ASSERT_TRUE(target.DeleteTable(table).ok());
  }
  // A lift of each table, and what follows.
  EXPECT_GE(steps_with_open_target, 2);
}

// The same on the way to the target: from its first step on, when the later one has sent writers there.
TEST_F(MoveStepsTest, AMoverThatWakesUpAfterTheSwitchReplacesNothing) {
  Client source = ClientOf(*source_), target = ClientOf(*target_);
  ASSERT_TRUE(source.PutItem({.table_name = kEvents, .item = {{"id", "gone"}}}).ok());
  for (int step = 1; step <= 12 && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    for (const char* table : {kMovedTable, kEvents})
      ASSERT_TRUE(source.PutItem({.table_name = table, .item = {{"id", "both"}, {"at", "source"}}}).ok());
    const auto earlier = Pause(step, "copy", "earlier.log");
    ASSERT_EQ(Graduate({"--yes"}).exit_code, 0);
    for (const char* table : {kMovedTable, kEvents})
      ASSERT_TRUE(target.PutItem({.table_name = table, .item = {{"id", "both"}, {"at", "target"}}}).ok());
    ASSERT_TRUE(target.DeleteItem({.table_name = kEvents, .key = {{"id", "gone"}}}).ok());
    const std::map<std::string, Item> items = ItemsOf(target), events = ItemsOf(target, kEvents);
    earlier->process().Signal(SIGCONT);
    EXPECT_EQ(earlier->process().Wait(), 1) << earlier->log();
    EXPECT_THAT(earlier->log(), HasSubstr("another run of this command"));
    EXPECT_EQ(ItemsOf(target), items);
    EXPECT_EQ(ItemsOf(target, kEvents), events);
    EXPECT_TRUE(target.PutItem({.table_name = kEvents, .item = {{"id", "gone"}}}, OneAttempt()).ok());
    EXPECT_EQ(ReasonOf(source.PutItem({.table_name = kEvents, .item = {{"id", "x"}}}, OneAttempt()).status()),
              kReasonTableMoved);
    ASSERT_EQ(Graduate({"--back", "--yes"}).exit_code, 0);
    // The next move makes the tables anew.
    for (const char* table : {kMovedTable, kEvents}) ASSERT_TRUE(target.DeleteTable(table).ok());
  }
}

// Two runs of the command, each of any kind, of which either is stopped after any of its calls while the
// other goes on: no acknowledged write is lost, and the command leads out of every state.
TEST_F(MoveStepsTest, TwoRunsAtATimeLoseNothing) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const char* const kinds[] = {"copy", "copy", "abort", "back"};
  const int rounds =
      std::getenv("ITEMDB_KILL9_CYCLES") == nullptr ? (testing::kHasSanitizer ? 4 : 15) : Kills();
  std::map<std::string, int> ends;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    // Some begin when the tables have moved.
    const bool is_moved = random() % 3 == 0;
    if (is_moved) {
      ASSERT_EQ(Graduate({"--yes", "--overwrite"}).exit_code, 0);
    }
    const std::vector<const DaemonProcess*> sides = {source_.get(), target_.get()};
    // A target without a move is not to be written to.
    const std::vector<const DaemonProcess*> known = is_moved ? sides : std::vector(1, sides[0]);
    const auto start = [&](const std::string& log_name, std::string* text) {
      const std::string kind = is_moved && random() % 2 == 0 ? "back" : kinds[random() % 4];
      const int step = 1 + static_cast<int>(random() % (kind == "abort" ? 14 : 45));
      *text += " " + kind + " stops after call " + std::to_string(step);
      std::unique_ptr<Mover> mover = Start(step, kind, log_name, /*counts_reads=*/true);
      AwaitPause(*mover, step);
      return mover;
    };
    std::string text = "round " + std::to_string(round) + (is_moved ? ", moved:" : ":");
    const auto first = start("first.log", &text);
    Write(known);
    const auto second = start("second.log", &text);
    SCOPED_TRACE(text);
    Write(known);
    const bool is_first_to_wake = random() % 2 == 0;
    for (Mover* mover :
         {is_first_to_wake ? first.get() : second.get(), is_first_to_wake ? second.get() : first.get()}) {
      if (random() % 4 == 0) mover->process().Signal(SIGKILL);
      mover->process().Signal(SIGCONT);
      mover->process().Wait();
      // Whoever was sent there knows the target.
      const auto described = ClientOf(*source_).DescribeTable(kMovedTable);
      ASSERT_TRUE(described.ok());
      const bool is_sent = described->table.write_fence.has_value() && described->table.write_fence->moved;
      Write(is_sent ? sides : known);
    }
    // Both are refused if a run has brought the tables back already: then the next looks find that.
    const CommandResult forward = Graduate({"--yes", "--overwrite"});
    std::string said = first->log() + "\n--\n" + second->log() + "\n--\n" + forward.err;
    if (forward.exit_code == 0) {
      Write(sides);
      ExpectAcknowledged(*target_);
    }
    const CommandResult back = Graduate({"--back", "--yes"});
    said += "\n--\n" + back.err;
    ++ends[std::to_string(forward.exit_code) + std::to_string(back.exit_code)];
    ExpectAcknowledged(*source_);
    for (const char* table : {kMovedTable, kEvents}) {
      EXPECT_FALSE(ClientOf(*source_).DescribeTable(table)->table.write_fence.has_value()) << said;
      std::ignore = ClientOf(*target_).DeleteTable(table);
    }
    EXPECT_FALSE(std::filesystem::exists(state_file())) << said;
  }
  for (const auto& [end, count] : ends) std::printf("exit codes %s: %d\n", end.c_str(), count);
}

// A run that asks whether to switch, and is answered after the move was given up.
TEST_F(MoveStepsTest, ARunThatAsksDoesNotSwitchWhatWasGivenUp) {
  const auto asking = Start(0, "prompt", "asking.log");
  ASSERT_TRUE(testing::Await([&] { return asking->Said("asks\n"); })) << asking->log();
  ASSERT_EQ(Graduate({"--abort"}).exit_code, 0);
  // Without a write meanwhile, which would show the run that it is shut out.
  asking->process().Signal(SIGCONT);
  EXPECT_EQ(asking->process().Wait(), 1) << asking->log();
  EXPECT_THAT(asking->log(), HasSubstr("another run of this command"));
  for (const char* table : {kMovedTable, kEvents})
    EXPECT_FALSE(ClientOf(*source_).DescribeTable(table)->table.write_fence.has_value());
  const size_t before = acknowledged_.size();
  Write({source_.get()});
  EXPECT_EQ(acknowledged_.size(), before + 2);
  ASSERT_EQ(Graduate({"--yes", "--overwrite"}).exit_code, 0);
  ExpectAcknowledged(*target_);
}

// The log of the source ends before the place of the mover, so the fences are before it too.
TEST_F(MoveStepsTest, ASourceThatIsRestoredWhileARunAsksIsNotSwitched) {
  const std::string earlier = directory_.path() + "/earlier";
  source_->Kill();
  std::filesystem::copy(source_->data_directory(), earlier, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(source_->Start().ok());
  for (int i = 0; i < 10; ++i) Write({source_.get()});
  const auto asking = Start(0, "prompt", "asking.log");
  ASSERT_TRUE(testing::Await([&] { return asking->Said("asks\n"); })) << asking->log();
  source_->Kill();
  std::filesystem::remove_all(source_->data_directory());
  std::filesystem::rename(earlier, source_->data_directory());
  ASSERT_TRUE(source_->Start().ok());
  acknowledged_.clear();
  Write({source_.get()});
  asking->process().Signal(SIGCONT);
  EXPECT_EQ(asking->process().Wait(), 1) << asking->log();
  EXPECT_THAT(asking->log(), HasSubstr("it was restored to an earlier time"));
  Write({source_.get()});
  EXPECT_EQ(acknowledged_.size(), 4u) << "writers go on at the source";
  ASSERT_EQ(Graduate({"--yes"}).exit_code, 0);
  ExpectAcknowledged(*target_);
  EXPECT_EQ(ItemsOf(ClientOf(*source_)), ItemsOf(ClientOf(*target_)));
}

// Nobody but the mover writes to the target until writers are sent there.
TEST_F(MoveStepsTest, TheTargetRefusesWritersUntilTheyAreSentThere) {
  // Without --yes it ends before the switch.
  ASSERT_EQ(Graduate().exit_code, 2);
  Client target = ClientOf(*target_);
  const auto put = [&] {
    return target.PutItem({.table_name = kEvents, .item = {{"id", "x"}}}, OneAttempt()).status();
  };
  EXPECT_EQ(ReasonOf(put()), kReasonTableMoving);
  ASSERT_EQ(Graduate({"--abort"}).exit_code, 0);
  EXPECT_TRUE(put().ok());
  // A target that was away when the move was given up keeps its fence; the next move takes it over.
  ASSERT_TRUE(target
                  .UpdateTable({.table_name = kEvents,
                                .write_fence = WriteFence{.endpoint = target_->endpoint(),
                                                          .pass_sha256 = std::string(64, 'a')}})
                  .ok());
  ASSERT_EQ(Graduate({"--yes", "--overwrite"}).exit_code, 0);
  EXPECT_TRUE(put().ok());
}

// The tables moved on from the target: it does not have the last writes.
TEST_F(MoveStepsTest, TablesThatMovedOnAreNotBroughtBackFromTheMiddle) {
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  Client target = ClientOf(*target_);
  const WriteFence moved_on{.endpoint = "db3.example.com:7420", .moved = true};
  ASSERT_TRUE(target.UpdateTable({.table_name = kEvents, .write_fence = moved_on}).ok());
  const CommandResult refused = Graduate({"--back", "--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err,
              HasSubstr("table Events of the target moves, or has moved, to db3.example.com:7420: "
                        "bring it back from there first"));
  EXPECT_EQ(target.DescribeTable(kEvents)->table.write_fence, moved_on);
}

TEST_F(MoveStepsTest, WhatWasWrittenToASourceWhoseFenceWasLiftedIsNotReplacedUnasked) {
  ASSERT_EQ(GraduateReport({"--yes"})["step"], "DONE");
  Client source = ClientOf(*source_);
  for (const int step : {0, 7}) {
    if (step > 0) {
      const auto mover = Pause(step, "back");
      mover->process().Signal(SIGKILL);
      mover->process().Wait();
    }
    ASSERT_TRUE(source.UpdateTable({.table_name = kEvents, .write_fence = WriteFence{}}).ok());
    ASSERT_TRUE(source.PutItem({.table_name = kEvents, .item = {{"id", "here"}}}).ok());
    const CommandResult refused = Graduate({"--back", "--yes"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("table Events of the source has no fence any more"));
    EXPECT_EQ(ItemsOf(source, kEvents).count("here"), 1u);
    // For the next round.
    const WriteFence moved{.endpoint = target_->endpoint(), .moved = true};
    if (step == 0) {
      ASSERT_TRUE(source.UpdateTable({.table_name = kEvents, .write_fence = moved}).ok());
    }
  }
  EXPECT_EQ(Graduate({"--back", "--yes", "--overwrite"}).exit_code, 0);
  EXPECT_TRUE(ItemsOf(source, kEvents).empty());
}

TEST_F(MoveStepsTest, LoseNothingWhenAProcessIsKilledBetweenThem) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  CounterWriters writers(source_->endpoint(), target_->endpoint(), 3, absl::Milliseconds(3));
  // For each direction the next step, and how many there were. Each time round another process is the victim.
  struct Direction {
    const char* name;
    int round;
    int step = 1;
    int steps = 0;
  } directions[] = {{.name = "switch", .round = static_cast<int>(seed % 3)},
                    {.name = "back", .round = static_cast<int>(seed / 3 % 3)}};
  const auto kill_in = [&](Direction& direction) {
    if (KillAfter(direction.step, direction.name, (direction.step + direction.round) % 3)) {
      direction.steps = std::max(direction.steps, direction.step++);
    } else {
      direction.step = 1;
      ++direction.round;
    }
  };
  for (int round = 0; kills() < KillsBetweenSteps() && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    kill_in(directions[0]);
    ExpectAcknowledged(*target_);
    Write({source_.get(), target_.get()});
    kill_in(directions[1]);
    ExpectAcknowledged(*source_);
    EXPECT_FALSE(std::filesystem::exists(state_file()));
    for (const char* table : {kMovedTable, kEvents}) {
      EXPECT_FALSE(ClientOf(*source_).DescribeTable(table)->table.write_fence.has_value());
      EXPECT_TRUE(ClientOf(*target_).DescribeTable(table)->table.write_fence->moved);
    }
    Write({source_.get(), target_.get()});
    // The next move makes the tables anew.
    const int64_t before = writers.acknowledged();
    EXPECT_TRUE(
        testing::Await([&] { return writers.at_target() == 0 && writers.acknowledged() > before + 10; }));
    for (const char* table : {kMovedTable, kEvents}) EXPECT_TRUE(ClientOf(*target_).DeleteTable(table).ok());
  }
  writers.Stop();
  ExpectCounters(writers, ClientOf(*source_));
  ExpectAcknowledged(*source_);
  ExpectClean(*source_);
  ExpectClean(*target_);
  std::printf(
      "%d kills of the mover, %d of the source, %d of the target; after up to %d steps of the switch "
      "and %d of going back; %lld counted writes and %zu others acknowledged\n",
      kills_[0], kills_[1], kills_[2], directions[0].steps, directions[1].steps,
      static_cast<long long>(writers.acknowledged()), acknowledged_.size());
}

}  // namespace
}  // namespace itemdb::e2e
