#include "tests/e2e/move_fixture.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "itemdb/bulk_writer.h"
#include "tests/support/paths.h"

namespace itemdb::e2e {
namespace {

Client Opened(const std::string& endpoint) {
  absl::StatusOr<Client> client = Client::Open({.endpoint = endpoint});
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

}  // namespace

CounterWriters::CounterWriters(std::string source, std::string target, int threads, absl::Duration pause)
    : source_(std::move(source)), target_(std::move(target)), pause_(pause) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this, i] { Write(i); });
}

void CounterWriters::Stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

std::string CounterWriters::last_failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return last_failure_;
}

void CounterWriters::Write(int number) {
  Client client = Opened(source_);
  bool is_at_target = false;
  Random random(static_cast<uint64_t>(number));
  std::map<std::string, Bounds> counters;
  while (!stop_) {
    const std::string key = "w" + std::to_string(number) + "/" + std::to_string(Pick(random, 0, 199));
    const UpdateItemRequest add{.table_name = kMovedTable,
                                .key = {{"id", key}},
                                .update_expression = "ADD n :one SET grp = :g",
                                .expression_attribute_values = {{":one", 1}, {":g", "g" + key.substr(0, 2)}}};
    const absl::Time begin = absl::Now();
    const absl::Status status = client.UpdateItem(add, {.timeout = absl::Seconds(60)}).status();
    const int64_t took = absl::ToInt64Nanoseconds(absl::Now() - begin);
    longest_ns_ = std::max(longest_ns_.load(), took);
    Bounds& counter = counters[key];
    if (status.ok()) {
      ++counter.acknowledged;
      ++counter.possible;
      ++acknowledged_;
    } else if (ReasonOf(status) == kReasonTableMoved) {
      const std::string& there = is_at_target ? source_ : target_;
      EXPECT_NE(std::string(status.message()).find(there), std::string::npos) << status;
      ++sent_on_;
      client = Opened(there);
      is_at_target = !is_at_target;
      at_target_ += is_at_target ? 1 : -1;
      continue;
    } else if (ReasonOf(status) == kReasonTableMoving) {
      // The switch takes longer than the client's attempts.
    } else {
      ++failures_;
      if (!absl::IsUnavailable(status)) ++counter.possible;
      std::lock_guard<std::mutex> lock(mutex_);
      last_failure_ = std::string(status.message());
    }
    if (pause_ > absl::ZeroDuration()) absl::SleepFor(pause_);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  counters_.merge(counters);
}

Mover::Mover(const std::vector<std::string>& arguments, const std::string& log, const std::string& program)
    : log_(log),
      nothing_(open("/dev/null", O_RDONLY | O_CLOEXEC)),
      out_(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
      process_(testing::ProgramPath(program), arguments,
               {.in = nothing_.get(), .out = out_.get(), .err = out_.get()}) {}

std::string Mover::log() const {
  std::ifstream file(log_);
  return {std::istreambuf_iterator<char>(file), {}};
}

void MoveTest::SetUp() {
  // The fixture's own daemon stays unused: these two have sockets that stay the same.
  source_ = MakeDaemon("source");
  target_ = MakeDaemon("target");
}

std::unique_ptr<DaemonProcess> MoveTest::MakeDaemon(const std::string& directory) {
  const std::string path = directory_.path() + "/" + directory;
  std::filesystem::create_directory(path);
  auto daemon = std::make_unique<DaemonProcess>(path);
  daemon->set_listen({"unix:" + path + "/socket"});
  const absl::Status started = daemon->Start();
  EXPECT_TRUE(started.ok()) << started;
  return daemon;
}

Client MoveTest::ClientOf(const DaemonProcess& daemon) { return Opened(daemon.endpoint()); }

void MoveTest::MakeTable(Client client, int items) {
  const auto made = client.CreateTable(
      {.table_name = kMovedTable,
       .attribute_definitions = {{"id", ScalarAttributeType::kString}, {"grp", ScalarAttributeType::kString}},
       .key_schema = {{"id", KeyType::kHash}},
       .global_secondary_indexes = {{.index_name = "ByGroup", .key_schema = {{"grp", KeyType::kHash}}}}});
  ASSERT_TRUE(made.ok()) << made.status();
  BulkWriter writer(client);
  for (int i = 0; i < items; ++i) {
    ASSERT_TRUE(writer
                    .Put(kMovedTable, {{"id", "item" + std::to_string(i)},
                                       {"grp", "g" + std::to_string(i % 100)},
                                       {"text", std::string(200, 'x')},
                                       {"price", *Number::Parse("1.50")},
                                       {"tags", Value::StringSet({"b", "a"})}})
                    .ok());
  }
  const auto written = writer.Finish();
  ASSERT_TRUE(written.ok()) << written.status();
}

std::vector<std::string> MoveTest::GraduateArguments(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"--endpoint", source_->endpoint(), "-o",      "jsonl",
                                        "graduate",   target_->endpoint(), "--state", state_file()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

CommandResult MoveTest::Graduate(const std::vector<std::string>& more) const {
  return RunProgram(testing::ProgramPath("itemctl"), GraduateArguments(more));
}

Json MoveTest::GraduateReport(const std::vector<std::string>& more) const {
  const CommandResult result = Graduate(more);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Json> lines = ParseLines(result.out);
  EXPECT_EQ(lines.size(), 1u) << result.out;
  return lines.empty() ? Json() : lines.front();
}

std::map<std::string, Item> MoveTest::ItemsOf(const Client& client, const std::string& table) {
  std::map<std::string, Item> items;
  ItemRange range = client.ScanAll({.table_name = table});
  for (const Item& item : range) items[*item.find_or_null("id")->string_or_null()] = item;
  EXPECT_TRUE(range.status().ok()) << range.status();
  return items;
}

void MoveTest::ExpectCounters(const CounterWriters& writers, const Client& client) {
  std::map<std::string, Item> items = ItemsOf(client);
  for (const auto& [key, bounds] : writers.counters()) {
    const auto item = items.find(key);
    const int64_t stored =
        item == items.end() ? 0 : *item->second.find_or_null("n")->number_or_null()->ToInt64();
    EXPECT_GE(stored, bounds.acknowledged) << key << ": an acknowledged write is lost";
    EXPECT_LE(stored, bounds.possible) << key << ": a write was applied twice";
  }
}

void MoveTest::ExpectClean(const DaemonProcess& daemon) {
  const auto check = ClientOf(daemon).CheckDatabase();
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->finding_count, 0);
}

}  // namespace itemdb::e2e
