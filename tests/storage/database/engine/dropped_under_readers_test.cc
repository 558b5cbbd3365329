// A table is deleted while a reader is between two pages: the reader gets every item or an error that says
// so, never fewer items.
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/indexes/check.h"
#include "storage/schema/table_changes.h"
#include "tests/storage/database/indexes/damage.h"
#include "tests/storage/database/requests.h"
#include "tests/storage/engine/gate_file_system.h"
#include "tests/support/await.h"
#include "tests/support/live_index.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int kItems = 400;
// Long enough for a wrong reclaimer to delete data: it polls every 10 ms.
constexpr auto kReclaimTime = std::chrono::milliseconds(100);

v1::CreateTableRequest Things() {
  v1::CreateTableRequest table = TableRequest("Things");
  AddIndex(&table, "ByStatus", {"status:S"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  AddLocalIndex(&table, "ByRank", "rank:N", v1::PROJECTION_TYPE_KEYS_ONLY);
  return table;
}

// Half of the items are in files and half in memory.
void Fill(TestDatabase& database) {
  for (int i = 0; i < kItems; ++i) {
    if (i == kItems / 2) database.Reopen();
    ASSERT_TRUE(database
                    .Put("Things", {{"pk", S("p")},
                                    {"sk", S(std::to_string(i * 7 % kItems))},
                                    {"rank", N(std::to_string(i))},
                                    {"status", S("open")},
                                    {"padding", S(std::string(500, 'a' + i % 26))}})
                    .ok());
  }
}

// One way of reading all items, page by page.
struct Way {
  std::string name;
  bool query = false;
  wire::PageRequest request;
};
std::vector<Way> Ways() {
  std::vector<Way> ways = {{"Scan", false, ScanRequest("Things")},
                           {"Scan of a global index", false, ScanRequest("Things")},
                           {"Scan of a local index", false, ScanRequest("Things")},
                           {"Query", true, QueryRequest("Things", "pk = :p", {{":p", S("p")}})},
                           {"Query backwards", true, QueryRequest("Things", "pk = :p", {{":p", S("p")}})},
                           {"Query of a global index", true, {}},
                           {"Query of a local index", true, {}}};
  ways[1].request.set_index_name("ByStatus");
  ways[2].request.set_index_name("ByRank");
  ways[4].request.set_scan_index_forward(false);
  ways[5].request = QueryRequest("Things", "#s = :open", {{":open", S("open")}});
  SetName(&ways[5].request, "#s", "status");
  ways[5].request.set_index_name("ByStatus");
  ways[6].request = QueryRequest("Things", "pk = :p", {{":p", S("p")}});
  ways[6].request.set_index_name("ByRank");
  // Attributes that the index does not project are read from the table.
  ways[6].request.set_select(v1::SELECT_ALL_ATTRIBUTES);
  for (Way& way : ways) way.request.set_limit(kItems / 4);
  return ways;
}

// The state of a reader. Pages are added until there are no more, or an error.
struct Reading {
  explicit Reading(wire::PageRequest first) : request(std::move(first)) {}

  wire::PageRequest request;
  std::multiset<std::string> items;
  absl::Status status;
  bool done = false;

  void Add(absl::StatusOr<Page> page) {
    status = page.status();
    done = !page.ok() || page->reply.last_evaluated_key().empty();
    if (!page.ok()) return;
    for (std::string& item : ShowItems(*page)) items.insert(std::move(item));
    request.set_exclusive_start_key(page->reply.last_evaluated_key());
  }
};

class DroppedUnderReaders : public ::testing::Test {
 protected:
  void SetUp() override {
    database_.CreateTable(Things());
    ASSERT_NO_FATAL_FAILURE(Fill(database_));
  }
  absl::StatusOr<Page> Read(const PinnedSnapshot& state, const Way& way, const wire::PageRequest& request) {
    return Await<Page>([&](auto done) {
      way.query ? database_->QuerySnapshot(state, request, std::move(done))
                : database_->ScanSnapshot(state, request, std::move(done));
    });
  }
  bool AwaitReclaimed() {
    return Await([&] { return database_->GetStatus().disk().dropped_count() == 0; });
  }

  TestDatabase database_;
};

TEST_F(DroppedUnderReaders, PagesOfAHeldStateHaveEveryItem) {
  const std::vector<Way> ways = Ways();
  std::vector<Reading> readings;
  {
    auto state = database_->PinSnapshot();
    ASSERT_TRUE(state.ok()) << state.status();
    for (const Way& way : ways) {
      readings.emplace_back(way.request);
      readings.back().Add(Read(**state, way, way.request));
      EXPECT_FALSE(readings.back().done) << way.name << " " << readings.back().status;
    }
    ASSERT_TRUE(DeleteTable(database_, "Things").ok());
    std::this_thread::sleep_for(kReclaimTime);
    for (size_t i = 0; i < ways.size(); ++i) {
      SCOPED_TRACE(ways[i].name);
      while (!readings[i].done) readings[i].Add(Read(**state, ways[i], readings[i].request));
      EXPECT_TRUE(readings[i].status.ok()) << readings[i].status;
      EXPECT_THAT(readings[i].items, SizeIs(kItems));
      EXPECT_EQ(std::set<std::string>(readings[i].items.begin(), readings[i].items.end()).size(), kItems);
    }
    EXPECT_EQ(database_->GetStatus().disk().dropped_count(), 3);
  }
  database_.CreateTable(TableRequest("Next"));  // So that no view is from before the deletion.
  EXPECT_TRUE(AwaitReclaimed());
}

TEST_F(DroppedUnderReaders, PagesOfTheirMomentEndWithAnError) {
  const std::vector<Way> ways = Ways();
  std::vector<Reading> readings;
  auto read = [this](const Way& way, const wire::PageRequest& request) {
    return way.query ? database_.Query(request) : database_.Scan(request);
  };
  for (const Way& way : ways) {
    readings.emplace_back(way.request);
    readings.back().Add(read(way, way.request));
    EXPECT_FALSE(readings.back().done) << way.name << " " << readings.back().status;
  }
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  for (size_t i = 0; i < ways.size(); ++i) {
    SCOPED_TRACE(ways[i].name);
    EXPECT_THAT(read(ways[i], readings[i].request).status(), IsTableNotFound());
  }
  EXPECT_TRUE(AwaitReclaimed());
  for (size_t i = 0; i < ways.size(); ++i)
    EXPECT_THAT(read(ways[i], readings[i].request).status(), IsTableNotFound()) << ways[i].name;
}

// The borders of segments are deleted with the table, even if a pinned snapshot still has the table.
TEST_F(DroppedUnderReaders, SegmentsOfAHeldStateHaveEveryItemOrSayThatTheyAreNoLongerKnown) {
  constexpr int kSegments = 3;
  auto state = database_->PinSnapshot();
  ASSERT_TRUE(state.ok()) << state.status();
  Way way{"Scan", false, ScanRequest("Things")};
  way.request.set_total_segments(kSegments);
  way.request.set_limit(50);
  std::vector<Reading> readings;
  for (int segment = 0; segment < kSegments; ++segment) {
    way.request.set_segment(segment);
    readings.emplace_back(way.request);
    readings.back().Add(Read(**state, way, way.request));
    EXPECT_FALSE(readings.back().done) << readings.back().status;
  }
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  std::this_thread::sleep_for(kReclaimTime);
  // Reads a page of each segment, then the same again after the borders of deleted tables were removed.
  for (Reading& reading : readings) reading.Add(Read(**state, way, reading.request));
  database_.CreateTable(TableRequest("Others"));
  auto other = ScanRequest("Others");
  other.set_segment(0);
  other.set_total_segments(2);
  ASSERT_TRUE(database_.Scan(other).ok());
  size_t items = 0;
  bool all = true;
  for (Reading& reading : readings) {
    while (!reading.done) reading.Add(Read(**state, way, reading.request));
    if (!reading.status.ok()) {
      all = false;
      EXPECT_THAT(reading.status, IsInvalid("segments are no longer known"));
    }
    items += reading.items.size();
  }
  if (all) {
    EXPECT_EQ(items, kItems);
  }
  EXPECT_GE(items, 2 * kSegments * 50u);
}

// The check has a view from before the deletion, and reads after it.
TEST(CheckOfADroppedTable, SeesEveryRecord) {
  TemporaryDirectory directory;
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path());
  options.io_threads = 1;
  {
    TestDatabase database(options);
    database.CreateTable(Things());
    ASSERT_NO_FATAL_FAILURE(Fill(database));
  }
  auto opened = Engine::Open(options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  Engine& engine = **opened;
  engine.StartBackgroundWork();
  std::promise<void> gate;
  IoPool::Task first = [future = gate.get_future().share()] { future.wait(); };
  ASSERT_TRUE(engine.io().Submit(first, IoPriority::kLong));

  std::promise<absl::StatusOr<v1::CheckDatabaseReply>> checked;
  CheckDatabase(
      engine, v1::CheckDatabaseRequest(),
      [&](absl::StatusOr<v1::CheckDatabaseReply> reply) { checked.set_value(std::move(reply)); }, nullptr);
  v1::DeleteTableRequest request;
  request.set_table_name("Things");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { DeleteTable(engine, request, std::move(done)); }).ok());
  std::this_thread::sleep_for(kReclaimTime);
  gate.set_value();
  const auto reply = checked.get_future().get();
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_THAT(reply->findings(), IsEmpty());
  EXPECT_EQ(reply->items_checked(), kItems);
  EXPECT_EQ(reply->index_entries_checked(), 2 * kItems);
}

// The entries of an unfinished index are removed, also those written after the deletion. A table can be
// deleted only after such an index.
TEST(BuildOfADroppedIndex, LeavesNothingBehind) {
  TemporaryDirectory directory;
  auto gate = std::make_shared<GateFileSystem>(rocksdb::FileSystem::Default(), [](const std::string& path) {
    return path.find("/builds/") != std::string::npos;
  });
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.file_system = gate;
  {
    TestDatabase database(options);
    database.CreateTable(TableRequest("Things"));
    ASSERT_NO_FATAL_FAILURE(Fill(database));
    gate->Shut();
    ASSERT_TRUE(UpdateTable(*database, CreateIndexRequest("Things", "Later", {"status:S"}, 1)).ok());
    gate->AwaitWaiting();
    EXPECT_FALSE(DeleteTable(database, "Things").ok());
    const bool deleted = UpdateTable(*database, DeleteIndexRequest("Things", "Later")).ok() &&
                         DeleteTable(database, "Things").ok();
    std::this_thread::sleep_for(kReclaimTime);
    EXPECT_EQ(database->GetStatus().disk().dropped_count(), 2);
    gate->Open();
    ASSERT_TRUE(deleted);
    database.CreateTable(TableRequest("Next"));  // So that no view is from before the deletion.
    EXPECT_TRUE(Await([&] { return database->GetStatus().disk().dropped_count() == 0; }));
    EXPECT_TRUE(AwaitNoBuildFiles(directory.path() + "/data"));
    database.CheckIsClean();
  }
  Families families(directory.path() + "/data");
  for (const char* family : {"items", "global_entries", "local_entries"})
    EXPECT_THAT(families.All(family), IsEmpty()) << family;
}

}  // namespace
}  // namespace itemdb::testing
