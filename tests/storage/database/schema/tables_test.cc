// CreateTable, DescribeTable, ListTables and DeleteTable.

#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// A table Things with one index, for tests that make it invalid.
v1::CreateTableRequest Things() {
  auto table = TableRequest("Things");
  AddIndex(&table, "Ranks", {"grp:S", "rate:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  return table;
}

v1::GlobalSecondaryIndex* TheIndex(v1::CreateTableRequest* table) {
  return table->mutable_global_secondary_indexes(0);
}

void AddKey(v1::GlobalSecondaryIndex* index, const std::string& attribute, v1::KeyType type) {
  auto* element = index->add_key_schema();
  element->set_attribute_name(attribute);
  element->set_key_type(type);
}

void Define(v1::CreateTableRequest* table, const std::string& attribute, v1::ScalarAttributeType type) {
  auto* definition = table->add_attribute_definitions();
  definition->set_attribute_name(attribute);
  definition->set_attribute_type(type);
}

TEST(Tables, RefusedDefinitionsSayWhatIsWrong) {
  struct Row {
    const char* name;
    std::function<void(v1::CreateTableRequest*)> change;
    const char* message;
  };
  using Request = v1::CreateTableRequest;
  constexpr auto kHash = v1::KEY_TYPE_HASH;
  constexpr auto kRange = v1::KEY_TYPE_RANGE;
  const Row rows[] = {
      {"SEM-008 short name", [](Request* t) { t->set_table_name("ab"); }, "3 to 255"},
      {"SEM-008 long name", [](Request* t) { t->set_table_name(std::string(256, 'a')); }, "3 to 255"},
      {"SEM-008 character", [](Request* t) { t->set_table_name("a/b"); }, "3 to 255"},
      {"SEM-008 not ASCII", [](Request* t) { t->set_table_name("t\u00e9st"); }, "3 to 255"},
      {"SEM-008 index name", [](Request* t) { TheIndex(t)->set_index_name("ab"); }, "IndexName"},
      {"SEM-093 no key", [](Request* t) { t->clear_key_schema(); }, "KeySchema"},
      {"SEM-093 three keys", [](Request* t) { *t->add_key_schema() = TheIndex(t)->key_schema(1); },
       "maximum allowed number"},
      {"SEM-093 two partition keys", [](Request* t) { t->mutable_key_schema(1)->set_key_type(kHash); },
       "maximum allowed number"},
      {"SEM-078 sort key first", [](Request* t) { t->mutable_key_schema()->SwapElements(0, 1); },
       "not a HASH key type"},
      {"SEM-078 no partition key", [](Request* t) { t->mutable_key_schema(0)->set_key_type(kRange); },
       "not a HASH key type"},
      {"key type missing", [](Request* t) { t->mutable_key_schema(0)->clear_key_type(); },
       "must be HASH or RANGE"},
      {"SEM-079 attribute twice in the key",
       [](Request* t) { t->mutable_key_schema(1)->set_attribute_name("pk"); }, "twice"},
      {"SEM-093 undefined attribute",
       [](Request* t) { t->mutable_key_schema(0)->set_attribute_name("extra"); }, "not defined"},
      {"SEM-093 spurious attribute", [](Request* t) { Define(t, "x", v1::SCALAR_ATTRIBUTE_TYPE_S); },
       "not used"},
      {"SEM-073 two types", [](Request* t) { Define(t, "pk", v1::SCALAR_ATTRIBUTE_TYPE_N); }, "twice"},
      {"SEM-007 no type", [](Request* t) { t->mutable_attribute_definitions(0)->clear_attribute_type(); },
       "S, N or B"},
      {"SEM-009 key name",
       [](Request* t) { t->mutable_attribute_definitions(0)->set_attribute_name(std::string(256, 'k')); },
       "255"},
      {"SEM-009 empty name", [](Request* t) { t->mutable_attribute_definitions(0)->set_attribute_name(""); },
       "255"},
      {"SEM-093 throughput on demand",
       [](Request* t) { t->mutable_provisioned_throughput()->set_read_capacity_units(1); },
       "must not be given"},
      {"SEM-093 no throughput", [](Request* t) { t->clear_billing_mode(); }, "must be given"},
      {"SEM-093 throughput zero",
       [](Request* t) {
         t->set_billing_mode(v1::BILLING_MODE_PROVISIONED);
         t->mutable_provisioned_throughput()->set_read_capacity_units(1);
       },
       "at least 1"},
      {"SEM-093 index without throughput",
       [](Request* t) {
         t->set_billing_mode(v1::BILLING_MODE_PROVISIONED);
         t->mutable_provisioned_throughput()->set_read_capacity_units(1);
         t->mutable_provisioned_throughput()->set_write_capacity_units(1);
       },
       "index Ranks"},
      {"billing mode", [](Request* t) { t->set_billing_mode(static_cast<v1::BillingMode>(9)); },
       "BillingMode"},
      {"stream view type", [](Request* t) { t->set_stream_view_type(static_cast<v1::StreamViewType>(9)); },
       "StreamViewType"},
      {"SEM-067 twenty-one indexes",
       [](Request* t) {
         for (int i = 0; i < 20; ++i) {
           auto index = t->global_secondary_indexes(0);
           index.set_index_name("Ranks" + std::to_string(i));
           *t->add_global_secondary_indexes() = index;
         }
       },
       "at most 20"},
      {"SEM-067 one index name twice",
       [](Request* t) { *t->add_global_secondary_indexes() = t->global_secondary_indexes(0); },
       "Duplicate index name: Ranks"},
      {"SEM-068 no projection", [](Request* t) { TheIndex(t)->clear_projection(); },
       "KEYS_ONLY, INCLUDE or ALL"},
      {"SEM-068 keys and more",
       [](Request* t) { TheIndex(t)->mutable_projection()->add_non_key_attributes("x"); },
       "NonKeyAttributes is specified"},
      {"SEM-068 include nothing",
       [](Request* t) {
         TheIndex(t)->mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
       },
       "not specified"},
      {"SEM-068 include twenty-one",
       [](Request* t) {
         auto* projection = TheIndex(t)->mutable_projection();
         projection->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
         for (int i = 0; i < 21; ++i) projection->add_non_key_attributes("x" + std::to_string(i));
       },
       "at most 20"},
      {"SEM-068 a hundred and one",
       [](Request* t) {
         for (int i = 0; i < 6; ++i) {
           auto index = t->global_secondary_indexes(0);
           index.set_index_name("More" + std::to_string(i));
           index.mutable_projection()->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
           for (int j = 0; j < (i < 5 ? 20 : 1); ++j)
             index.mutable_projection()->add_non_key_attributes("x" + std::to_string(j));
           *t->add_global_secondary_indexes() = index;
         }
       },
       "at most 100"},
      {"SEM-068 a name twice",
       [](Request* t) {
         auto* projection = TheIndex(t)->mutable_projection();
         projection->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
         projection->add_non_key_attributes("x");
         projection->add_non_key_attributes("x");
       },
       "twice"},
      {"SEM-009 projected name",
       [](Request* t) {
         auto* projection = TheIndex(t)->mutable_projection();
         projection->set_projection_type(v1::PROJECTION_TYPE_INCLUDE);
         projection->add_non_key_attributes(std::string(256, 'x'));
       },
       "255"},
      {"SEM-077 five partition keys",
       [](Request* t) {
         TheIndex(t)->clear_key_schema();
         for (const char* name : {"grp", "rate", "pk", "sk", "fifth"}) AddKey(TheIndex(t), name, kHash);
         Define(t, "fifth", v1::SCALAR_ATTRIBUTE_TYPE_S);
       },
       "maximum allowed number of HASH/RANGE key attributes"},
      {"SEM-077 five sort keys",
       [](Request* t) {
         for (const char* name : {"pk", "sk", "third", "fourth"}) AddKey(TheIndex(t), name, kRange);
         for (const char* name : {"third", "fourth"}) Define(t, name, v1::SCALAR_ATTRIBUTE_TYPE_S);
       },
       "maximum allowed number of HASH/RANGE key attributes"},
      {"SEM-078 partition key behind a sort key", [](Request* t) { AddKey(TheIndex(t), "pk", kHash); },
       "All HASH key attributes must precede RANGE key attributes"},
      {"SEM-079 attribute twice in an index", [](Request* t) { AddKey(TheIndex(t), "grp", kRange); },
       "twice"},
      {"SEM-079 undefined in an index", [](Request* t) { AddKey(TheIndex(t), "extra", kRange); },
       "not defined"},
      {"index without key", [](Request* t) { TheIndex(t)->clear_key_schema(); }, "KeySchema of index Ranks"}};
  TestDatabase database;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto table = Things();
    row.change(&table);
    EXPECT_THAT(CreateTable(database, table).status(), IsInvalid(row.message));
  }
  auto list = database->ListTables({});
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->table_names(), IsEmpty());
  EXPECT_EQ(list->change_sequence(), 0u);
}

TEST(Tables, DefinitionsAtTheLimitsAreTaken) {  // SEM-008, SEM-067, SEM-068, SEM-093
  TestDatabase database;
  auto table = TableRequest(std::string(255, 'Z'));
  for (int i = 0; i < 20; ++i) {
    AddIndex(&table, "i-_." + std::to_string(i), {"pk:S"}, 1,
             i < 5 ? v1::PROJECTION_TYPE_INCLUDE : v1::PROJECTION_TYPE_ALL);
    for (int j = 0; i < 5 && j < 20; ++j) {
      table.mutable_global_secondary_indexes(i)->mutable_projection()->add_non_key_attributes(
          "x" + std::to_string(j));
    }
  }
  table.set_billing_mode(v1::BILLING_MODE_PROVISIONED);
  table.mutable_provisioned_throughput()->set_read_capacity_units(1);
  table.mutable_provisioned_throughput()->set_write_capacity_units(2);
  for (auto& index : *table.mutable_global_secondary_indexes())
    *index.mutable_provisioned_throughput() = table.provisioned_throughput();
  auto reply = CreateTable(database, table);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(Describe(database, table.table_name()).global_secondary_indexes_size(), 20);
  EXPECT_TRUE(database.Put(table.table_name(), {{"pk", S("p")}, {"sk", S("s")}}).ok());
  database.CheckIsClean();
}

TEST(Tables, AreDescribedAsDefinedWithExactCounts) {  // SEM-094, OP-03
  TestDatabase database;
  auto created = CreateTable(database, Things());
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(created->change_sequence(), 1u);
  v1::TableDescription description = Describe(database, "Things");
  EXPECT_EQ(description.SerializeAsString(), created->table().SerializeAsString());
  EXPECT_EQ(description.table_status(), v1::TABLE_STATUS_ACTIVE);
  EXPECT_EQ(description.billing_mode(), v1::BILLING_MODE_PAY_PER_REQUEST);
  EXPECT_EQ(description.stream_view_type(), v1::STREAM_VIEW_TYPE_KEYS_ONLY);
  EXPECT_GT(description.creation_time_ms(), 1'600'000'000'000);
  EXPECT_EQ(description.table_id().size(), 36u);
  EXPECT_EQ(description.attribute_definitions_size(), 4);
  EXPECT_EQ(description.global_secondary_indexes(0).index_status(), v1::TABLE_STATUS_ACTIVE);

  ASSERT_TRUE(database
                  .Put("Things",
                       {{"pk", S("p")}, {"sk", S("1")}, {"grp", S("g")}, {"rate", N("100")}, {"x", S("xyz")}})
                  .ok());
  ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"sk", S("2")}, {"grp", S("g")}}).ok());
  ASSERT_TRUE(database.Put("Things", {{"pk", S("p")}, {"sk", S("2")}, {"grp", S("go")}}).ok());
  for (bool reopened : {false, true}) {
    if (reopened) database.Reopen();
    auto now = Describe(database, "Things");
    EXPECT_EQ(now.item_count(), 2);
    EXPECT_EQ(now.table_size_bytes(), (6 + 4 + 6 + 4) + (6 + 5));
    EXPECT_EQ(now.global_secondary_indexes(0).item_count(), 1);
    EXPECT_EQ(now.global_secondary_indexes(0).index_size_bytes(), 6 + 4 + 6);
    EXPECT_EQ(now.table_id(), description.table_id());
  }
  v1::DescribeTableRequest missing;
  missing.set_table_name("Nothing");
  EXPECT_THAT(database->DescribeTable(missing).status(), IsTableNotFound());
  missing.set_table_name("x");
  EXPECT_THAT(database->DescribeTable(missing).status(), IsInvalid("3 to 255"));
}

TEST(Tables, OneNameIsOneTable) {  // SEM-093
  TestDatabase database;
  database.CreateTable(Things());
  auto again = CreateTable(database, Things()).status();
  EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
  EXPECT_EQ(ReasonOf(again), kReasonResourceInUse);
  EXPECT_TRUE(CreateTable(database, TableRequest("things")).ok());
}

TEST(Tables, AreListedInNameOrderPageByPage) {  // OP-04
  TestDatabase database;
  for (const char* name : {"bbb", "aaa", "Zzz", "ccc", "aab"}) database.CreateTable(TableRequest(name));
  auto list = [&](const std::string& start, int limit) {
    v1::ListTablesRequest request;
    request.set_exclusive_start_table_name(start);
    if (limit != 0) request.set_limit(limit);
    auto reply = database->ListTables(request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return *reply;
  };
  auto all = list("", 0);
  EXPECT_THAT(all.table_names(), ElementsAre("Zzz", "aaa", "aab", "bbb", "ccc"));
  EXPECT_EQ(all.last_evaluated_table_name(), "");
  EXPECT_EQ(all.change_sequence(), 5u);
  for (int limit = 1; limit <= 6; ++limit) {
    std::vector<std::string> names;
    std::string start;
    do {
      auto page = list(start, limit);
      EXPECT_LE(page.table_names_size(), limit);
      names.insert(names.end(), page.table_names().begin(), page.table_names().end());
      start = page.last_evaluated_table_name();
    } while (!start.empty());
    EXPECT_THAT(names, ElementsAre("Zzz", "aaa", "aab", "bbb", "ccc")) << limit;
  }
  EXPECT_THAT(list("aaaa", 2).table_names(), ElementsAre("aab", "bbb"));  // The start name need not exist.
  EXPECT_THAT(list("ccc", 2).table_names(), IsEmpty());
  for (int limit : {-1, 101}) {
    v1::ListTablesRequest request;
    request.set_limit(limit);
    EXPECT_THAT(database->ListTables(request).status(), IsInvalid("1 to 100"));
  }
}

TEST(Tables, MadeAgainUnderTheirNameAreEmptyAndOthers) {  // SEM-074, SEM-100, OP-01, OP-02, SEED-051
  TestDatabase database;
  database.CreateTable(Things());
  for (const char* sk : {"1", "2"}) {
    ASSERT_TRUE(
        database.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"grp", S("g")}, {"rate", N("1")}}).ok());
  }
  auto before = Describe(database, "Things");
  auto deleted = DeleteTable(database, "Things");
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  before.set_table_status(v1::TABLE_STATUS_DELETING);
  EXPECT_EQ(deleted->table().SerializeAsString(), before.SerializeAsString());
  EXPECT_EQ(deleted->change_sequence(), 4u);
  EXPECT_THAT(DeleteTable(database, "Things").status(), IsTableNotFound());
  EXPECT_THAT(database.Put("Things", {{"pk", S("p")}, {"sk", S("1")}}).status(), IsTableNotFound());
  EXPECT_THAT(database.Scan(ScanRequest("Things")).status(), IsTableNotFound());

  database.CreateTable(Things());
  for (bool reopened : {false, true}) {
    if (reopened) database.Reopen();
    auto now = Describe(database, "Things");
    EXPECT_EQ(now.item_count(), 0);
    EXPECT_EQ(now.table_size_bytes(), 0);
    EXPECT_EQ(now.global_secondary_indexes(0).item_count(), 0);
    EXPECT_THAT(now.table_id(), Not(before.table_id()));
    EXPECT_GT(now.storage_id(), before.storage_id());
    EXPECT_THAT(ScanAll(database, ScanRequest("Things")), IsEmpty());
    auto index = ScanRequest("Things");
    index.set_index_name("Ranks");
    EXPECT_THAT(ScanAll(database, index), IsEmpty());
  }
  database.CheckIsClean();
}

// Storage ids of deleted tables must not be reused, not even after a restart without any table
// (IdsNeverReused).
TEST(Tables, NeverReuseStorageIds) {
  TestDatabase database;
  uint64_t highest = 0;
  for (int i = 0; i < 4; ++i) {
    auto created = CreateTable(database, Things());
    ASSERT_TRUE(created.ok()) << created.status();
    EXPECT_GT(created->table().storage_id(), highest);
    EXPECT_GT(created->table().global_secondary_indexes(0).storage_id(), highest);
    highest =
        std::max(created->table().storage_id(), created->table().global_secondary_indexes(0).storage_id());
    ASSERT_TRUE(DeleteTable(database, "Things").ok());
    database.Reopen();
  }
}

}  // namespace
}  // namespace itemdb::testing
