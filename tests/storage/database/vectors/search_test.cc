// Writing and searching vectors: what is refused, what a search finds and how near it says that it is (VEC-10
// to VEC-23).
#include "storage/base/limits.h"
#include "storage/changes/change_record.h"
#include "tests/storage/database/vectors/vector_tables.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsEmpty;

class VectorSearch : public ::testing::Test {
 protected:
  // ByV: 3 dimensions, all attributes; Parts: a HASH attribute `tenant` and a filter `lang`.
  void SetUp() override {
    v1::VectorIndex parts = VectorIndexOf("Parts", 3, kByCosine);
    AddHashElement(&parts, "tenant");
    AddInlineFilter(&parts, "lang");
    AddInlineFilter(&parts, "year");
    parts.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_KEYS_ONLY);
    database_.CreateTable(VectorTableRequest("Docs", {VectorIndexOf("ByV", 3, kByDistance), parts},
                                             {"tenant:S", "lang:S", "year:N"}));
  }
  absl::Status Put(const std::string& sk, const v1::AttributeValue& vector,
                   std::vector<std::pair<std::string, v1::AttributeValue>> more = {}) {
    v1::Item item = Item({{"pk", S("p")}, {"sk", S(sk)}, {"v", vector}});
    for (const auto& [name, value] : more) {
      v1::Attribute* attribute = item.add_attributes();
      attribute->set_name(name);
      *attribute->mutable_value() = value;
    }
    wire::WriteItemRequest request;
    request.set_table_name("Docs");
    request.set_key_or_item(item.SerializeAsString());
    return Await<wire::WriteItemReply>([&](auto done) { database_->PutItem(request, std::move(done)); })
        .status();
  }
  wire::SearchVectorsRequest Request(const Vector& vector, int top_k = 10) {
    return SearchRequest("Docs", "ByV", vector, top_k);
  }
  wire::SearchVectorsRequest PartsRequest(const Vector& vector, const std::string& condition,
                                          Attributes values, int top_k = 10) {
    wire::SearchVectorsRequest request = SearchRequest("Docs", "Parts", vector, top_k);
    request.set_search_condition_expression(condition);
    for (const auto& [name, value] : values) SetValue(&request, name, value);
    return request;
  }
  std::vector<std::string> Found(const wire::SearchVectorsRequest& request) {
    return SearchShown(database_, request);
  }

  TestDatabase database_;
};

TEST_F(VectorSearch, RefusesVectorsThatDoNotFit) {  // VEC-10
  const std::string beginning = "One or more parameter values were invalid. ";
  EXPECT_EQ(MessageOf(Put("1", VectorValue({1, 2}))),
            beginning + "Invalid size for parameter v, Expected: 3, Actual: 2 IndexName: ByV");
  EXPECT_EQ(MessageOf(Put("1", VectorValue({1, 2, 3, 4}))),
            beginning + "Invalid size for parameter v, Expected: 3, Actual: 4 IndexName: ByV");
  EXPECT_EQ(
      MessageOf(Put("1", S("text"))),
      beginning + "Invalid type for parameter v, Expected: 32-bit floating point number list IndexName: ByV");
  v1::AttributeValue mixed = VectorValue({1, 2, 3});
  mixed.mutable_l()->mutable_values(1)->set_s("2");
  EXPECT_EQ(MessageOf(Put("1", mixed)), beginning +
                                            "Invalid type for parameter v[1], Expected: 32-bit floating "
                                            "point number, Actual: S. IndexName: ByV");
  v1::AttributeValue large = VectorValue({1, 2, 3});
  large.mutable_l()->mutable_values(2)->set_n("1e39");
  EXPECT_EQ(MessageOf(Put("1", large)), beginning +
                                            "Invalid type for parameter v[2], Expected: 32-bit floating "
                                            "point number, Actual: N. IndexName: ByV");
  // An update that makes a vector that does not fit is refused as a whole.
  ASSERT_TRUE(Put("1", VectorValue({1, 2, 3})).ok());
  auto update = UpdateRequest("Docs", {{"pk", S("p")}, {"sk", S("1")}}, "SET v[3] = :n", {{":n", N("4")}});
  EXPECT_THAT(database_.Update(update).status(), IsInvalid("Expected: 3, Actual: 4"));
  update = UpdateRequest("Docs", {{"pk", S("p")}, {"sk", S("1")}}, "SET v[2] = :n", {{":n", N("4")}});
  EXPECT_TRUE(database_.Update(update).ok());
  EXPECT_THAT(Found(Request({1, 2, 4}, 1)), ElementsAre("pk=p sk=1"));
  database_.CheckIsClean();
}

TEST_F(VectorSearch, ChecksTheSearchSchemaOfItems) {  // VEC-11, VEC-12
  const v1::AttributeValue vector = VectorValue({1, 2, 3});
  EXPECT_EQ(
      MessageOf(Put("1", vector, {{"tenant", S("")}})),
      "One or more parameter values are not valid. A value specified for a secondary index key is not "
      "supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: "
      "Parts, IndexKey: tenant");
  EXPECT_THAT(Put("1", vector, {{"tenant", N("1")}}),
              IsInvalid("Type mismatch for Index Key tenant Expected: S Actual: N IndexName: Parts"));
  EXPECT_THAT(Put("1", vector, {{"lang", N("1")}}),
              IsInvalid("Type mismatch for Index Key lang Expected: S Actual: N IndexName: Parts"));
  ASSERT_TRUE(Put("no tenant", vector).ok());
  ASSERT_TRUE(Put("no lang", vector, {{"tenant", S("t")}}).ok());
  ASSERT_TRUE(Put("both", vector, {{"tenant", S("t")}, {"lang", S("en")}, {"title", S("T")}}).ok());
  ASSERT_TRUE(database_.Put("Docs", {{"pk", S("p")}, {"sk", S("no vector")}, {"tenant", S("t")}}).ok());
  EXPECT_THAT(Found(PartsRequest({1, 2, 3}, "tenant = :t", {{":t", S("t")}})),
              ElementsAre("lang=en pk=p sk=both tenant=t", "pk=p sk=no lang tenant=t"));
  EXPECT_THAT(Found(PartsRequest({1, 2, 3}, "tenant = :t AND :l = lang", {{":t", S("t")}, {":l", S("en")}})),
              ElementsAre("lang=en pk=p sk=both tenant=t"));
  EXPECT_THAT(Found(PartsRequest({1, 2, 3}, "tenant = :t", {{":t", S("other")}})), IsEmpty());
  const v1::TableDescription table = Describe(database_, "Docs");
  EXPECT_EQ(table.vector_indexes(0).item_count(), 3);
  EXPECT_EQ(table.vector_indexes(1).item_count(), 2);
  database_.CheckIsClean();
}

TEST_F(VectorSearch, RefusesRequestsThatDoNotFit) {  // VEC-09, VEC-17, VEC-19, VEC-20, VEC-22
  for (const int top_k : {-1, 0, 101}) {
    EXPECT_THAT(Found(Request({1, 2, 3}, top_k)),
                ElementsAre("Provided TopK value '" + std::to_string(top_k) +
                            "' is out of valid range. The value must be between 1 and 100 inclusive"));
  }
  const std::string invalid =
      "Search vector contains invalid values. All values in the search vector must be a 32-bit "
      "floating-point "
      "number attribute";
  for (const v1::AttributeValue& element : {S("1"), N("1e39"), v1::AttributeValue(), N("x"), N("NaN")}) {
    wire::SearchVectorsRequest request = Request({1, 2});
    request.add_search_vector(element.SerializeAsString());
    EXPECT_THAT(Found(request), ElementsAre(invalid)) << element.ShortDebugString();
  }
  EXPECT_THAT(Found(Request({1, 2})),
              ElementsAre("Input search vector dimension 2 does not match vector index dimension 3"));
  EXPECT_THAT(Found(Request({})),
              ElementsAre("Input search vector dimension 0 does not match vector index dimension 3"));
  EXPECT_THAT(Found(SearchRequest("Docs", "Nobody", {1, 2, 3}, 1)),
              ElementsAre("The table does not have the specified index: Nobody"));
  EXPECT_THAT(Search(database_, SearchRequest("Nobody", "ByV", {1, 2, 3}, 1)).status(), IsTableNotFound());

  const Vector vector = {1, 2, 3};
  const std::string name = "Invalid SearchConditionExpression: ";
  const std::string comparator = name + "Invalid comparator used in SearchConditionExpression";
  const auto refused = [&](const std::string& condition, Attributes values) {
    return Found(PartsRequest(vector, condition, values));
  };
  EXPECT_THAT(Found(SearchRequest("Docs", "Parts", vector, 1)),
              ElementsAre("SearchConditionExpression must be provided when SearchSchema has a HASH key"));
  EXPECT_THAT(
      refused("lang = :l", {{":l", S("en")}}),
      ElementsAre("SearchConditionExpression must have all HASH attributes in configured SearchSchema"));
  EXPECT_THAT(refused("tenant = :t AND title = :l", {{":t", S("t")}, {":l", S("en")}}),
              ElementsAre("SearchConditionExpression must not contain any attributes that is not in "
                          "SearchSchema. Invalid attribute: title"));
  EXPECT_THAT(
      refused("tenant = :t", {{":t", N("1")}}),
      ElementsAre("Type of 'tenant' attribute in SearchConditionExpression (N) does not match type in "
                  "search schema (S)"));
  EXPECT_THAT(refused("tenant = :t AND lang = :l", {{":t", S("t")}, {":l", N("1")}}),
              ElementsAre("Type of 'lang' attribute in SearchConditionExpression (N) does not match type in "
                          "search schema (S)"));
  EXPECT_THAT(refused("tenant = :t AND lang < :l", {{":t", S("t")}, {":l", S("en")}}),
              ElementsAre(comparator));
  EXPECT_THAT(refused("tenant = :t OR lang = :l", {{":t", S("t")}, {":l", S("en")}}),
              ElementsAre(comparator));
  EXPECT_THAT(refused("NOT tenant = :t", {{":t", S("t")}}), ElementsAre(comparator));
  EXPECT_THAT(refused("tenant IN (:t)", {{":t", S("t")}}), ElementsAre(comparator));
  EXPECT_THAT(refused("begins_with(tenant, :t)", {{":t", S("t")}}), ElementsAre(comparator));
  EXPECT_THAT(refused("size(tenant) = :t", {{":t", N("1")}}), ElementsAre(comparator));
  EXPECT_THAT(refused("tenant = lang", {}), ElementsAre(comparator));
  EXPECT_THAT(refused("tenant.a = :t", {{":t", S("t")}}),
              ElementsAre(name + "SearchConditionExpression cannot have conditions on nested attributes"));
  EXPECT_THAT(refused("tenant = :t AND tenant = :l", {{":t", S("t")}, {":l", S("en")}}),
              ElementsAre(name + "SearchConditionExpression must only contain one condition per attribute"));

  auto query = QueryRequest("Docs", "pk = :p", {{":p", S("p")}});
  query.set_index_name("ByV");
  EXPECT_EQ(MessageOf(database_.Query(query).status()), "Query operation not supported on this index type.");
  auto scan = ScanRequest("Docs");
  scan.set_index_name("ByV");
  EXPECT_EQ(MessageOf(database_.Scan(scan).status()), "Scan operation not supported on this index type");
}

TEST_F(VectorSearch, ShowsWhatTheIndexHolds) {  // VEC-13, VEC-16
  v1::AttributeValue vector = VectorValue({0, 0, 0});
  vector.mutable_l()->mutable_values(0)->set_n("16777217");
  vector.mutable_l()->mutable_values(1)->set_n("0.1");
  vector.mutable_l()->mutable_values(2)->set_n("-1e-20");
  ASSERT_TRUE(Put("1", vector, {{"tenant", S("t")}, {"title", S("T")}}).ok());
  EXPECT_THAT(Found(Request({1, 2, 3})), ElementsAre("pk=p sk=1 tenant=t title=T"));
  wire::SearchVectorsRequest request = Request({1, 2, 3});
  request.set_projection_expression("title, v");
  auto reply = Search(database_, request);
  ASSERT_TRUE(reply.ok()) << reply.status();
  v1::Item item;
  ASSERT_TRUE(item.ParseFromString(reply->search_results(0).item()));
  ASSERT_EQ(item.attributes_size(), 2);
  const v1::AttributeValue& shown = item.attributes(1).value();
  ASSERT_EQ(shown.l().values_size(), 3);
  EXPECT_EQ(shown.l().values(0).n(), "16777216");
  EXPECT_EQ(shown.l().values(1).n(), "0.1");
  EXPECT_EQ(shown.l().values(2).n(), "-0.00000000000000000001");
  request.set_projection_expression("v[1]");
  EXPECT_EQ(Search(database_, request)->search_results(0).item(), Encode({{"v", VectorValue({0.1F})}}));
  // The table is exact.
  EXPECT_EQ(database_.Get("Docs", {{"pk", S("p")}, {"sk", S("1")}}).find("16777217") != std::string::npos,
            true);
  // What is not projected is absent.
  request = PartsRequest({1, 2, 3}, "tenant = :t", {{":t", S("t")}});
  request.set_projection_expression("title, sk");
  EXPECT_THAT(Found(request), ElementsAre("sk=1"));
}

TEST_F(VectorSearch, ScoresByItsDistanceFunction) {  // VEC-15, VEC-23
  database_.CreateTable(VectorTableRequest(
      "Scores", {VectorIndexOf("Cosine", 2, kByCosine), VectorIndexOf("Euclidean", 2, kByDistance),
                 VectorIndexOf("DotProduct", 2, kByProduct)}));
  const std::map<std::string, Vector> items = {
      {"a", {1, 0}}, {"b", {0, 2}}, {"c", {-3, 0}}, {"d", {3, 4}}, {"zero", {0, 0}}};
  for (const auto& [sk, vector] : items) {
    ASSERT_TRUE(database_.Put("Scores", {{"pk", S("p")}, {"sk", S(sk)}, {"v", VectorValue(vector)}}).ok());
  }
  const auto scores = [&](const std::string& index, const Vector& query) {
    const auto reply = Search(database_, SearchRequest("Scores", index, query, 10));
    EXPECT_TRUE(reply.ok()) << reply.status();
    std::vector<std::pair<std::string, float>> all;
    for (const wire::SearchResult& result : reply->search_results())
      all.emplace_back(Show(result.item()).substr(8), result.score());
    return all;
  };
  using ::testing::Pair;
  EXPECT_THAT(scores("Cosine", {2, 0}),
              ElementsAre(Pair("a", FloatEq(0)), Pair("d", FloatEq(0.4F)), Pair("b", FloatEq(1)),
                          Pair("zero", FloatEq(1)), Pair("c", FloatEq(2))));
  EXPECT_THAT(
      scores("Euclidean", {2, 0}),
      ElementsAre(Pair("a", FloatEq(1)), Pair("zero", FloatEq(2)), Pair("b", FloatEq(std::sqrt(8.0F))),
                  Pair("d", FloatEq(std::sqrt(17.0F))), Pair("c", FloatEq(5))));
  EXPECT_THAT(scores("DotProduct", {2, 0}),
              ElementsAre(Pair("d", FloatEq(6)), Pair("a", FloatEq(2)), Pair("b", FloatEq(0)),
                          Pair("zero", FloatEq(0)), Pair("c", FloatEq(-6))));
  // A zero query has no direction.
  EXPECT_THAT(scores("Cosine", {0, 0}),
              ElementsAre(Pair("a", FloatEq(1)), Pair("b", FloatEq(1)), Pair("c", FloatEq(1)),
                          Pair("d", FloatEq(1)), Pair("zero", FloatEq(1))));
}

TEST_F(VectorSearch, OrdersEquallyNearItemsByTheirKeys) {  // VEC-23
  for (const char* sk : {"5", "3", "1", "4", "2"}) ASSERT_TRUE(Put(sk, VectorValue({1, 1, 1})).ok());
  EXPECT_THAT(Found(Request({1, 2, 3}, 3)), ElementsAre("pk=p sk=1", "pk=p sk=2", "pk=p sk=3"));
}

TEST_F(VectorSearch, SeesEveryWriteThatWasAnsweredBefore) {  // VEC-23
  EXPECT_THAT(Found(Request({0, 0, 0})), IsEmpty());
  for (int i = 0; i < 50; ++i) {
    const std::string sk = std::to_string(i % 7);
    ASSERT_TRUE(Put(sk, VectorValue({static_cast<float>(i), 0, 0})).ok());
    EXPECT_THAT(Found(Request({static_cast<float>(i), 0, 0}, 1)), ElementsAre("pk=p sk=" + sk));
    if (i % 5 != 0) continue;
    ASSERT_TRUE(database_.Delete("Docs", {{"pk", S("p")}, {"sk", S(sk)}}).ok());
    const auto nearest = Found(Request({static_cast<float>(i), 0, 0}, 1));
    EXPECT_THAT(nearest, ::testing::Not(::testing::Contains("pk=p sk=" + sk)));
  }
  database_.Reopen();
  EXPECT_THAT(Found(Request({49, 0, 0}, 1)), ElementsAre("pk=p sk=0"));
}

TEST_F(VectorSearch, ReportsBytes) {  // VEC-21
  wire::WriteItemRequest put;
  put.set_table_name("Docs");
  put.set_key_or_item(Encode(
      {{"pk", S("p")}, {"sk", S("1")}, {"v", VectorValue({1, 2, 3})}, {"pad", S(std::string(1'100, 'x'))}}));
  put.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_INDEXES);
  const auto written = PutItem(database_, put);
  ASSERT_TRUE(written.ok()) << written.status();
  const v1::ConsumedCapacity& consumed = written->consumed_capacity();
  EXPECT_EQ(consumed.capacity_units(), 2) << "the table alone";
  EXPECT_EQ(consumed.global_secondary_indexes_size(), 0);
  ASSERT_EQ(consumed.vector_indexes_size(), 1) << "the item has no tenant";
  EXPECT_EQ(consumed.vector_indexes().at("ByV").vector_write_request_bytes(), 2'048);
  // Writes that do not change the entry write nothing into the index.
  EXPECT_EQ(PutItem(database_, put)->consumed_capacity().vector_indexes_size(), 0);
  put.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  EXPECT_EQ(PutItem(database_, put)->consumed_capacity().vector_indexes_size(), 0);

  wire::SearchVectorsRequest request = Request({1, 2, 3});
  EXPECT_FALSE(Search(database_, request)->has_consumed_capacity());
  request.set_return_consumed_capacity(v1::RETURN_CONSUMED_CAPACITY_TOTAL);
  EXPECT_EQ(Search(database_, request)->consumed_capacity().vector_search_request_bytes(), 2'048);
}

TEST_F(VectorSearch, ResultsHaveABound) {  // VEC-02
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Put(std::to_string(i), VectorValue({1, 2, 3}), {{"pad", S(std::string(390'000, 'x'))}}).ok());
  }
  EXPECT_THAT(Search(database_, Request({1, 2, 3}, 100)).status(),
              IsInvalid("The search results are larger than 16 MB; ask for fewer with TopK"));
  EXPECT_EQ(Search(database_, Request({1, 2, 3}, 40))->search_results_size(), 40);
  wire::SearchVectorsRequest request = Request({1, 2, 3}, 100);
  request.set_projection_expression("sk");
  EXPECT_EQ(Search(database_, request)->search_results_size(), 50);
}

}  // namespace
}  // namespace itemdb::testing
