// Vector indexes of a running itemd: by itemctl and the client library, also through kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (default 50; 6 in sanitizer builds, which are slower).
// ITEMDB_TEST_SEED repeats the random choices of a run, but not its timing.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "tests/e2e/e2e_fixture.h"
#include "tests/support/await.h"
#include "tests/support/kills.h"
#include "tests/support/repetitions.h"

namespace itemdb::e2e {
namespace {

using ::testing::HasSubstr;

constexpr char kDocs[] = R"({"TableName":"Docs","BillingMode":"PAY_PER_REQUEST",
  "KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],
  "AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"topic","AttributeType":"S"}],
  "VectorIndexes":[{"IndexName":"ByV","VectorAttribute":{"AttributeName":"v"},"Dimensions":2,
    "DistanceFunction":"EUCLIDEAN","Projection":{"ProjectionType":"KEYS_ONLY"},
    "SearchSchema":[{"AttributeName":"topic","SearchSchemaElementType":"INLINE_FILTER"}]}]})";

class VectorsE2e : public E2eTest {
 protected:
  void SetUp() override {
    // The same address after each start.
    daemon_.set_listen({"unix:" + directory_.path() + "/s"});
    E2eTest::SetUp();
    ASSERT_EQ(Itemctl({"table", "create", "-f", "-"}, kDocs).exit_code, 0);
  }
};

TEST_F(VectorsE2e, ItemctlSearches) {
  for (const char* item : {R"({"id":"a","topic":"music","v":[1,0]})", R"({"id":"b","topic":"law","v":[0,2]})",
                           R"({"id":"c","topic":"music","v":[3,3]})"}) {
    ASSERT_EQ(Itemctl({"item", "put", "Docs", item}).exit_code, 0);
  }
  const std::vector<std::string> search = {"-o", "jsonl", "search", "Docs", "ByV", "--near", "[0, 0]"};
  const std::vector<Json> found = Lines(search);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], Json::parse(R"({"Item":{"id":"a","topic":"music"},"Score":1})"));
  EXPECT_EQ(found[1]["Item"]["id"], "b");
  EXPECT_EQ(found[1]["Score"], 2);
  std::vector<std::string> filtered = search;
  for (const char* more : {"--top", "1", "--filter", "topic = :t", "--values", R"({":t":"law"})"})
    filtered.emplace_back(more);
  EXPECT_EQ(Lines(filtered)[0]["Item"]["id"], "b");
  {
    std::ofstream file(directory_.path() + "/near.json");
    file << R"([{"N": "3"}, {"N": "2.5"}])";
  }
  EXPECT_EQ(Lines({"-o", "jsonl", "search", "Docs", "ByV", "--near", directory_.path() + "/near.json",
                   "--top", "1"})[0]["Item"]["id"],
            "c");
  const CommandResult table = Itemctl({"-o", "table", "search", "Docs", "ByV", "--near", "[0, 0]"});
  EXPECT_THAT(table.out, HasSubstr("(score)"));
  const struct {
    const char* near;
    const char* says;
  } rows[] = {{"[0]", "Input search vector dimension 1 does not match vector index dimension 2"},
              {"[0, \"x\"]", "element 1 is no 32-bit floating-point number"},
              {"[0, 1e39]", "element 1 is no 32-bit floating-point number"},
              {"[0,", "--near"},
              {"/nowhere", "/nowhere"}};
  for (const auto& row : rows) {
    const CommandResult refused = Itemctl({"search", "Docs", "ByV", "--near", row.near});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr(row.says));
  }
  EXPECT_THAT(Itemctl({"-o", "table", "table", "describe", "Docs"}).out, HasSubstr("vector v, 2 dimensions"));
  EXPECT_EQ(Itemctl({"index", "drop", "--yes", "Docs", "ByV"}).exit_code, 0);
  EXPECT_NE(Itemctl(search).exit_code, 0);
  ExpectCheckIsClean();
}

// SearchSeesAll, at any moment of a kill: what was answered is found where it was last put, and nothing else.
TEST_F(VectorsE2e, Kill9LosesNoVector) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  std::map<std::string, float> places;
  int number = 0;
  for (int kills = 0; kills < Kills(); ++kills) {
    std::atomic<bool> killed = false;
    // The last put, whose answer may not have come.
    std::string open_id;
    float open_place = 0;
    std::thread writer([&] {
      Client client = OpenClient();
      while (!killed) {
        open_id = "id" + std::to_string(number % 97);
        open_place = static_cast<float>(++number);
        const Item item = {{"id", open_id}, {"v", Value::List({number, 0})}};
        if (!client.PutItem({.table_name = "Docs", .item = item}, OneAttempt()).ok()) return;
        places[open_id] = open_place;
        open_id.clear();
        if (number % 5 != 0) continue;
        // A search beside the writes makes a copy in memory.
        const auto found = client.SearchVectors(
            {.table_name = "Docs", .index_name = "ByV", .search_vector = {open_place, 0}, .top_k = 1},
            OneAttempt());
        if (!found.ok()) return;
        EXPECT_EQ(found->search_results.at(0).score, 0) << "the write that was answered just now";
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, 40'000)));
    daemon_.Kill();
    killed = true;
    writer.join();
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
    Client client = OpenClient();
    const auto found = client.SearchVectors(
        {.table_name = "Docs", .index_name = "ByV", .search_vector = {0, 0}, .top_k = 100});
    ASSERT_TRUE(found.ok()) << found.status();
    std::map<std::string, float> now;
    for (const SearchResult& result : found->search_results)
      now[*result.item.find_or_null("id")->string_or_null()] = result.score;
    if (!open_id.empty()) {
      // It was applied, or not.
      if (const auto it = now.find(open_id); it != now.end() && it->second == open_place)
        places[open_id] = open_place;
    }
    ASSERT_EQ(now, places);
    if (kills % 10 == 0) ExpectCheckIsClean();
  }
  ExpectCheckIsClean();
}

// Killed at the moment at which the graph of the index is written to its file: the next start has the file
// from before, or none, and answers as if nothing had happened.
TEST_F(VectorsE2e, Kill9WhileAGraphIsKept) {
  const uint64_t seed = KillSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  // Enough for a graph.
  constexpr int kPlaces = 50'500;
  constexpr int kInBatch = 25;
  std::vector<std::pair<int64_t, int64_t>> places;
  Client client = OpenClient();
  for (int i = 0; i < kPlaces; i += kInBatch) {
    BatchWriteItemRequest request;
    for (int j = i; j < i + kInBatch; ++j) {
      places.emplace_back(Pick(random, -100'000, 100'000), Pick(random, -100'000, 100'000));
      request.writes.push_back(
          BatchPut{.table_name = "Docs",
                   .item = {{"id", std::to_string(j)},
                            {"v", Value::List({places.back().first, places.back().second})}}});
    }
    ASSERT_TRUE(client.BatchWriteItem(request).ok());
  }
  const std::string folder = daemon_.data_directory() + "/vector-graphs";
  const auto is_being_kept = [&] {
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
      if (entry.path().extension() == ".next") return true;
    return false;
  };
  const auto search = [&](float x, float y) {
    const auto found = OpenClient().SearchVectors(
        {.table_name = "Docs", .index_name = "ByV", .search_vector = {x, y}, .top_k = 10});
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? found->search_results : std::vector<SearchResult>();
  };
  size_t nearest = 0;
  constexpr int kKills = testing::kHasSanitizer ? 1 : 4;
  constexpr int kSearches = 20;
  for (int kills = 0; kills < kKills; ++kills) {
    (void)search(0, 0);
    EXPECT_TRUE(testing::Await(is_being_kept)) << "a file of the graph";
    std::this_thread::sleep_for(std::chrono::microseconds(Pick(random, 0, 15'000)));
    KillAndRestart();
    for (int i = 0; i < kSearches; ++i) {
      const auto x = static_cast<float>(Pick(random, -100'000, 100'000));
      const auto y = static_cast<float>(Pick(random, -100'000, 100'000));
      double closest = 1e9;
      for (const auto& [at_x, at_y] : places)
        closest = std::min(closest, std::hypot(static_cast<double>(at_x) - x, static_cast<double>(at_y) - y));
      const std::vector<SearchResult> found = search(x, y);
      ASSERT_EQ(found.size(), 10u);
      for (const SearchResult& result : found) {
        const auto& [at_x, at_y] =
            places.at(static_cast<size_t>(std::stoi(*result.item.find_or_null("id")->string_or_null())));
        EXPECT_NEAR(result.score, std::hypot(static_cast<double>(at_x) - x, static_cast<double>(at_y) - y),
                    1);
      }
      nearest += found[0].score <= closest + 1 ? 1 : 0;
    }
    // The next cycle makes the file anew.
    daemon_.Kill();
    std::filesystem::remove_all(folder);
    const absl::Status started = daemon_.Start();
    ASSERT_TRUE(started.ok()) << started;
  }
  EXPECT_GE(nearest, kKills * kSearches * 95 / 100) << "of " << kKills * kSearches;
}

}  // namespace
}  // namespace itemdb::e2e
