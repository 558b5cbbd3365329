// Copies of vector indexes in memory: what they take, and who waits while they are made.
#include <malloc.h>

#include <atomic>
#include <random>
#include <thread>

#include "storage/values/float_vector.h"
#include "storage/vectors/vector_copy.h"
#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/support/repetitions.h"

// Of the sanitizers' library. GCC has no header that declares it.
extern "C" size_t __sanitizer_get_current_allocated_bytes();

namespace itemdb::testing {
namespace {

using storage::TopHits;
using storage::VectorCopy;
using storage::VectorEntry;
using storage::VectorHit;
using storage::VectorScorer;

size_t AllocatedBytes() {
#if defined(ITEMDB_ADDRESS_SANITIZER) || defined(ITEMDB_THREAD_SANITIZER)
  return __sanitizer_get_current_allocated_bytes();
#else
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

VectorEntry EntryOf(const std::string& partition, const Vector& vector) {
  return {.partition = partition, .packed = storage::PackVector(vector), .filters = {}};
}

struct CopyShape {
  int entries;
  int dimensions;
  // Bytes of each item's key and of each partition's; 0: all entries are in one partition.
  size_t key_bytes;
  size_t partition_bytes;
};

class CopyMemory : public ::testing::TestWithParam<CopyShape> {};

TEST_P(CopyMemory, IsCountedAsItIs) {
  const CopyShape& shape = GetParam();
  const size_t before = AllocatedBytes();
  VectorCopy copy(kByDistance, static_cast<size_t>(shape.dimensions), 0, 1'000'000);
  for (int i = 0; i < shape.entries; ++i) {
    std::string key = std::to_string(i);
    key.resize(shape.key_bytes, 'k');
    std::string partition = shape.partition_bytes == 0 ? "" : std::to_string(i);
    partition.resize(shape.partition_bytes, 'p');
    copy.Put(key, EntryOf(partition, Vector(static_cast<size_t>(shape.dimensions), 1)), 0);
  }
  const size_t taken = AllocatedBytes() - before;
  EXPECT_GE(copy.bytes(), taken * 9 / 10);
  // A sanitizer tells what was asked for, malloc what it gave.
  EXPECT_LE(copy.bytes(), taken * (kHasSanitizer ? 14 : 12) / 10);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CopyMemory,
                         ::testing::Values(CopyShape{20'000, 8, 10, 0}, CopyShape{5'000, 16, 10, 10},
                                           CopyShape{5'000, 4, 200, 0}, CopyShape{5'000, 4, 10, 300},
                                           CopyShape{1'000, 1'536, 30, 30}));

std::vector<std::string> KeysAt(const VectorCopy& copy, uint64_t version, const Vector& query) {
  const VectorScorer scorer(kByDistance, query.data(), query.size());
  TopHits hits(100);
  EXPECT_TRUE(copy.Search(
                      "", {}, scorer, version, {}, [] { return absl::OkStatus(); }, &hits)
                  .ok());
  std::vector<std::string> keys;
  for (const VectorHit& hit : hits.Take()) keys.push_back(hit.base_key);
  return keys;
}

TEST(CopyVersions, EndedEntriesAreFreedThoughSearchesOfLaterVersionsRun) {
  VectorCopy copy(kByDistance, 1, 0, 1'000'000);
  copy.Put("a", EntryOf("", {1}), 1);
  copy.Put("b", EntryOf("", {2}), 1);
  for (uint64_t version = 2; version < 3'000; ++version) copy.Put("a", EntryOf("", {1}), version);
  const size_t before = copy.bytes();
  // A search of version 2,990 runs.
  EXPECT_FALSE(copy.NeedsCompaction(1));
  ASSERT_TRUE(copy.NeedsCompaction(2'990));
  copy.Remove("b", 3'000);
  copy.Put("c", EntryOf("", {3}), 3'000);
  copy.Compact(2'990);
  EXPECT_LT(copy.bytes(), before / 10);
  EXPECT_FALSE(copy.NeedsCompaction(3'000));
  EXPECT_EQ(KeysAt(copy, 2'990, {0}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(KeysAt(copy, 3'000, {0}), (std::vector<std::string>{"a", "c"}));
  // The key of an entry that is gone is kept as long as a search may find it.
  copy.Compact(3'000);
  EXPECT_EQ(KeysAt(copy, 3'000, {0}), (std::vector<std::string>{"a", "c"}));
  copy.Put("b", EntryOf("", {0.5}), 3'001);
  EXPECT_EQ(KeysAt(copy, 3'001, {0}), (std::vector<std::string>{"b", "a", "c"}));
}

class Copies : public ::testing::Test {
 protected:
  void Start(size_t memory, size_t graph_min = 1'000'000) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path() + "/data");
    options.vector_memory_bytes = memory;
    options.vector_graph_min = graph_min;
    options.durable = false;
    database_ = std::make_unique<TestDatabase>(options);
  }
  // A table with one index. `tenants`: each item is in a partition of its own.
  void MakeTable(const std::string& name, int dimensions, int items, bool tenants = false) {
    v1::VectorIndex index = VectorIndexOf("ByV", dimensions, kByDistance);
    index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
    if (tenants) {
      AddHashElement(&index, "tenant");
      database_->CreateTable(VectorTableRequest(name, {index}, {"tenant:S"}));
    } else {
      database_->CreateTable(VectorTableRequest(name, {index}));
    }
    for (int i = 0; i < items; ++i) {
      Vector vector(static_cast<size_t>(dimensions), 0);
      vector[0] = static_cast<float>(i);
      vector[static_cast<size_t>(dimensions) - 1] = static_cast<float>(i % 7);
      ASSERT_TRUE(database_
                      ->Put(name, {{"pk", S("p")},
                                   {"sk", S(std::to_string(i))},
                                   {"tenant", S(std::to_string(i))},
                                   {"v", VectorValue(vector)}})
                      .ok());
    }
  }
  static wire::SearchVectorsRequest Request(const std::string& table, int dimensions) {
    return SearchRequest(table, "ByV", Vector(static_cast<size_t>(dimensions), 1), 1);
  }
  storage::VectorFigures Figures() { return (*database_)->MeasureFigures().vectors; }
  bool Becomes(absl::FunctionRef<bool()> condition) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<TestDatabase> database_;
};

TEST_F(Copies, OfManySmallPartitionsTakeNoMoreThanTheirLimit) {
  constexpr int kItems = 2'000;
  constexpr int kDimensions = 512;
  // Enough for the vectors and 350 bytes for each; it takes some more.
  constexpr size_t kLimit = kItems * (kDimensions * sizeof(float) + 350);
  Start(kLimit);
  MakeTable("Docs", kDimensions, kItems, /*tenants=*/true);
  wire::SearchVectorsRequest request = Request("Docs", kDimensions);
  request.set_search_condition_expression("tenant = :t");
  SetValue(&request, ":t", S("77"));
  for (int i = 0; i < 3; ++i) {
    const auto reply = Search(*database_, request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->search_results_size(), 1);
    EXPECT_LE(static_cast<size_t>(Figures().bytes), kLimit);
  }
  EXPECT_EQ(Figures().copies, 0);
  EXPECT_EQ(Figures().searches_of_store, 3);
}

TEST_F(Copies, ThatAreMadeAtOnceTakeNoMoreThanTheirLimitTogether) {
  constexpr int kItems = 20'000;
  constexpr int kDimensions = 16;
  // About what one takes, and a half.
  constexpr size_t kLimit = kItems * (kDimensions * sizeof(float) + 200) * 3 / 2;
  Start(kLimit);
  MakeTable("Docs", kDimensions, kItems);
  MakeTable("Pages", kDimensions, kItems);
  std::atomic<int64_t> most = 0;
  std::atomic<int> running = 2;
  std::vector<std::thread> threads;
  for (const std::string table : {"Docs", "Pages"}) {
    threads.emplace_back([&, table] {
      const auto reply = Search(*database_, Request(table, kDimensions));
      EXPECT_TRUE(reply.ok()) << reply.status();
      --running;
    });
  }
  while (running > 0) most = std::max(most.load(), Figures().bytes);
  for (std::thread& thread : threads) thread.join();
  most = std::max(most.load(), Figures().bytes);
  EXPECT_GT(most, 0);
  EXPECT_LE(static_cast<size_t>(most), kLimit);
  EXPECT_EQ(Figures().copies_made, 2);
}

TEST_F(Copies, AreMadeThoughTheirFirstCallerGoesAway) {
  constexpr int kDimensions = 8;
  Start(64 << 20);
  MakeTable("Docs", kDimensions, 20'000);
  // On a busy machine the first deadlines pass before a copy is begun.
  absl::Status answer;
  for (int i = 1; i <= 100 && Figures().loading == 0 && Figures().copies == 0; ++i) {
    const auto cancellation = std::make_shared<storage::Cancellation>(storage::Cancellation::Clock::now() +
                                                                      std::chrono::milliseconds(4 * i));
    answer = Await<wire::SearchVectorsReply>([&](auto done) {
               (*database_)->SearchVectors(Request("Docs", kDimensions), std::move(done), cancellation);
             }).status();
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(answer)) << answer;
  EXPECT_TRUE(Becomes([&] { return Figures().copies == 1; }));
  EXPECT_TRUE(Search(*database_, Request("Docs", kDimensions)).ok());
  EXPECT_EQ(Figures().copies_made, 1);
}

TEST_F(Copies, OfOtherIndexesAreSearchedWhileOneIsMade) {
  constexpr int kDimensions = 8;
  Start(64 << 20);
  MakeTable("Large", kDimensions, 40'000);
  MakeTable("Small", kDimensions, 10);
  EXPECT_TRUE(Search(*database_, Request("Small", kDimensions)).ok());
  // More of them than searches have threads.
  constexpr int kWaiting = 64;
  std::atomic<int> answered = 0;
  for (int i = 0; i < kWaiting; ++i) {
    (*database_)
        ->SearchVectors(
            Request("Large", kDimensions),
            [&](absl::StatusOr<wire::SearchVectorsReply> reply) {
              EXPECT_TRUE(reply.ok()) << reply.status();
              ++answered;
            },
            nullptr);
  }
  EXPECT_TRUE(Search(*database_, Request("Small", kDimensions)).ok());
  EXPECT_EQ(answered, 0) << "the small one has waited for the large one";
  EXPECT_TRUE(Becomes([&] { return answered == kWaiting; }));
  EXPECT_EQ(Figures().copies_made, 2);
}

TEST_F(Copies, ThatAreBeingMadeAreGivenUpWhenTheDatabaseCloses) {
  constexpr int kDimensions = 8;
  Start(64 << 20);
  MakeTable("Docs", kDimensions, 40'000);
  absl::Status answer;
  (*database_)
      ->SearchVectors(
          Request("Docs", kDimensions),
          [&](const absl::StatusOr<wire::SearchVectorsReply>& reply) { answer = reply.status(); }, nullptr);
  database_.reset();
  EXPECT_TRUE(absl::IsUnavailable(answer)) << answer;
}

TEST_F(Copies, AreFreedWhenOthersNeedTheMemoryThoughGraphsAreMade) {
  constexpr int kDimensions = 16;
  constexpr int kItems = 8'000;
  // Graphs of 8,000 vectors take seconds.
  constexpr size_t kOne = kItems * (kDimensions * sizeof(float) + 600);
  Start(kOne + kOne / 4, 1'000);
  MakeTable("Docs", kDimensions, kItems);
  MakeTable("Pages", kDimensions, kItems);
  EXPECT_TRUE(Search(*database_, Request("Docs", kDimensions)).ok());
  EXPECT_TRUE(Search(*database_, Request("Pages", kDimensions)).ok());
  // The second one has its copy: it did not wait in vain for the memory of the first.
  EXPECT_EQ(Figures().copies_made, 2);
  EXPECT_EQ(Figures().searches_of_store, 0);
  EXPECT_EQ(Figures().copies, 1);
  EXPECT_LE(static_cast<size_t>(Figures().bytes), kOne + kOne / 4);
}

}  // namespace
}  // namespace itemdb::testing
