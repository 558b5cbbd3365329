// Indexes that are searched by a graph: recall, that everything else is exact, and the file of the graph.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/files.h"
#include "tests/support/repetitions.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;

constexpr int kGraphVectors = Repetitions(3'000);
// From so many entries on there is a graph.
constexpr int kGraphMin = kGraphVectors / 6;
constexpr size_t kGraphDimensions = 16;
constexpr int kGraphQueries = Repetitions(50);

class GraphSearches : public ::testing::TestWithParam<v1::VectorDistanceFunction> {
 protected:
  GraphSearches() : random_(TestSeed()), database_(Options(directory_.path() + "/data")) {
    for (int i = 0; i < 30; ++i) centres_.push_back(Around(Vector(kGraphDimensions, 0), 1));
    v1::VectorIndex index = VectorIndexOf("ByV", kGraphDimensions, GetParam());
    AddInlineFilter(&index, "rare");
    index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(VectorTableRequest("Docs", {index}, {"rare:S"}));
    for (int i = 0; i < kGraphVectors; ++i) Put(std::to_string(i), RandomVector());
  }

  static DatabaseOptions Options(const std::string& directory) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.vector_graph_min = kGraphMin;
    return options;
  }
  Vector Around(const Vector& centre, float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    Vector vector = centre;
    for (float& element : vector) element += normal(random_);
    return vector;
  }
  // Of very different lengths.
  Vector RandomVector() {
    Vector vector = Around(centres_[random_() % centres_.size()], 0.3F);
    const float scale = std::uniform_real_distribution<float>(0.2F, 3)(random_);
    for (float& element : vector) element *= scale;
    return vector;
  }

  void Put(const std::string& sk, const Vector& vector) {
    const bool is_rare = random_() % 50 == 0;
    const auto put =
        is_rare ? database_.Put("Docs",
                                {{"pk", S("p")}, {"sk", S(sk)}, {"v", VectorValue(vector)}, {"rare", S("y")}})
                : database_.Put("Docs", {{"pk", S("p")}, {"sk", S(sk)}, {"v", VectorValue(vector)}});
    ASSERT_TRUE(put.ok()) << put.status();
    vectors_[sk] = vector;
    rare_.erase(sk);
    if (is_rare) rare_.insert(sk);
  }
  void Delete(const std::string& sk) {
    ASSERT_TRUE(database_.Delete("Docs", {{"pk", S("p")}, {"sk", S(sk)}}).ok());
    vectors_.erase(sk);
    rare_.erase(sk);
  }

  // The keys of the ten nearest by comparing all.
  std::vector<std::string> Nearest(const Vector& query, bool is_rare) const {
    std::vector<std::pair<double, std::string>> scores;
    const double sign = GetParam() == kByProduct ? -1 : 1;
    for (const auto& [sk, vector] : vectors_) {
      if (!is_rare || rare_.contains(sk))
        scores.emplace_back(sign * NaiveScore(GetParam(), vector, query), sk);
    }
    std::sort(scores.begin(), scores.end());
    std::vector<std::string> nearest;
    for (size_t i = 0; i < std::min<size_t>(10, scores.size()); ++i) nearest.push_back(scores[i].second);
    return nearest;
  }
  std::vector<std::string> Found(const Vector& query, bool is_rare) {
    wire::SearchVectorsRequest request = SearchRequest("Docs", "ByV", query, 10);
    if (is_rare) {
      request.set_search_condition_expression("rare = :y");
      SetValue(&request, ":y", S("y"));
    }
    const auto reply = Search(database_, request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    std::vector<std::string> found;
    for (const wire::SearchResult& result : reply->search_results()) {
      v1::Item item;
      EXPECT_TRUE(item.ParseFromString(result.item()));
      for (const v1::Attribute& attribute : item.attributes()) {
        if (attribute.name() == "sk") found.push_back(attribute.value().s());
      }
      EXPECT_NEAR(result.score(), NaiveScore(GetParam(), vectors_.at(found.back()), query), 1e-4);
    }
    return found;
  }
  // The part of the ten nearest that searches find.
  double Recall() {
    size_t both = 0;
    size_t all = 0;
    for (int i = 0; i < kGraphQueries; ++i) {
      const Vector query = RandomVector();
      const std::vector<std::string> nearest = Nearest(query, false);
      const std::vector<std::string> found = Found(query, false);
      EXPECT_EQ(found.size(), nearest.size());
      for (const std::string& sk : nearest) both += std::count(found.begin(), found.end(), sk);
      all += nearest.size();
    }
    return static_cast<double>(both) / static_cast<double>(all);
  }
  void AwaitGraph(int64_t entries) {
    (void)Found(centres_[0], false);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (database_->MeasureFigures().vectors.graph_entries < entries) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "no graph";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  storage::VectorFigures Figures() { return database_->MeasureFigures().vectors; }
  // The file of the graph; empty while there is none.
  std::string GraphFile() const {
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(directory_.path() + "/data/vector-graphs", none))
      if (entry.path().extension() != ".next") return entry.path();
    return "";
  }
  // Makes a graph of all vectors, waits for its file, and closes the database. Returns what the file has.
  std::string KeepGraph() {
    AwaitGraph(kGraphVectors);
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (GraphFile().empty() && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ReadFile(GraphFile());
  }
  // Searches find what comparing all finds, whatever the graph is.
  void ExpectRightAnswers() {
    EXPECT_GE(Recall(), 0.97);
    const Vector query = RandomVector();
    EXPECT_EQ(Found(query, true), Nearest(query, true));
  }

  TemporaryDirectory directory_;
  std::mt19937_64 random_;
  TestDatabase database_;
  std::vector<Vector> centres_;
  std::map<std::string, Vector> vectors_;
  std::set<std::string> rare_;
};

TEST_P(GraphSearches, FindNearlyAllAndEveryNewItem) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  constexpr double wanted = 0.97;
  AwaitGraph(kGraphVectors / 2);
  const double recall = Recall();
  RecordProperty("recall", std::to_string(recall));
  EXPECT_GE(recall, wanted);
  // What is written after the graph was made is found too, and what is deleted is not.
  for (int i = 0; i < 100; ++i) {
    const std::string sk = std::to_string(random_() % kGraphVectors);
    const Vector vector = RandomVector();
    Put(sk, vector);
    if (GetParam() != kByProduct) {
      EXPECT_EQ(Found(vector, false)[0], sk);
    }
    if (i % 3 != 0) continue;
    Delete(sk);
    EXPECT_THAT(Found(vector, false), ::testing::Not(::testing::Contains(sk)));
  }
  EXPECT_GE(Recall(), wanted);
  // Few fit the filter, so all of them are compared.
  for (int i = 0; i < kGraphQueries; ++i) {
    const Vector query = RandomVector();
    EXPECT_EQ(Found(query, true), Nearest(query, true));
  }
  // Many changes: the copy is compacted and gets another graph.
  for (int i = 0; i < kGraphVectors; ++i) {
    const std::string sk = std::to_string(random_() % kGraphVectors);
    Put(sk, RandomVector());
    if (i % 100 == 0) (void)Found(centres_[0], false);
  }
  AwaitGraph(kGraphMin);
  EXPECT_GE(Recall(), wanted);
  // Closed while a graph is made, or before.
  database_.Reopen();
  (void)Found(centres_[0], false);
  database_.Reopen();
  EXPECT_GE(Recall(), wanted);
}

// A start reads the graph. What was written since the file, before the end and after, is found all the same.
TEST_P(GraphSearches, AreByTheKeptGraphAfterARestart) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  (void)KeepGraph();
  EXPECT_EQ(Figures().restored_graph_entries, 0);
  const int changed = kGraphVectors / 30;
  for (int i = 0; i < changed; ++i) {
    const std::string sk = std::to_string(random_() % kGraphVectors);
    i % 3 == 0 ? Delete(sk) : Put(sk, RandomVector());
  }
  for (int i = 0; i < changed; ++i) Put("new" + std::to_string(i), RandomVector());
  database_.Reopen();
  (void)Found(centres_[0], false);
  const int64_t restored = Figures().restored_graph_entries;
  EXPECT_GE(restored, kGraphVectors) << "the places of entries that are gone are kept";
  EXPECT_GE(Figures().graph_entries, restored) << "the first search has it";
  ExpectRightAnswers();
  for (int i = 0; i < 100; ++i) Put(std::to_string(random_() % kGraphVectors), RandomVector());
  ExpectRightAnswers();
  // Compacting frees the places of the entries that are gone.
  for (int i = 0; i < kGraphVectors; ++i) {
    Put(std::to_string(random_() % kGraphVectors), RandomVector());
    if (i % 100 == 0) (void)Found(centres_[0], false);
  }
  ExpectRightAnswers();
}

TEST_P(GraphSearches, AreRightWhateverTheFileIs) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  const std::string kept = KeepGraph();
  ASSERT_GT(kept.size(), 1'000u);
  const std::string path = GraphFile();
  std::string flipped = kept;
  flipped[kept.size() / 2] = static_cast<char>(flipped[kept.size() / 2] ^ 1);
  std::string other_version = kept;
  other_version[kept.find("graphs 1") + 7] = '2';
  const std::pair<const char*, std::string> rows[] = {
      {"a flipped bit", flipped},
      {"the end is missing", kept.substr(0, kept.size() - 12)},
      {"the second half is missing", kept.substr(0, kept.size() / 2)},
      {"another version", other_version},
      {"empty", ""},
      {"no such file", std::string(5'000, 'x')},
  };
  for (const auto& [name, bytes] : rows) {
    SCOPED_TRACE(name);
    database_.Close();
    WriteFile(path, bytes);
    // A process that was killed while it wrote the file leaves this.
    WriteFile(path + ".next", kept.substr(0, kept.size() / 3));
    database_.Reopen();
    (void)Found(centres_[0], false);
    // Only the frame that ends the file was missing after a whole graph.
    if (bytes.size() + 12 != kept.size()) {
      EXPECT_EQ(Figures().restored_graph_entries, 0);
    }
    ExpectRightAnswers();
  }
  // The graph is made again, and kept again.
  AwaitGraph(kGraphVectors);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  while (ReadFile(path).size() != kept.size() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  database_.Reopen();
  (void)Found(centres_[0], false);
  EXPECT_GE(Figures().restored_graph_entries, kGraphVectors);
}

// A file of another state of the database: half of the vectors are others.
TEST_P(GraphSearches, DoNotUseAGraphOfWhichMuchHasChanged) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  const std::string kept = KeepGraph();
  const std::string path = GraphFile();
  for (int i = 0; i < kGraphVectors / 2; ++i) Put(std::to_string(i), RandomVector());
  database_.Close();
  WriteFile(path, kept);
  database_.Reopen();
  (void)Found(centres_[0], false);
  EXPECT_EQ(Figures().restored_graph_entries, 0);
  ExpectRightAnswers();
  AwaitGraph(kGraphVectors / 2);
  ExpectRightAnswers();
}

TEST_P(GraphSearches, DeleteTheFileWithItsIndex) {
  (void)KeepGraph();
  EXPECT_NE(GraphFile(), "");
  ASSERT_TRUE(UpdateTable(*database_, DeleteVectorIndexRequest("Docs", "ByV")).ok());
  EXPECT_EQ(GraphFile(), "");
}

INSTANTIATE_TEST_SUITE_P(Distances, GraphSearches, ::testing::ValuesIn(kDistanceFunctions));

}  // namespace
}  // namespace itemdb::testing
