// Definitions of vector indexes: what CreateTable and UpdateTable accept, refuse and describe (VEC-01 to
// VEC-09).
#include "storage/base/limits.h"
#include "tests/storage/database/vectors/vector_tables.h"
#include "tests/storage/engine/gate_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MATCHER_P(IsInvalidVectorIndex, text, "") {
  return ::testing::ExplainMatchResult(
      IsInvalid("One or more parameter values were invalid: " + std::string(text)), arg, result_listener);
}

class VectorDefinitions : public ::testing::Test {
 protected:
  absl::Status Create(const v1::VectorIndex& index, std::initializer_list<std::string> attributes = {}) {
    return CreateTable(database_, VectorTableRequest("Docs", {index}, attributes)).status();
  }
  absl::Status Update(const v1::UpdateTableRequest& request) {
    return UpdateTable(*database_, request).status();
  }

  TestDatabase database_;
};

TEST_F(VectorDefinitions, AreDescribedAndKept) {  // VEC-01, VEC-04
  v1::VectorIndex index = VectorIndexOf("ByV", 3, v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
  index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
  index.mutable_projection()->add_non_key_attributes("title");
  AddHashElement(&index, "tenant");
  AddInlineFilter(&index, "lang");
  ASSERT_TRUE(Create(index, {"tenant:S", "lang:N"}).ok());
  ASSERT_TRUE(database_
                  .Put("Docs", {{"pk", S("p")},
                                {"sk", S("1")},
                                {"tenant", S("t")},
                                {"title", S("T")},
                                {"other", S("O")},
                                {"v", VectorValue({1, 2, 3})}})
                  .ok());
  for (int round = 0; round < 2; ++round) {
    const v1::TableDescription table = Describe(database_, "Docs");
    ASSERT_EQ(table.vector_indexes_size(), 1);
    const v1::VectorIndexDescription& shown = table.vector_indexes(0);
    EXPECT_EQ(shown.index_name(), "ByV");
    EXPECT_EQ(shown.index_status(), v1::TABLE_STATUS_ACTIVE);
    EXPECT_EQ(shown.vector_attribute(), "v");
    EXPECT_EQ(shown.dimensions(), 3);
    EXPECT_EQ(shown.distance_function(), v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
    EXPECT_EQ(shown.projection().non_key_attributes(0), "title");
    ASSERT_EQ(shown.search_schema_size(), 2);
    EXPECT_EQ(shown.search_schema(0).search_schema_element_type(), v1::SEARCH_SCHEMA_ELEMENT_TYPE_HASH);
    EXPECT_EQ(shown.search_schema(1).attribute_name(), "lang");
    EXPECT_FALSE(shown.backfilling());
    EXPECT_EQ(shown.item_count(), 1);
    // pk p, sk 1, tenant t, title T, and v with 3 floats of 4 bytes.
    EXPECT_EQ(shown.index_size_bytes(), 3 + 3 + 7 + 6 + 1 + 12);
    database_.CheckIsClean();
    database_.Reopen();
  }
}

TEST_F(VectorDefinitions, MustFit) {  // VEC-01 to VEC-03
  const v1::VectorIndex good = VectorIndexOf("ByV", 3, kByCosine);
  v1::CreateTableRequest provisioned = VectorTableRequest("Docs", {good});
  provisioned.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  provisioned.mutable_provisioned_throughput()->set_read_capacity_units(1);
  provisioned.mutable_provisioned_throughput()->set_write_capacity_units(1);
  EXPECT_THAT(CreateTable(database_, provisioned).status(),
              IsInvalidVectorIndex("Vector indexes are only supported for PAY_PER_REQUEST tables"));

  v1::VectorIndex index = good;
  AddInlineFilter(&index, "lang");
  EXPECT_THAT(Create(index),
              IsInvalidVectorIndex("One element in SearchSchema is not defined in attribute definitions"));
  for (const int dimensions : {-1, 0, 4'097}) {
    index = good;
    index.set_dimensions(dimensions);
    EXPECT_THAT(Create(index),
                IsInvalidVectorIndex("Number of dimensions must be between 1 and 4096 inclusive."));
  }
  index = good;
  index.clear_distance_function();
  EXPECT_THAT(Create(index),
              IsInvalidVectorIndex("DistanceFunction of index ByV must be COSINE, EUCLIDEAN or "));
  index = good;
  index.clear_projection();
  EXPECT_THAT(Create(index), IsInvalidVectorIndex("ProjectionType of index ByV must be"));
  index = good;
  index.set_vector_attribute("");
  EXPECT_THAT(Create(index),
              IsInvalidVectorIndex("an attribute name in a key or projection must be 1 to 255"));
  index = good;
  index.set_index_name("V");
  EXPECT_THAT(Create(index), IsInvalid("IndexName 'V' is invalid"));
  index = good;
  AddHashElement(&index, "a");
  AddHashElement(&index, "b");
  EXPECT_THAT(Create(index, {"a:S", "b:S"}),
              IsInvalidVectorIndex("the SearchSchema of index ByV has 2 HASH"));
  index = good;
  AddHashElement(&index, "a");
  AddInlineFilter(&index, "a");
  EXPECT_THAT(Create(index, {"a:S"}), IsInvalidVectorIndex("the SearchSchema of index ByV names a twice"));
  index = good;
  AddInlineFilter(&index, "v");
  EXPECT_THAT(Create(index, {"v:S"}),
              IsInvalidVectorIndex("the SearchSchema of index ByV names v, which is its VectorAttribute"));
  index = good;
  index.set_vector_attribute("sk");
  EXPECT_THAT(Create(index), IsInvalidVectorIndex("the VectorAttribute sk is in AttributeDefinitions"));
  EXPECT_THAT(Create(good, {"unused:S"}), IsInvalidVectorIndex("Some AttributeDefinitions are not used."));

  v1::CreateTableRequest many = VectorTableRequest("Docs", {});
  for (int i = 0; i < 6; ++i)
    *many.add_vector_indexes() = VectorIndexOf("ByV" + std::to_string(i), 3, kByCosine);
  EXPECT_THAT(CreateTable(database_, many).status(),
              IsInvalidVectorIndex("VectorIndex count exceeds the per-table limit of 5"));
  EXPECT_THAT(
      CreateTable(database_, VectorTableRequest("Docs", {good, VectorIndexOf("Other", 4, kByCosine)}))
          .status(),
      IsInvalidVectorIndex("Conflicting attribute definition for 'v'. All VectorIndexes on the same vector "
                           "attribute must use the same dimensions."));
  EXPECT_THAT(CreateTable(database_, VectorTableRequest("Docs", {good, good})).status(),
              IsInvalidVectorIndex("Duplicate index name: ByV"));

  v1::VectorIndex filters = good;
  v1::CreateTableRequest wide = VectorTableRequest("Docs", {});
  for (int i = 0; i <= kMaxInlineFilters; ++i) {
    AddInlineFilter(&filters, "f" + std::to_string(i));
    v1::AttributeDefinition* definition = wide.add_attribute_definitions();
    definition->set_attribute_name("f" + std::to_string(i));
    definition->set_attribute_type(v1::SCALAR_ATTRIBUTE_TYPE_S);
  }
  *wide.add_vector_indexes() = filters;
  EXPECT_THAT(
      CreateTable(database_, wide).status(),
      IsInvalidVectorIndex("the SearchSchema of index ByV has 19 INLINE_FILTER elements; at most 18"));

  EXPECT_TRUE(Create(VectorIndexOf("Largest", 4'096, kByCosine)).ok());
}

TEST_F(VectorDefinitions, OfLiveTablesAreBackfilledAndDeleted) {  // VEC-05, VEC-09
  database_.CreateTable(VectorTableRequest("Docs", {}));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(database_
                    .Put("Docs", {{"pk", S("p")},
                                  {"sk", S(std::to_string(i))},
                                  {"v", VectorValue({static_cast<float>(i), 0})}})
                    .ok());
  }
  ASSERT_TRUE(database_.Put("Docs", {{"pk", S("p")}, {"sk", S("short")}, {"v", VectorValue({1})}}).ok());
  ASSERT_TRUE(database_.Put("Docs", {{"pk", S("p")}, {"sk", S("none")}}).ok());
  const auto euclidean = v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN;
  ASSERT_TRUE(Update(CreateVectorIndexRequest("Docs", VectorIndexOf("ByV", 2, euclidean))).ok());
  AwaitIndexes(*database_, "Docs");
  const v1::VectorIndexDescription shown = Describe(database_, "Docs").vector_indexes(0);
  EXPECT_EQ(shown.item_count(), 100);
  EXPECT_EQ(shown.skipped_items(), 1);
  EXPECT_THAT(SearchShown(database_, SearchRequest("Docs", "ByV", {41.6F, 0}, 3)),
              ElementsAre("pk=p sk=42", "pk=p sk=41", "pk=p sk=43"));
  database_.CheckIsClean();

  EXPECT_THAT(Update(CreateVectorIndexRequest("Docs", VectorIndexOf("ByV", 2, euclidean))),
              IsInvalid("Attempting to create an index which already exists"));
  EXPECT_THAT(Update(CreateVectorIndexRequest("Docs", VectorIndexOf("Other", 3, euclidean))),
              IsInvalidVectorIndex("Conflicting attribute definition for 'v'"));
  const absl::Status unknown = Update(DeleteVectorIndexRequest("Docs", "Nobody"));
  EXPECT_TRUE(absl::IsNotFound(unknown));
  EXPECT_EQ(MessageOf(unknown), "Requested resource not found: Index Nobody for table Docs");
  v1::UpdateTableRequest both = CreateVectorIndexRequest("Docs", VectorIndexOf("Other", 2, euclidean));
  both.add_vector_index_deletions("ByV");
  EXPECT_THAT(MessageOf(Update(both)), HasSubstr("Subscriber limit exceeded: Only 1 online index"));
  v1::UpdateTableRequest provisioned;
  provisioned.set_table_name("Docs");
  provisioned.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  provisioned.mutable_provisioned_throughput()->set_read_capacity_units(1);
  provisioned.mutable_provisioned_throughput()->set_write_capacity_units(1);
  EXPECT_THAT(Update(provisioned),
              IsInvalidVectorIndex("Vector indexes are only supported for PAY_PER_REQUEST tables"));

  ASSERT_TRUE(Update(DeleteVectorIndexRequest("Docs", "ByV")).ok());
  EXPECT_EQ(Describe(database_, "Docs").vector_indexes_size(), 0);
  EXPECT_THAT(SearchShown(database_, SearchRequest("Docs", "ByV", {1, 0}, 3)),
              ElementsAre("The table does not have the specified index: ByV"));
  ASSERT_TRUE(database_.Put("Docs", {{"pk", S("p")}, {"sk", S("late")}, {"v", S("anything")}}).ok());
  database_.CheckIsClean();
}

// Writes go on while an index is being made, and are in it.
class LiveVectorIndexes : public ::testing::Test {
 protected:
  static DatabaseOptions Gated(const std::string& directory, std::shared_ptr<rocksdb::FileSystem> gate) {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory);
    options.file_system = std::move(gate);
    return options;
  }
  void TearDown() override { gate_->Open(); }

  TemporaryDirectory directory_;
  std::shared_ptr<GateFileSystem> gate_ = std::make_shared<GateFileSystem>(
      rocksdb::FileSystem::Default(),
      [](const std::string& path) { return path.find("/builds/") != std::string::npos; });
  TestDatabase database_{Gated(directory_.path() + "/data", gate_)};
};

TEST_F(LiveVectorIndexes,
       CannotBeSearchedNorTheirTableDeletedBeforeTheyAreActive) {  // VEC-06, VEC-08, VEC-09
  const auto put = [&](const std::string& sk, const v1::AttributeValue& vector) {
    return database_.Put("Docs", {{"pk", S("p")}, {"sk", S(sk)}, {"v", vector}}).status();
  };
  database_.CreateTable(VectorTableRequest("Docs", {}));
  ASSERT_TRUE(put("1", VectorValue({1, 1})).ok());
  ASSERT_TRUE(put("2", VectorValue({2, 2})).ok());
  gate_->Shut();
  const v1::VectorIndex index = VectorIndexOf("ByV", 2, v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
  ASSERT_TRUE(UpdateTable(*database_, CreateVectorIndexRequest("Docs", index)).ok());
  const v1::TableDescription table = Describe(database_, "Docs");
  EXPECT_EQ(table.table_status(), v1::TABLE_STATUS_UPDATING);
  EXPECT_EQ(table.vector_indexes(0).index_status(), v1::TABLE_STATUS_CREATING);
  EXPECT_TRUE(table.vector_indexes(0).backfilling());
  EXPECT_THAT(SearchShown(database_, SearchRequest("Docs", "ByV", {1, 0}, 3)),
              ElementsAre("Cannot search backfilling vector index: ByV"));
  const absl::Status deleted = DeleteTable(database_, "Docs").status();
  EXPECT_EQ(ReasonOf(deleted), kReasonResourceInUse);
  EXPECT_EQ(MessageOf(deleted),
            "Attempt to change a resource which is still in use: Cannot delete table while indexes are being "
            "created, updated, or deleted.");
  EXPECT_THAT(
      MessageOf(UpdateTable(*database_, CreateIndexRequest("Docs", "ByGroup", {"grp:S"}, 1)).status()),
      HasSubstr("Only 1 online index can be created or deleted simultaneously per table"));
  EXPECT_THAT(put("3", VectorValue({3})), IsInvalid("Expected: 2, Actual: 1 IndexName: ByV"));
  ASSERT_TRUE(put("3", VectorValue({3, 3})).ok());
  ASSERT_TRUE(put("1", VectorValue({9, 9})).ok());
  ASSERT_TRUE(database_.Delete("Docs", {{"pk", S("p")}, {"sk", S("2")}}).ok());
  gate_->Open();
  AwaitIndexes(*database_, "Docs");
  EXPECT_THAT(SearchShown(database_, SearchRequest("Docs", "ByV", {1, 1}, 9)),
              ElementsAre("pk=p sk=3", "pk=p sk=1"));
  database_.CheckIsClean();
}

TEST_F(LiveVectorIndexes, CanBeDeletedBeforeTheyAreActive) {  // VEC-07
  database_.CreateTable(VectorTableRequest("Docs", {}));
  ASSERT_TRUE(database_.Put("Docs", {{"pk", S("p")}, {"sk", S("1")}, {"v", VectorValue({1, 1})}}).ok());
  gate_->Shut();
  const v1::VectorIndex index = VectorIndexOf("ByV", 2, v1::VECTOR_DISTANCE_FUNCTION_EUCLIDEAN);
  ASSERT_TRUE(UpdateTable(*database_, CreateVectorIndexRequest("Docs", index)).ok());
  const auto deleted = UpdateTable(*database_, DeleteVectorIndexRequest("Docs", "ByV"));
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->table().vector_indexes(0).index_status(), v1::TABLE_STATUS_DELETING);
  gate_->Open();
  EXPECT_EQ(Describe(database_, "Docs").vector_indexes_size(), 0);
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
