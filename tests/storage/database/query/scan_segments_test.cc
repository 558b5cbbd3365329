// Parallel scans: segments are disjoint and complete, and do not change during a scan (SEM-033).

#include "storage/query/scan_segments.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/service_text.h"
#include "storage/schema/table_changes.h"
#include "storage/store/catalog_records.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

class ScanSegmentsTest : public ::testing::Test {
 protected:
  ScanSegmentsTest() {
    auto things = TableRequest("Things");
    AddIndex(&things, "ByParity", {"parity:S", "n:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(things);
  }

  void Fill(int from, int to, size_t bytes = 10) {
    for (int i = from; i < to;) {
      wire::BatchWriteItemRequest batch;
      auto* table = batch.add_request_items();
      table->set_table_name("Things");
      for (int in_batch = 0; in_batch < 25 && i < to; ++in_batch, ++i) {
        table->add_write_requests()->mutable_put_request()->set_item(
            Encode({{"pk", S("customer-" + std::to_string(i * 7919 % 100'000))},
                    {"sk", S("s")},
                    {"n", N(std::to_string(i))},
                    {"parity", S(i % 2 == 0 ? "even" : "odd")},
                    {"text", S(std::string(bytes, 'x'))}}));
      }
      ASSERT_TRUE(BatchWrite(database_, batch).ok());
    }
  }
  // Puts 1,000 items whose keys are before those of Fill, in the table and in its index.
  void FillBefore(const std::string& prefix) {
    for (int i = 0; i < 1'000;) {
      wire::BatchWriteItemRequest batch;
      auto* table = batch.add_request_items();
      table->set_table_name("Things");
      for (int in_batch = 0; in_batch < 25; ++in_batch, ++i) {
        table->add_write_requests()->mutable_put_request()->set_item(
            Encode({{"pk", S(absl::StrCat(prefix, i))}, {"sk", S("s")}, {"n", N("1")}, {"parity", S("a")}}));
      }
      ASSERT_TRUE(BatchWrite(database_, batch).ok());
    }
  }
  // Writes all files of the database anew, and opens it again.
  void Compact() {
    database_.Close();
    {
      auto engine = Engine::Open(database_.options());
      ASSERT_TRUE(engine.ok()) << engine.status();
      const Store& store = *(*(*engine)->View())->store();
      rocksdb::CompactRangeOptions all;
      all.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
      for (rocksdb::ColumnFamilyHandle* family : {store.items(), store.global_entries(), store.catalog()})
        ASSERT_TRUE(store.db()->CompactRange(all, family, nullptr, nullptr).ok());
    }
    database_.Reopen();
  }
  wire::PageRequest Segment(int segment, int total, const std::string& index = "") {
    wire::PageRequest request = ScanRequest("Things");
    request.set_index_name(index);
    request.set_segment(segment);
    request.set_total_segments(total);
    request.set_limit(100);
    return request;
  }
  absl::StatusOr<Page> Scan(const wire::PageRequest& request) {
    return Await<Page>([&](auto done) { database_->Scan(request, std::move(done)); });
  }
  // The number of items in each segment; fails unless all segments together contain every item once.
  std::vector<size_t> Sizes(int total, size_t items, const std::string& index = "") {
    std::vector<size_t> sizes;
    std::multiset<std::string> all;
    for (int segment = 0; segment < total; ++segment) {
      auto found = ScanAll(database_, Segment(segment, total, index));
      sizes.push_back(found.size());
      all.insert(found.begin(), found.end());
    }
    EXPECT_EQ(all.size(), items);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), items);
    return sizes;
  }

  TestDatabase database_;
};

TEST_F(ScanSegmentsTest, AreDisjointCompleteAndOfAboutTheSameSize) {
  Fill(0, 2'000);
  // After 15 numbers of segments, further ones share one set of split points.
  for (int total = 1; total <= 40; ++total) {
    SCOPED_TRACE(total);
    for (size_t size : Sizes(total, 2'000)) {
      EXPECT_GE(size, 2'000u / total / 2);
      EXPECT_LE(size, 2'000u / total * 2);
    }
  }
  for (size_t size : Sizes(4, 2'000, "ByParity")) EXPECT_GE(size, 250u);
}

TEST_F(ScanSegmentsTest, MayBeMoreThanThereAreItems) {
  EXPECT_THAT(Sizes(3, 0), ::testing::ElementsAre(0, 0, 0));
  Fill(0, 5);
  EXPECT_EQ(Sizes(50, 5).size(), 50u);
}

TEST_F(ScanSegmentsTest, BeyondTheRangesOfATableAreEmpty) {
  Fill(0, 50);
  EXPECT_EQ(ScanAll(database_, Segment(999'999, 1'000'000)).size(), 0u);
  size_t items = 0;
  for (int segment = 0; segment < 2'000; ++segment)
    items += ScanAll(database_, Segment(segment, 1'000'000)).size();
  EXPECT_EQ(items, 50u);
}

// New items during a scan belong to the existing segments; neither they nor a restart move the borders.
TEST_F(ScanSegmentsTest, StayWhatTheyAreWhileItemsComeAndTheDatabaseRestarts) {
  Fill(0, 1'000);
  std::set<std::string> first_half;
  for (const std::string& item : ScanAll(database_, Segment(0, 2))) first_half.insert(item);
  // The new keys are before the old ones, so a new calculation would move the border.
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(database_.Put("Things", {{"pk", S("a" + std::to_string(i))}, {"sk", S("s")}}).ok());
  }
  database_.Reopen();
  std::set<std::string> now;
  for (const std::string& item : ScanAll(database_, Segment(0, 2))) now.insert(item);
  EXPECT_EQ(now.size(), first_half.size() + 1'000);
  EXPECT_EQ(Sizes(2, 2'000)[0], now.size());
}

TEST_F(ScanSegmentsTest, RefuseAKeyOfAnotherSegment) {
  Fill(0, 1'000);
  auto page = Scan(Segment(1, 2));
  ASSERT_TRUE(page.ok()) << page.status();
  auto other = Segment(0, 2);
  other.set_exclusive_start_key(page->reply.last_evaluated_key());
  EXPECT_THAT(Scan(other).status(), IsInvalid("outside of the Segment"));
}

TEST_F(ScanSegmentsTest, AreChecked) {
  auto with = [this](std::optional<int> segment, std::optional<int> total) {
    auto request = ScanRequest("Things");
    if (segment.has_value()) request.set_segment(*segment);
    if (total.has_value()) request.set_total_segments(*total);
    return Scan(request).status();
  };
  EXPECT_THAT(with(0, std::nullopt), IsInvalid("TotalSegments parameter is required"));
  EXPECT_THAT(with(std::nullopt, 2), IsInvalid("Segment parameter is required"));
  EXPECT_THAT(with(0, 0), IsInvalid("TotalSegments must be 1 to 1000000"));
  EXPECT_THAT(with(0, 1'000'001), IsInvalid("TotalSegments must be 1 to 1000000"));
  EXPECT_THAT(with(2, 2), IsInvalid("Segment: 2 is not less than TotalSegments: 2"));
  EXPECT_THAT(with(-1, 2), IsInvalid("zero-based"));
  EXPECT_TRUE(with(1, 2).ok());
  auto query = QueryRequest("Things", "pk = :p", {{":p", S("p")}});
  query.set_segment(0);
  query.set_total_segments(1);
  EXPECT_THAT(Await<Page>([&](auto done) { database_->Query(query, std::move(done)); }).status(),
              IsInvalid("use Scan"));
}

// A program may make a start key itself. It belongs to one segment, whose remaining items follow (SEM-032).
TEST_F(ScanSegmentsTest, AStartKeyNeedsNoFirstPage) {
  constexpr int kSegments = 5;
  Fill(0, 1'000);
  int accepted = 0;
  for (int segment = 0; segment < kSegments; ++segment) {
    auto request = Segment(segment, kSegments);
    request.set_exclusive_start_key(Encode({{"pk", S("customer-5")}, {"sk", S("s")}}));
    auto page = Scan(request);
    if (page.ok()) {
      ++accepted;
      continue;
    }
    EXPECT_THAT(page.status(), IsInvalid("outside of the Segment"));
    EXPECT_EQ(
        ServiceTextOf(page.status()),
        "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with "
        "correct Segment. TotalSegments: 5 Segment: " +
            std::to_string(segment));
  }
  EXPECT_EQ(accepted, 1);
  for (size_t size : Sizes(kSegments, 1'000)) EXPECT_GE(size, 100u);
}

// Otherwise the borders of all numbers of segments would pile up in the catalog.
TEST_F(ScanSegmentsTest, AreStoredForFewNumbersAndGoWithTheirTable) {
  Fill(0, 100);
  for (int total = 1; total <= 40; ++total) ASSERT_TRUE(Scan(Segment(0, total)).ok());
  const uint64_t storage_id = Describe(database_, "Things").storage_id();
  database_.Close();
  auto stored = [&] {
    auto engine = Engine::Open(database_.options());
    EXPECT_TRUE(engine.ok()) << engine.status();
    auto keys = *ScanSegmentKeys(**(*engine)->View(), storage_id);
    return std::set<std::string>(keys.begin(), keys.end());
  };
  auto keys = stored();
  EXPECT_EQ(keys.size(), kMaxSplits);
  EXPECT_TRUE(keys.contains(ScanSegmentKey(storage_id, 1)));
  EXPECT_TRUE(keys.contains(ScanSegmentKey(storage_id, kMaxScanRanges)));
  EXPECT_FALSE(keys.contains(ScanSegmentKey(storage_id, 40)));
  database_.Reopen();
  ASSERT_TRUE(DeleteTable(database_, "Things").ok());
  database_.Close();
  EXPECT_TRUE(stored().empty());
}

// A scan is continued after other numbers of segments were used, after many items were put before all others,
// and after the database was reopened and compacted. Items that existed all along are read once.
TEST_F(ScanSegmentsTest, AStartKeyDoesNotExpire) {
  Fill(0, 1'000);
  // All numbers from 15 on share their split points.
  for (int total = 40; total < 60; ++total) ASSERT_TRUE(Scan(Segment(0, total)).ok());
  for (const int total : {3, 30}) {
    for (const std::string index : {"", "ByParity"}) {
      SCOPED_TRACE(absl::StrCat(total, " segments of ", index));
      // By segment: the items of its first page, and where it continues. The last segment has no page yet.
      std::multiset<std::string> read;
      std::vector<wire::PageRequest> rests;
      for (int segment = 0; segment < total; ++segment) {
        rests.push_back(Segment(segment, total, index));
        if (segment + 1 == total) break;
        rests.back().set_limit(5);
        auto page = Scan(rests.back());
        ASSERT_TRUE(page.ok()) << page.status();
        ASSERT_TRUE(page->reply.has_last_evaluated_key());
        for (const std::string& item : ShowItems(*page)) read.insert(item);
        rests.back().set_exclusive_start_key(page->reply.last_evaluated_key());
      }
      auto whole = ScanRequest("Things");
      whole.set_index_name(index);
      const std::vector<std::string> before = ScanAll(database_, whole);

      for (int other = 60; other < 90; ++other) ASSERT_TRUE(Scan(Segment(0, other, index)).ok());
      FillBefore(absl::StrCat("a", total, index));
      Compact();

      for (const wire::PageRequest& rest : rests) {
        for (const std::string& item : ScanAll(database_, rest)) read.insert(item);
      }
      for (const std::string& item : before) ASSERT_EQ(read.count(item), 1u) << item;
      for (const std::string& item : read) ASSERT_EQ(read.count(item), 1u) << item;
    }
  }
}

// A table may be scanned while it is empty, in a test of the program, and be large later. Once a start key
// was given, the ranges stay.
TEST_F(ScanSegmentsTest, AreMeasuredAgainUntilAStartKeyWasGiven) {
  auto engine_options = database_.options();
  Fill(0, 10);
  auto measure = [&](ScanSegments& segments, Engine& engine, bool begins) {
    auto view = *engine.View();
    auto table = *view->catalog().Find("Things");
    return *Await<ScanSegments::Found>([&](auto done) {
      segments.Find({.table = table, .total_segments = 4, .begins = begins, .cancellation = nullptr},
                    std::move(done));
    });
  };
  auto with_segments = [&](auto use) {
    database_.Close();
    auto engine = Engine::Open(engine_options);
    ASSERT_TRUE(engine.ok()) << engine.status();
    ScanSegments segments(**engine, std::chrono::seconds(0));
    use(segments, **engine);
    engine->reset();
    database_.Reopen();
  };
  SplitPoints of_ten;
  with_segments(
      [&](ScanSegments& segments, Engine& engine) { of_ten = measure(segments, engine, true)->points; });
  Fill(10, 1'000);
  SplitPoints of_thousand;
  with_segments([&](ScanSegments& segments, Engine& engine) {
    // Other pages than the first of Segment 0 may belong to a scan that has begun.
    EXPECT_EQ(measure(segments, engine, false)->points, of_ten);
    const ScanSegments::Found splits = measure(segments, engine, true);
    of_thousand = splits->points;
    EXPECT_NE(of_thousand, of_ten);
    auto view = *engine.View();
    auto made = Await<ScanSegments::Found>([&](auto done) {
      segments.MakePermanent({.table = *view->catalog().Find("Things"), .cancellation = nullptr}, splits,
                             std::move(done));
    });
    ASSERT_TRUE(made.ok()) << made.status();
  });
  Fill(1'000, 3'000);
  with_segments([&](ScanSegments& segments, Engine& engine) {
    EXPECT_EQ(measure(segments, engine, true)->points, of_thousand);
  });
}

// A page whose split points were measured again while it was read must not give a start key.
TEST_F(ScanSegmentsTest, ThatWereReplacedDoNotBecomePermanent) {
  Fill(0, 10);
  database_.Close();
  auto engine = Engine::Open(database_.options());
  ASSERT_TRUE(engine.ok()) << engine.status();
  ScanSegments segments(**engine, std::chrono::seconds(0));
  const ScanSegments::Request request{.table = *(*(*engine)->View())->catalog().Find("Things"),
                                      .total_segments = 4,
                                      .begins = true,
                                      .cancellation = nullptr};
  auto find = [&] {
    return *Await<ScanSegments::Found>([&](auto done) { segments.Find(request, std::move(done)); });
  };
  auto make_permanent = [&](const ScanSegments::Found& splits) {
    return Await<ScanSegments::Found>(
               [&](auto done) { segments.MakePermanent(request, splits, std::move(done)); })
        .status();
  };
  const ScanSegments::Found first = find();
  const ScanSegments::Found second = find();
  ASSERT_NE(first, second);
  EXPECT_EQ(make_permanent(first).code(), absl::StatusCode::kAborted);
  EXPECT_TRUE(make_permanent(second).ok());
  EXPECT_EQ(find(), second);
  // As in a database, where the engine ends first: its I/O threads use the segments.
  engine->reset();
}

// The sizes of more than 50,000 records are estimated. The keys here have long common prefixes, and a tenth
// of the items has half of the bytes.
TEST_F(ScanSegmentsTest, OfLargeTablesAreSplitBySize) {
  Fill(0, 9'000, 20);
  Fill(9'000, 10'000, 400);
  database_.Reopen();
  database_.Close();
  auto engine = Engine::Open(database_.options());
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto view = *(*engine)->View();
  auto table = *view->catalog().Find("Things");
  auto points = MeasureSplitPoints(*view, ItemsOf(*view->store(), *table), 4, /*records=*/1'000'000);
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 3u);
  EXPECT_TRUE(std::is_sorted(points->begin(), points->end()));
  std::vector<int> sizes(4);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  KeyspaceIterator it(*view->store(), ItemsOf(*view->store(), *table), options);
  int items = 0;
  for (it.SeekToFirst(); it.Valid(); it.Next(), ++items) {
    size_t part = std::upper_bound(points->begin(), points->end(), std::string(it.key())) - points->begin();
    ++sizes[part];
  }
  EXPECT_EQ(items, 10'000);
  for (int size : sizes) EXPECT_GT(size, 500) << ::testing::PrintToString(sizes);
}

}  // namespace
}  // namespace itemdb::testing
