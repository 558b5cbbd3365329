// The access patterns that the database records (SEED-049): a pattern has one shape, however the request is
// written; every call is counted; the number of patterns is bounded.

#include <thread>

#include "storage/base/limits.h"
#include "storage/patterns/latency_histogram.h"
#include "tests/storage/database/requests.h"
#include "tests/support/live_index.h"
#include "tests/support/power_loss_file_system.h"

namespace itemdb::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

v1::GetAccessPatternsReply PatternsOf(Database& database, const std::string& table = "") {
  v1::GetAccessPatternsRequest request;
  request.set_table_name(table);
  auto reply = database.GetAccessPatterns(request);
  EXPECT_TRUE(reply.ok()) << reply.status();
  return reply.ok() ? *std::move(reply) : v1::GetAccessPatternsReply();
}

// For example "Query ByDate descending [pk = ?] {tag = ?} 2 calls, 1 error, 5 -> 3".
std::string ShowPattern(const v1::AccessPattern& pattern) {
  std::string text = pattern.operation();
  if (!pattern.index_name().empty()) text += " " + pattern.index_name();
  if (pattern.descending()) text += " descending";
  if (!pattern.key_condition().empty()) text += " [" + pattern.key_condition() + "]";
  if (!pattern.filter().empty()) text += " {" + pattern.filter() + "}";
  text += " " + std::to_string(pattern.calls());
  if (pattern.errors() > 0) text += ", errors " + std::to_string(pattern.errors());
  return text + ", " + std::to_string(pattern.items_scanned()) + " -> " +
         std::to_string(pattern.items_returned());
}

std::vector<std::string> Shown(const v1::GetAccessPatternsReply& reply) {
  std::vector<std::string> shown;
  for (const auto& pattern : reply.patterns()) shown.push_back(ShowPattern(pattern));
  return shown;
}

class AccessPatterns : public ::testing::Test {
 protected:
  AccessPatterns() {
    auto things = TableRequest("Things");
    AddIndex(&things, "ByStatus", {"status:S", "grp:N", "date:S", "n:N"}, 2, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(things);
  }

  // Three calls of the pattern "PutItem".
  void PutThree() {
    for (const char* sk : {"a", "b", "c"}) {
      ASSERT_TRUE(database_
                      .Put("Things", {{"pk", S("p")},
                                      {"sk", S(sk)},
                                      {"status", S("OPEN")},
                                      {"grp", N("0")},
                                      {"date", S("2025")},
                                      {"n", N("1")}})
                      .ok());
    }
  }

  wire::PageRequest Filtered(const std::string& filter, Attributes values = {}) {
    wire::PageRequest request = ScanRequest("Things");
    request.set_filter_expression(filter);
    for (const auto& [name, value] : values) SetValue(&request, name, value);
    return request;
  }
  // The shape of that filter, from a new table on which it is the only request.
  std::string FilterShape(wire::PageRequest request) {
    request.set_table_name("Table" + std::to_string(++tables_));
    database_.CreateTable(TableRequest(request.table_name()));
    auto page = database_.Scan(request);
    EXPECT_TRUE(page.ok()) << page.status();
    auto reply = PatternsOf(*database_, request.table_name());
    EXPECT_EQ(reply.patterns_size(), 1);
    return reply.patterns_size() == 1 ? reply.patterns(0).filter() : "";
  }

  absl::StatusOr<StatementPage> Execute(const std::string& statement,
                                        const std::vector<v1::AttributeValue>& parameters = {}) {
    wire::ExecuteStatementRequest request;
    request.set_statement(statement);
    for (const auto& parameter : parameters) request.add_parameters(parameter.SerializeAsString());
    return Await<StatementPage>([&](auto done) { database_->ExecuteStatement(request, std::move(done)); });
  }

  std::vector<std::string> Shown() { return testing::Shown(PatternsOf(*database_)); }

  TestDatabase database_;
  int tables_ = 0;
};

TEST_F(AccessPatterns, TellKeyConditionsApartByTheirShape) {  // SEED-049
  PutThree();
  const std::string pk = "pk = :p";
  for (const auto& [condition, value] : std::initializer_list<std::pair<std::string, std::string>>{
           {"pk = :p", "p"}, {"pk = :p", "q"}, {"sk = :a AND pk = :p", "p"}, {"pk = :p AND :a = sk", "p"}}) {
    auto request = QueryRequest("Things", condition, {{":p", S(value)}});
    if (condition != pk) SetValue(&request, ":a", S("a"));
    ASSERT_TRUE(database_.Query(request).ok());
  }
  auto named = QueryRequest("Things", "#p = :p AND begins_with(#s, :a)", {{":p", S("p")}, {":a", S("a")}});
  SetName(&named, "#p", "pk");
  SetName(&named, "#s", "sk");
  ASSERT_TRUE(database_.Query(named).ok());
  for (const char* range : {"sk BETWEEN :a AND :b", ":b >= sk AND sk = :a", "sk < :b AND pk = :a"}) {
    auto request = QueryRequest("Things", "pk = :p AND " + std::string(range),
                                {{":p", S("p")}, {":a", S("a")}, {":b", S("b")}});
    EXPECT_EQ(database_.Query(request).ok(), std::string(range).starts_with("sk BETWEEN")) << range;
  }
  auto reversed = QueryRequest("Things", "pk = :p AND :b >= sk", {{":p", S("p")}, {":b", S("b")}});
  reversed.set_scan_index_forward(false);
  ASSERT_TRUE(database_.Query(reversed).ok());
  EXPECT_THAT(Shown(), UnorderedElementsAre("PutItem 3, 3 -> 0", "Query [pk = ?] 2, 3 -> 3",
                                            "Query [pk = ? AND sk = ?] 2, 2 -> 2",
                                            "Query [pk = ? AND begins_with(sk, ?)] 1, 1 -> 1",
                                            "Query [pk = ? AND sk BETWEEN ? AND ?] 1, 2 -> 2",
                                            "Query descending [pk = ? AND sk <= ?] 1, 2 -> 2"));
}

TEST_F(AccessPatterns, OfAnIndexNameItsKeyOfSeveralAttributes) {  // SEED-049, SEM-080, SEM-081
  PutThree();
  const auto query = [](const std::string& more, Attributes values) {
    auto request = QueryRequest("Things", "grp = :n AND #s = :s" + more, values);
    SetValue(&request, ":s", S("OPEN"));
    SetName(&request, "#s", "status");
    request.set_index_name("ByStatus");
    return request;
  };
  auto whole = database_.Query(query("", {{":n", N("0")}}));
  ASSERT_TRUE(whole.ok()) << whole.status();
  auto all = query(" AND n > :n AND #d = :d", {{":n", N("0")}, {":d", S("2025")}});
  SetName(&all, "#d", "date");
  ASSERT_TRUE(database_.Query(all).ok());
  EXPECT_THAT(Shown(), UnorderedElementsAre(
                           "PutItem 3, 3 -> 0", "Query ByStatus [status = ? AND grp = ?] 1, 3 -> 3",
                           "Query ByStatus [status = ? AND grp = ? AND date = ? AND n > ?] 1, 3 -> 3"));
}

TEST_F(AccessPatterns, ShowFiltersWithNamesInPlaceAndWithoutValues) {  // SEED-049
  struct Row {
    std::string filter;
    Attributes values;
    std::string shape;
  };
  const Row rows[] = {
      {"#a = :v", {{":v", S("x")}}, "a = ?"},
      {"a.b[3].c <> :v", {{":v", S("x")}}, "a.b[3].c <> ?"},
      {"a IN (:v, :w, b, :w)", {{":v", S("x")}, {":w", S("y")}}, "a IN (?, b)"},
      {"a IN (:v)", {{":v", S("x")}}, "a IN (?)"},
      {"size(a) > :v and attribute_exists(b)", {{":v", N("1")}}, "size(a) > ? AND attribute_exists(b)"},
      {"(a = :v OR b = :v) AND NOT (a < :v AND b < :v)",
       {{":v", S("x")}},
       "(a = ? OR b = ?) AND NOT (a < ? AND b < ?)"},
      {"a = :v AND (b = :v AND c = :v) OR d = :v", {{":v", S("x")}}, "a = ? AND b = ? AND c = ? OR d = ?"},
      {"NOT contains(a, :v)", {{":v", S("x")}}, "NOT contains(a, ?)"},
      {"a BETWEEN :v AND b", {{":v", S("x")}}, "a BETWEEN ? AND b"},
      {"attribute_type(a, :v) AND begins_with(b, :v)",
       {{":v", S("S")}},
       "attribute_type(a, ?) AND begins_with(b, ?)"},
  };
  for (const Row& row : rows) {
    auto request = Filtered(row.filter, row.values);
    if (row.filter.find('#') != std::string::npos) SetName(&request, "#a", "a");
    EXPECT_EQ(FilterShape(request), row.shape);
  }
}

TEST_F(AccessPatterns, QuoteNamesThatCouldBeTakenForSomethingElse) {  // SEED-049
  for (const auto& [name, shown] :
       std::initializer_list<std::pair<std::string, std::string>>{{"status", "status"},
                                                                  {"first name", "\"first name\""},
                                                                  {"a.b", "\"a.b\""},
                                                                  {"And", "\"And\""},
                                                                  {"say \"hi\"", "\"say \"\"hi\"\"\""},
                                                                  {"9", "\"9\""},
                                                                  {"größe", "\"größe\""}}) {
    auto request = Filtered("attribute_exists(#n)");
    SetName(&request, "#n", name);
    EXPECT_EQ(FilterShape(request), "attribute_exists(" + shown + ")");
  }
}

TEST_F(AccessPatterns, CutShapesThatAreTooLong) {  // SEED-049
  std::string filter = "attribute_exists(a0)";
  for (int i = 1; i < 100; ++i) filter += " OR attribute_exists(a" + std::to_string(i) + ")";
  for (const char* end : {" OR attribute_exists(x)", " OR attribute_exists(y)"})
    ASSERT_TRUE(database_.Scan(Filtered(filter + end)).ok());
  auto long_name = Filtered("attribute_exists(#n)");
  SetName(&long_name, "#n", std::string(2 * kMaxShapeBytes, 'x'));
  ASSERT_TRUE(database_.Scan(long_name).ok());
  auto reply = PatternsOf(*database_);
  ASSERT_EQ(reply.patterns_size(), 2) << "what differs after the cut is one pattern";
  EXPECT_THAT(reply.patterns(0).filter(), AllOf(StartsWith("attribute_exists(a0) OR "), EndsWith("...")));
  EXPECT_THAT(reply.patterns(0).filter(), SizeIs(Lt(kMaxShapeBytes + 4)));
  EXPECT_EQ(reply.patterns(0).calls(), 2);
  EXPECT_EQ(reply.patterns(1).filter(), "attribute_exists(...");
}

TEST_F(AccessPatterns, AreTheSameForLegacyParametersAndStatements) {  // SEED-049, SEM-112, PQL-01
  PutThree();
  auto expression =
      QueryRequest("Things", "pk = :p AND begins_with(sk, :a)", {{":p", S("p")}, {":a", S("a")}});
  expression.set_filter_expression("tag = :p AND size(tag) < :one");
  SetValue(&expression, ":one", N("1"));
  ASSERT_TRUE(database_.Query(expression).ok());
  ASSERT_TRUE(
      Execute("SELECT * FROM Things WHERE begins_with(sk, 'b') AND pk = 'p' AND tag = 'x' AND size(tag) < 3")
          .ok());

  wire::PageRequest legacy = ScanRequest("Things");
  const auto add = [](auto* entry, const std::string& name, v1::ComparisonOperator comparison,
                      const v1::AttributeValue& value) {
    entry->set_name(name);
    entry->mutable_value()->set_comparison_operator(comparison);
    entry->mutable_value()->add_attribute_value_list(value.SerializeAsString());
  };
  add(legacy.add_key_conditions(), "pk", v1::COMPARISON_OPERATOR_EQ, S("p"));
  add(legacy.add_key_conditions(), "sk", v1::COMPARISON_OPERATOR_BEGINS_WITH, S("a"));
  add(legacy.add_legacy_filter(), "tag", v1::COMPARISON_OPERATOR_EQ, S("p"));
  ASSERT_TRUE(database_.Query(legacy).ok());
  expression.set_filter_expression("tag = :p");
  expression.mutable_expression_attribute_values()->RemoveLast();
  ASSERT_TRUE(database_.Query(expression).ok());

  EXPECT_THAT(Shown(), UnorderedElementsAre(
                           "PutItem 3, 3 -> 0",
                           "Query [pk = ? AND begins_with(sk, ?)] {tag = ? AND size(tag) < ?} 2, 2 -> 0",
                           "Query [pk = ? AND begins_with(sk, ?)] {tag = ?} 2, 2 -> 0"));
}

TEST_F(AccessPatterns, OfStatementsAreTheOperationsThatTheyAre) {  // SEED-049, PQL-02, PQL-08
  ASSERT_TRUE(Execute("INSERT INTO Things VALUE {'pk': 'p', 'sk': 'a'}").ok());
  ASSERT_FALSE(Execute("INSERT INTO Things VALUE {'pk': 'p', 'sk': 'a'}").ok());
  ASSERT_TRUE(Execute("UPDATE Things SET n = 1 WHERE pk = ? AND sk = 'a'", {S("p")}).ok());
  ASSERT_TRUE(Execute("SELECT * FROM Things WHERE n = 1").ok());
  ASSERT_TRUE(Execute("SELECT * FROM Things WHERE pk IN ('p', 'q')").ok());
  ASSERT_TRUE(Execute("DELETE FROM Things WHERE pk = 'p' AND sk = 'a'").ok());
  wire::BatchExecuteStatementRequest batch;
  batch.add_statements()->set_statement("SELECT * FROM Things WHERE pk = 'p' AND sk = 'a'");
  batch.add_statements()->set_statement("SELECT * FROM Things WHERE pk = 'p' AND sk = 'b'");
  ASSERT_TRUE(Await<wire::BatchExecuteStatementReply>([&](auto done) {
                database_->BatchExecuteStatement(batch, std::move(done));
              }).ok());
  wire::ExecuteTransactionRequest transaction;
  transaction.add_transact_statements()->set_statement("INSERT INTO Things VALUE {'pk': 'x', 'sk': 'y'}");
  ASSERT_TRUE(Await<wire::ExecuteTransactionReply>([&](auto done) {
                database_->ExecuteTransaction(transaction, std::move(done));
              }).ok());
  EXPECT_THAT(Shown(),
              UnorderedElementsAre("PutItem {attribute_not_exists(pk)} 2, errors 1, 2 -> 0",
                                   "UpdateItem {attribute_exists(pk)} 1, 1 -> 0", "Scan {n = ?} 1, 1 -> 1",
                                   "Query [pk = ?] 2, 1 -> 1", "DeleteItem 1, 1 -> 0",
                                   "BatchGetItem 1, 0 -> 0", "TransactWriteItems 1, 1 -> 0"));
}

TEST_F(AccessPatterns, CountSingleReadsAndWrites) {  // SEED-049
  auto put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("a")}});
  ASSERT_TRUE(PutItem(database_, put).ok());
  ASSERT_TRUE(PutItem(database_, If(put, "attribute_not_exists(pk)")).ok());
  put.set_return_values(v1::RETURN_VALUES_ALL_OLD);
  ASSERT_TRUE(PutItem(database_, put).ok());
  ASSERT_TRUE(
      database_
          .Update(UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("a")}}, "SET n = :n", {{":n", N("1")}}))
          .ok());
  EXPECT_EQ(database_.Get("Things", {{"pk", S("p")}, {"sk", S("b")}}), "");
  EXPECT_NE(database_.Get("Things", {{"pk", S("p")}, {"sk", S("a")}}), "");
  ASSERT_TRUE(database_.Delete("Things", {{"pk", S("p")}, {"sk", S("a")}}).ok());
  EXPECT_THAT(Shown(), UnorderedElementsAre(
                           "PutItem 2, 2 -> 1", "PutItem {attribute_not_exists(pk)} 1, errors 1, 1 -> 1",
                           "UpdateItem 1, 1 -> 0", "GetItem 2, 1 -> 1", "DeleteItem 1, 1 -> 0"));
}

TEST_F(AccessPatterns, CountACallOfSeveralTablesForEachOfThem) {  // SEED-049
  database_.CreateTable(TableRequest("Others"));
  wire::BatchWriteItemRequest batch;
  wire::TransactWriteItemsRequest transaction;
  wire::TransactGetItemsRequest gets;
  wire::BatchGetItemRequest batch_gets;
  wire::BulkWriteChunk chunk;
  chunk.set_chunk_number(1);
  for (const char* table : {"Things", "Others"}) {
    auto* puts = batch.add_request_items();
    auto* keys = batch_gets.add_request_items();
    puts->set_table_name(table);
    keys->set_table_name(table);
    for (const char* sk : {"a", "b"}) {
      const std::string key = Encode({{"pk", S(table)}, {"sk", S(sk)}});
      puts->add_write_requests()->mutable_put_request()->set_item(key);
      keys->add_keys(key);
    }
    keys->add_keys(Encode({{"pk", S(table)}, {"sk", S("none")}}));
    auto* get = gets.add_transact_items();
    get->set_table_name(table);
    get->set_key(Encode({{"pk", S(table)}, {"sk", S("a")}}));
    *chunk.add_request_items() = *puts;
  }
  auto* check = transaction.add_transact_items()->mutable_condition_check();
  *check = If(WriteRequest("Others", {{"pk", S("x")}, {"sk", S("y")}}), "attribute_exists(pk)");
  *transaction.add_transact_items()->mutable_put() = WriteRequest("Things", {{"pk", S("x")}, {"sk", S("y")}});

  ASSERT_TRUE(BatchWrite(database_, batch).ok());
  auto cancelled = database_.Transact(transaction);
  ASSERT_TRUE(cancelled.ok() && cancelled->has_cancelled());
  ASSERT_TRUE(Await<wire::TransactGetItemsReply>([&](auto done) {
                database_->TransactGetItems(gets, std::move(done));
              }).ok());
  ASSERT_TRUE(Await<wire::BatchGetItemReply>([&](auto done) {
                database_->BatchGetItem(batch_gets, std::move(done));
              }).ok());
  auto bulk = database_->BeginBulkWrite();
  ASSERT_TRUE(Await<wire::BulkWriteReply>([&](auto done) {
                database_->BulkWrite(*bulk, chunk, std::move(done));
              }).ok());
  for (const char* table : {"Things", "Others"}) {
    EXPECT_THAT(testing::Shown(PatternsOf(*database_, table)),
                UnorderedElementsAre("BatchWriteItem 1, 2 -> 0", "BatchGetItem 1, 2 -> 2",
                                     "TransactGetItems 1, 1 -> 1", "TransactWriteItems 1, errors 1, 1 -> 0",
                                     "BulkWrite 1, 2 -> 0"));
  }
  EXPECT_EQ(PatternsOf(*database_).patterns_size(), 10);
}

TEST_F(AccessPatterns, CountEveryPageAndEverySegmentOfAScan) {  // SEED-049, SEM-033
  PutThree();
  auto paged = ScanRequest("Things");
  paged.set_limit(2);
  ScanAll(database_, paged);
  for (int segment : {0, 1}) {
    auto request = ScanRequest("Things");
    request.set_segment(segment);
    request.set_total_segments(2);
    ASSERT_TRUE(database_.Scan(request).ok());
  }
  EXPECT_THAT(Shown(), ElementsAre("Scan 4, 6 -> 6", "PutItem 3, 3 -> 0"));
}

TEST_F(AccessPatterns, LeaveOutWhatIsRefusedBeforeItIsKnownWhatItReads) {  // SEED-049
  EXPECT_FALSE(database_.Query(QueryRequest("Things", "sk = :a", {{":a", S("a")}})).ok());
  EXPECT_FALSE(database_.Put("Things", {{"pk", S("p")}}).ok());
  EXPECT_FALSE(database_.Put("Nothing", {{"pk", S("p")}}).ok());
  EXPECT_THAT(Shown(), IsEmpty());
  v1::GetAccessPatternsRequest request;
  request.set_table_name("Nothing");
  EXPECT_THAT(database_->GetAccessPatterns(request).status(), IsTableNotFound());
}

TEST_F(AccessPatterns, AreExactWhenManyThreadsCount) {  // SEED-049
  PutThree();
  constexpr int kThreads = 8;
  constexpr int kCalls = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls; ++i) {
        EXPECT_NE(database_.Get("Things", {{"pk", S("p")}, {"sk", S("a")}}), "");
        // Several threads are the first to use a pattern.
        auto request = Filtered("attribute_exists(#n)");
        SetName(&request, "#n", "n" + std::to_string(i % 50));
        EXPECT_TRUE(database_.Scan(request).ok()) << t;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  auto reply = PatternsOf(*database_);
  EXPECT_EQ(reply.other_calls(), 0);
  ASSERT_EQ(reply.patterns_size(), 52);
  EXPECT_EQ(ShowPattern(reply.patterns(0)), "GetItem 4000, 4000 -> 4000");
  for (int i = 1; i <= 50; ++i) EXPECT_EQ(reply.patterns(i).calls(), kThreads * kCalls / 50);
}

TEST_F(AccessPatterns, BeyondTheBoundAreCountedTogether) {  // SEED-049
  for (int i = 0; i < kMaxTableAccessPatterns + 7; ++i) {
    auto request = Filtered("attribute_exists(#n)");
    SetName(&request, "#n", "n" + std::to_string(i));
    ASSERT_TRUE(database_.Scan(request).ok());
  }
  PutThree();
  auto reply = PatternsOf(*database_);
  EXPECT_EQ(reply.patterns_size(), kMaxTableAccessPatterns);
  EXPECT_EQ(reply.other_calls(), 7 + 3);
  // Another table still has room for patterns.
  database_.CreateTable(TableRequest("Others"));
  ASSERT_TRUE(database_.Put("Others", {{"pk", S("p")}, {"sk", S("a")}}).ok());
  EXPECT_THAT(testing::Shown(PatternsOf(*database_, "Others")), ElementsAre("PutItem 1, 1 -> 0"));
  EXPECT_EQ(PatternsOf(*database_, "Others").other_calls(), 0);
}

TEST_F(AccessPatterns, GoWithTheirTable) {  // SEED-049
  const auto fill = [&](const std::string& table) {
    for (int i = 0; i < kMaxTableAccessPatterns; ++i) {
      auto request = Filtered("attribute_exists(#n)");
      request.set_table_name(table);
      SetName(&request, "#n", "n" + std::to_string(i));
      ASSERT_TRUE(database_.Scan(request).ok());
    }
  };
  // Far more patterns than fit at once, but in one table after another.
  for (int round = 0; round < kMaxAccessPatterns / kMaxTableAccessPatterns + 2; ++round) {
    database_.CreateTable(TableRequest("Brief"));
    fill("Brief");
    EXPECT_EQ(PatternsOf(*database_).patterns_size(), kMaxTableAccessPatterns);
    EXPECT_EQ(PatternsOf(*database_).other_calls(), 0);
    ASSERT_TRUE(DeleteTable(database_, "Brief").ok());
    EXPECT_EQ(PatternsOf(*database_).patterns_size(), 0);
  }
  // With all tables at once, the last one has no room.
  const int tables = kMaxAccessPatterns / kMaxTableAccessPatterns;
  for (int i = 0; i <= tables; ++i) {
    database_.CreateTable(TableRequest("Table" + std::to_string(i)));
    fill("Table" + std::to_string(i));
  }
  EXPECT_EQ(PatternsOf(*database_).patterns_size(), kMaxAccessPatterns);
  EXPECT_EQ(PatternsOf(*database_).other_calls(), kMaxTableAccessPatterns);
}

TEST_F(AccessPatterns, OutliveChangesOfTheTableAndGoWithTheirIndex) {  // SEED-049, SEM-095
  PutThree();
  auto query = QueryRequest("Things", "#s = :s AND grp = :n", {{":s", S("OPEN")}, {":n", N("0")}});
  SetName(&query, "#s", "status");
  query.set_index_name("ByStatus");
  ASSERT_TRUE(database_.Query(query).ok());
  v1::UpdateTableRequest update;
  update.set_table_name("Things");
  update.set_deletion_protection_enabled(true);
  ASSERT_TRUE(UpdateTable(*database_, update).ok());
  EXPECT_THAT(Shown(), ElementsAre("PutItem 3, 3 -> 0", "Query ByStatus [status = ? AND grp = ?] 1, 3 -> 3"));
  update.clear_deletion_protection_enabled();
  update.add_global_secondary_index_deletions("ByStatus");
  auto deleted = UpdateTable(*database_, update);
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("d")}}).ok());
  EXPECT_THAT(Shown(), ElementsAre("PutItem 4, 4 -> 0"));
}

TEST_F(AccessPatterns, TellSinceWhenTheyAreCounted) {  // SEED-049
  PutThree();
  const int64_t before = PatternsOf(*database_).start_time_us();
  EXPECT_GT(before, 0);
  database_.Reopen();
  EXPECT_THAT(Shown(), IsEmpty());
  EXPECT_GE(PatternsOf(*database_).start_time_us(), before);
}

TEST(LatencyHistogram, IsRightWithinTenPercent) {
  for (uint64_t us = 0; us < 60'000'000; us += us / 50 + 1) {
    const size_t bucket = LatencyBucket(us);
    ASSERT_LT(bucket, kLatencyBuckets);
    const double shown = static_cast<double>(LatencyOfBucket(bucket));
    EXPECT_LE(shown, static_cast<double>(us) * 1.1) << us;
    EXPECT_GE(shown, static_cast<double>(us) * 0.9) << us;
    EXPECT_LE(LatencyBucket(us), LatencyBucket(us + 1)) << us;
  }
  EXPECT_EQ(LatencyBucket(UINT64_MAX), kLatencyBuckets - 1);
}

TEST_F(AccessPatterns, TellLatencies) {  // SEED-049
  PutThree();
  auto reply = PatternsOf(*database_);
  ASSERT_EQ(reply.patterns_size(), 1);
  EXPECT_GT(reply.patterns(0).p50_us(), 0);
  EXPECT_GE(reply.patterns(0).p99_us(), reply.patterns(0).p50_us());
}

// The patterns of a table and an operation are one row; who reads it twice knows what happened between.
TEST_F(AccessPatterns, ActivityIsTheirSumByTableAndOperation) {
  const auto activity = [this](bool with_activity = true) {
    v1::GetStatusRequest request;
    request.set_with_activity(with_activity);
    return database_->GetStatus(request);
  };
  EXPECT_EQ(activity().activity().operations_size(), 0);
  EXPECT_GT(activity().activity().start_time_us(), 0);
  EXPECT_FALSE(activity(false).has_activity());
  PutThree();
  ASSERT_TRUE(database_.Scan(ScanRequest("Things")).ok());
  ASSERT_TRUE(database_.Scan(Filtered("n = :n", {{":n", N("2")}})).ok());
  const v1::Activity shown = activity().activity();
  ASSERT_EQ(shown.operations_size(), 2);
  const v1::OperationActivity& puts = shown.operations(0);
  const v1::OperationActivity& scans = shown.operations(1);
  EXPECT_EQ(puts.table_name(), "Things");
  EXPECT_EQ(puts.operation(), "PutItem");
  EXPECT_EQ(scans.operation(), "Scan");
  EXPECT_EQ(scans.items_scanned(), 6);
  EXPECT_EQ(scans.items_returned(), 3);
  for (const auto& [operation, expected] : {std::pair(&puts, 3), std::pair(&scans, 2)}) {
    int64_t calls = 0, last_us = -1;
    for (const v1::LatencyCount& latency : operation->latencies()) {
      EXPECT_GT(latency.calls(), 0);
      EXPECT_GT(latency.latency_us(), last_us) << "the shortest first";
      last_us = latency.latency_us();
      calls += latency.calls();
    }
    EXPECT_EQ(calls, expected);
  }
}

}  // namespace
}  // namespace itemdb::testing
