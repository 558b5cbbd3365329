// Random writes and searches against a model that compares every vector, also after the database was opened
// again, and with an index that does not fit into memory.
#include <random>

#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/storage/values/test_seed.h"

namespace itemdb::testing {
namespace {

struct VectorModelItem {
  std::optional<Vector> vector;
  std::optional<std::string> tenant;
  std::optional<int> year;
};

class RandomSearches : public ::testing::TestWithParam<size_t> {
 protected:
  static constexpr int kDimensions = 5;

  RandomSearches() : random_(TestSeed()), database_(Options(directory_.path() + "/data")) {
    v1::VectorIndex parts = VectorIndexOf("Parts", kDimensions, kDistanceFunctions[0]);
    AddHashElement(&parts, "tenant");
    AddInlineFilter(&parts, "year");
    v1::VectorIndex filtered = VectorIndexOf("Filtered", kDimensions, kDistanceFunctions[1]);
    AddInlineFilter(&filtered, "year");
    filtered.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(VectorTableRequest(
        "Docs", {parts, filtered, VectorIndexOf("Plain", kDimensions, kDistanceFunctions[2])},
        {"tenant:S", "year:N"}));
  }

  static DatabaseOptions Options(const std::string& directory) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.vector_memory_bytes = GetParam();
    return options;
  }
  int Below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  // Few values, so that scores are often equal.
  Vector RandomVector() {
    Vector vector;
    for (int i = 0; i < kDimensions; ++i) vector.push_back(static_cast<float>(Below(5) - 2) / 2);
    return vector;
  }

  void WriteOne() {
    const std::string sk = std::to_string(Below(60));
    if (Below(5) == 0) {
      ASSERT_TRUE(database_.Delete("Docs", {{"pk", S("p")}, {"sk", S(sk)}}).ok());
      model_.erase(sk);
      return;
    }
    VectorModelItem item;
    v1::Item message = Item({{"pk", S("p")}, {"sk", S(sk)}});
    const auto add = [&message](const std::string& name, const v1::AttributeValue& value) {
      v1::Attribute* attribute = message.add_attributes();
      attribute->set_name(name);
      *attribute->mutable_value() = value;
    };
    if (Below(8) != 0) add("v", VectorValue(*(item.vector = RandomVector())));
    if (Below(4) != 0) add("tenant", S(*(item.tenant = std::string(1, static_cast<char>('a' + Below(3))))));
    if (Below(4) != 0) add("year", N(std::to_string(*(item.year = Below(3)))));
    wire::WriteItemRequest request;
    request.set_table_name("Docs");
    request.set_key_or_item(message.SerializeAsString());
    const auto written =
        Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); });
    ASSERT_TRUE(written.ok()) << written.status();
    model_[sk] = item;
  }

  void SearchOne() {
    const std::string names[] = {"Parts", "Filtered", "Plain"};
    const size_t which = static_cast<size_t>(Below(3));
    const Vector query = RandomVector();
    const int top_k = 1 + Below(12);
    wire::SearchVectorsRequest request = SearchRequest("Docs", names[which], query, top_k);
    std::string condition;
    std::optional<std::string> tenant;
    std::optional<int> year;
    if (which == 0) {
      condition = "tenant = :t";
      tenant = std::string(1, static_cast<char>('a' + Below(4)));
      SetValue(&request, ":t", S(*tenant));
    }
    if (which < 2 && Below(2) == 0) {
      condition += (condition.empty() ? "" : " AND ") + std::string("#y = :y");
      year = Below(4);
      SetValue(&request, ":y", N(std::to_string(*year)));
      SetName(&request, "#y", "year");
    }
    if (!condition.empty()) request.set_search_condition_expression(condition);

    const auto distance = kDistanceFunctions[which];
    const bool higher = distance == v1::VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT;
    std::map<std::string, double> scores;
    for (const auto& [sk, item] : model_) {
      if (!item.vector.has_value()) continue;
      if (which == 0 && item.tenant != tenant) continue;
      if (year.has_value() && item.year != year) continue;
      scores[sk] = NaiveScore(distance, *item.vector, query);
    }
    const auto reply = Search(database_, request);
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->search_results_size(), std::min<int>(top_k, static_cast<int>(scores.size())));
    // The worst of the items that were found is not worse than the best of the others, but for rounding.
    constexpr double kRounding = 1e-5;
    double last = higher ? 1e9 : -1e9;
    std::string last_key;
    float last_score = 0;
    for (const wire::SearchResult& result : reply->search_results()) {
      v1::Item found;
      ASSERT_TRUE(found.ParseFromString(result.item()));
      std::string sk;
      for (const v1::Attribute& attribute : found.attributes()) {
        ASSERT_NE(attribute.name(), "v");
        if (attribute.name() == "sk") sk = attribute.value().s();
      }
      ASSERT_TRUE(scores.contains(sk)) << "found twice, or not to be found: " << sk;
      const double score = scores.at(sk);
      scores.erase(sk);
      EXPECT_NEAR(result.score(), score, kRounding);
      if (higher) {
        EXPECT_LE(score, last + kRounding);
      } else {
        EXPECT_GE(score, last - kRounding);
      }
      if (!last_key.empty() && result.score() == last_score) {
        EXPECT_LT(last_key, sk);
      }
      last = score;
      last_score = result.score();
      last_key = sk;
    }
    for (const auto& [sk, score] : scores) {
      if (higher) {
        EXPECT_LE(score, last + kRounding) << sk;
      } else {
        EXPECT_GE(score, last - kRounding) << sk;
      }
    }
  }

  TemporaryDirectory directory_;
  std::mt19937_64 random_;
  TestDatabase database_;
  std::map<std::string, VectorModelItem> model_;
};

TEST_P(RandomSearches, FindWhatTheModelFinds) {
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(TestSeed()));
  for (int step = 0; step < 600; ++step) {
    for (int writes = Below(4); writes > 0; --writes) WriteOne();
    SearchOne();
    if (::testing::Test::HasFailure()) FAIL() << "step " << step;
    if (step % 200 == 199) {
      database_.CheckIsClean();
      database_.Reopen();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Memory, RandomSearches, ::testing::Values(size_t{64} << 20, 1));

}  // namespace
}  // namespace itemdb::testing
