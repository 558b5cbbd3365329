// Contributor insights (OP-56 to OP-58): which keys use a table or an index, and how much.

#include "absl/strings/str_format.h"
#include "storage/catalog/key_counting.h"
#include "storage/engine/io_pool.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ContributorInsights : public ::testing::Test {
 protected:
  ContributorInsights() {
    auto things = TableRequest("Things");
    AddIndex(&things, "ByStatus", {"status:S", "n:N"}, 1, v1::PROJECTION_TYPE_ALL);
    database_.CreateTable(things);
  }

  absl::StatusOr<v1::UpdateContributorInsightsReply> Set(bool enable, const std::string& index = "",
                                                         bool throttled_only = false) {
    v1::UpdateContributorInsightsRequest request;
    request.set_table_name("Things");
    request.set_index_name(index);
    request.set_contributor_insights_action(enable ? v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE
                                                   : v1::CONTRIBUTOR_INSIGHTS_ACTION_DISABLE);
    if (throttled_only) request.set_contributor_insights_mode(v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
    return Update(request);
  }
  absl::StatusOr<v1::UpdateContributorInsightsReply> Update(
      const v1::UpdateContributorInsightsRequest& request) {
    return Await<v1::UpdateContributorInsightsReply>(
        [&](auto done) { database_->UpdateContributorInsights(request, std::move(done)); });
  }

  void Put(const std::string& pk, const std::string& sk, const std::string& status, size_t bytes = 1) {
    ASSERT_TRUE(database_
                    .Put("Things", {{"pk", S(pk)},
                                    {"sk", S(sk)},
                                    {"status", S(status)},
                                    {"n", N("7")},
                                    {"text", S(std::string(bytes, 'x'))}})
                    .ok());
  }

  absl::StatusOr<v1::GetTopKeysReply> Top(const std::string& index = "", int limit = 10) {
    v1::GetTopKeysRequest request;
    request.set_table_name("Things");
    request.set_index_name(index);
    request.set_limit(limit);
    return database_->GetTopKeys(request);
  }

  // For example "pk=a sk=1: 2.5".
  static std::vector<std::string> Show(const google::protobuf::RepeatedPtrField<v1::TopKey>& keys) {
    std::vector<std::string> shown;
    for (const v1::TopKey& key : keys) {
      std::string text;
      for (const v1::Attribute& attribute : key.key().attributes()) {
        const v1::AttributeValue& value = attribute.value();
        text += attribute.name() + "=" + (value.has_n() ? value.n() : value.s()) + " ";
      }
      text.back() = ':';
      shown.push_back(text + absl::StrFormat(" %.2f", key.count()));
      EXPECT_EQ(key.error(), 0);
    }
    return shown;
  }
  bool IsOff() {
    auto top = Top();
    return top.ok() && top->start_time_us() == 0 && top->partition_keys().empty();
  }
  std::vector<std::string> PartitionKeys(const std::string& index = "") {
    auto top = Top(index);
    EXPECT_TRUE(top.ok()) << top.status();
    return top.ok() ? Show(top->partition_keys()) : std::vector<std::string>();
  }
  std::vector<std::string> Keys(const std::string& index = "") {
    auto top = Top(index);
    EXPECT_TRUE(top.ok()) << top.status();
    return top.ok() ? Show(top->keys()) : std::vector<std::string>();
  }

  TestDatabase database_;
};

TEST_F(ContributorInsights, CountTheUnitsOfReadsAndWrites) {
  ASSERT_TRUE(Set(true).ok());
  Put("a", "1", "OPEN");
  Put("a", "2", "OPEN", 3'000);
  Put("b", "1", "OPEN");
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 4.00", "pk=b: 1.00"));
  EXPECT_THAT(Keys(), ElementsAre("pk=a sk=2: 3.00", "pk=a sk=1: 1.00", "pk=b sk=1: 1.00"));
  // An eventual read of a missing item is half a unit.
  database_.Get("Things", {{"pk", S("c")}, {"sk", S("9")}});
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 4.00", "pk=b: 1.00", "pk=c: 0.50"));
}

// Each item of a page has its share of the page's units, which are rounded up once.
TEST_F(ContributorInsights, APageIsSharedByItsItems) {
  for (const char* sk : {"1", "2", "3"}) Put("a", sk, "OPEN", 1'500);
  ASSERT_TRUE(Set(true).ok());
  ASSERT_TRUE(database_.Query(QueryRequest("Things", "pk = :p", {{":p", S("a")}})).ok());
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 1.00"));
  EXPECT_THAT(Keys(), ElementsAre("pk=a sk=1: 0.33", "pk=a sk=2: 0.33", "pk=a sk=3: 0.33"));
  ASSERT_TRUE(database_.Scan(ScanRequest("Things")).ok());
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 2.00"));
}

TEST_F(ContributorInsights, AnIndexIsCountedByItsOwnKey) {
  ASSERT_TRUE(Set(true, "ByStatus").ok());
  Put("a", "1", "OPEN");
  Put("b", "1", "OPEN");
  Put("b", "1", "CLOSED");  // Moves the entry.
  auto request = QueryRequest("Things", "#s = :p", {{":p", S("OPEN")}});
  request.set_index_name("ByStatus");
  SetName(&request, "#s", "status");
  ASSERT_TRUE(database_.Query(request).ok());
  EXPECT_THAT(PartitionKeys("ByStatus"), ElementsAre("status=OPEN: 3.50", "status=CLOSED: 1.00"));
  EXPECT_THAT(Keys("ByStatus"), ElementsAre("n=7 status=OPEN: 3.50", "n=7 status=CLOSED: 1.00"));
  // The table itself is not counted.
  EXPECT_TRUE(IsOff());
}

TEST_F(ContributorInsights, CountAnewWhenTheyAreTurnedOnAgain) {
  ASSERT_TRUE(Set(true).ok());
  Put("a", "1", "OPEN");
  // What is on already goes on, and so it does when another setting of the table changes.
  ASSERT_TRUE(Set(true).ok());
  ASSERT_TRUE(Set(true, "ByStatus").ok());
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 1.00"));
  const auto off = Set(false);
  ASSERT_TRUE(off.ok()) << off.status();
  EXPECT_EQ(off->contributor_insights().contributor_insights_status(),
            v1::CONTRIBUTOR_INSIGHTS_STATUS_DISABLED);
  EXPECT_TRUE(IsOff());
  Put("b", "1", "OPEN");
  ASSERT_TRUE(Set(true).ok());
  EXPECT_THAT(PartitionKeys(), IsEmpty());
}

TEST_F(ContributorInsights, AreKeptWithTheTableAndCountAnewAfterAStart) {
  ASSERT_TRUE(Set(true).ok());
  ASSERT_TRUE(Set(true, "ByStatus", /*throttled_only=*/true).ok());
  Put("a", "1", "OPEN");
  const auto before = database_->ListContributorInsights({});
  database_.Reopen();
  const auto reply = database_->ListContributorInsights({});
  ASSERT_TRUE(before.ok() && reply.ok());
  const auto& list = reply->contributor_insights_summaries();
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0].index_name(), "");
  EXPECT_EQ(list[0].contributor_insights_mode(), v1::CONTRIBUTOR_INSIGHTS_MODE_ACCESSED_AND_THROTTLED_KEYS);
  EXPECT_EQ(list[1].index_name(), "ByStatus");
  EXPECT_EQ(list[1].contributor_insights_mode(), v1::CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS);
  EXPECT_EQ(list[0].last_update_time_ms(), before->contributor_insights_summaries(0).last_update_time_ms());
  EXPECT_THAT(PartitionKeys(), IsEmpty());
  Put("a", "2", "OPEN");
  EXPECT_THAT(PartitionKeys(), ElementsAre("pk=a: 1.00"));
  EXPECT_THAT(PartitionKeys("ByStatus"), IsEmpty());
  database_.CheckIsClean();
}

TEST_F(ContributorInsights, GoWithTheTable) {
  ASSERT_TRUE(Set(true).ok());
  v1::DeleteTableRequest gone;
  gone.set_table_name("Things");
  ASSERT_TRUE(
      Await<v1::DeleteTableReply>([&](auto done) { database_->DeleteTable(gone, std::move(done)); }).ok());
  EXPECT_EQ(Top().status().code(), absl::StatusCode::kNotFound);
  database_.CreateTable(TableRequest("Things"));
  v1::DescribeContributorInsightsRequest describe;
  describe.set_table_name("Things");
  const auto described = database_->DescribeContributorInsights(describe);
  ASSERT_TRUE(described.ok()) << described.status();
  EXPECT_EQ(described->contributor_insights().last_update_time_ms(), 0);
  EXPECT_TRUE(IsOff());
}

TEST_F(ContributorInsights, ThrottledKeysAreThoseOfRefusedRequests) {
  v1::TableDescription definition;
  ASSERT_TRUE(Set(true, "", /*throttled_only=*/true).ok());
  Put("a", "1", "OPEN");
  EXPECT_THAT(PartitionKeys(), IsEmpty());
  // The same keys as counted where a request is refused.
  auto request = TableRequest("Other");
  definition = *storage::DefinitionFromRequest(request);
  definition.mutable_contributor_insights()->set_enabled(true);
  const storage::Table table = storage::MakeTable(definition);
  const std::string key = std::string("Sa\0\1", 4) + std::string("S1\0\1", 4);
  storage::CountRefusedKey(table, key, storage::IoPoolFullError());
  storage::CountRefusedKey(table, key, absl::InternalError("not of this kind"));
  const auto throttled = table.counted_keys->Throttled(10);
  ASSERT_EQ(throttled.partition_keys.size(), 1u);
  EXPECT_EQ(throttled.partition_keys[0].key, key.substr(0, 4));
  EXPECT_EQ(throttled.partition_keys[0].count, 1);
  ASSERT_EQ(throttled.keys.size(), 1u);
  EXPECT_EQ(throttled.keys[0].key, key);
  EXPECT_THAT(table.counted_keys->Used(10).keys, IsEmpty());
}

TEST_F(ContributorInsights, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(Set(true, "Other").status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(Set(true).ok());
  for (const int limit : {0, 101})
    EXPECT_THAT(Top("", limit).status().message(), HasSubstr("it must be from 1 to 100")) << limit;
  EXPECT_EQ(Top("Other").status().code(), absl::StatusCode::kNotFound);
  v1::UpdateContributorInsightsRequest update;
  update.set_table_name("Things");
  EXPECT_THAT(Update(update).status().message(), HasSubstr("it must be ENABLE (1) or DISABLE (2)"));
  update.set_contributor_insights_action(v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE);
  update.set_contributor_insights_mode(static_cast<v1::ContributorInsightsMode>(7));
  EXPECT_THAT(Update(update).status().message(), HasSubstr("contributor_insights_mode is 7"));
  v1::ListContributorInsightsRequest list;
  for (const int limit : {0, 101}) {
    list.set_max_results(limit);
    EXPECT_THAT(database_->ListContributorInsights(list).status().message(),
                HasSubstr("it must be from 1 to 100"))
        << limit;
  }
  list.clear_max_results();
  for (const char* token : {"x", "dGhpbmdz", "VGhpbmdzLw=="}) {
    list.set_next_token(token);
    EXPECT_THAT(database_->ListContributorInsights(list).status().message(), HasSubstr("nextToken")) << token;
  }
}

TEST_F(ContributorInsights, PagesGoOnAfterTheLastName) {
  database_.CreateTable(TableRequest("Zebras"));
  ASSERT_TRUE(Set(true).ok());
  ASSERT_TRUE(Set(true, "ByStatus").ok());
  v1::UpdateContributorInsightsRequest update;
  update.set_table_name("Zebras");
  update.set_contributor_insights_action(v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE);
  ASSERT_TRUE(Update(update).ok());
  v1::ListContributorInsightsRequest list;
  list.set_max_results(1);
  std::vector<std::string> names;
  do {
    const auto page = database_->ListContributorInsights(list);
    ASSERT_TRUE(page.ok()) << page.status();
    ASSERT_EQ(page->contributor_insights_summaries_size(), 1);
    const auto& summary = page->contributor_insights_summaries(0);
    names.push_back(summary.table_name() + "." + summary.index_name());
    list.set_next_token(page->next_token());
    // What comes before the page does not matter for it.
    if (names.size() == 1) ASSERT_TRUE(Set(false).ok());
  } while (!list.next_token().empty() && names.size() < 4);
  EXPECT_THAT(names, ElementsAre("Things.", "Things.ByStatus", "Zebras."));
}

}  // namespace
}  // namespace itemdb::testing
