// Contributor insights (OP-56 to OP-58): which keys use a table or an index, and how much.

#include <future>
#include <memory>

#include "absl/strings/str_format.h"
#include "storage/engine/engine.h"
#include "storage/items/operations.h"
#include "storage/query/page.h"
#include "storage/query/scan_segments.h"
#include "storage/schema/contributor_insights.h"
#include "tests/storage/database/requests.h"
#include "tests/support/await.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// For example "pk=a sk=1: 2.5".
std::vector<std::string> ShowTopKeys(const google::protobuf::RepeatedPtrField<v1::TopKey>& keys) {
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

  bool IsOff() {
    auto top = Top();
    return top.ok() && top->start_time_us() == 0 && top->partition_keys().empty();
  }
  std::vector<std::string> PartitionKeys(const std::string& index = "") {
    auto top = Top(index);
    EXPECT_TRUE(top.ok()) << top.status();
    return top.ok() ? ShowTopKeys(top->partition_keys()) : std::vector<std::string>();
  }
  std::vector<std::string> Keys(const std::string& index = "") {
    auto top = Top(index);
    EXPECT_TRUE(top.ok()) << top.status();
    return top.ok() ? ShowTopKeys(top->keys()) : std::vector<std::string>();
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

TEST_F(ContributorInsights, ThrottledOnlyCountsNoOtherRequest) {
  ASSERT_TRUE(Set(true, "", /*throttled_only=*/true).ok());
  Put("a", "1", "OPEN");
  EXPECT_THAT(PartitionKeys(), IsEmpty());
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
    if (names.size() == 1) {
      ASSERT_TRUE(Set(false).ok());
    }
  } while (!list.next_token().empty() && names.size() < 4);
  EXPECT_THAT(names, ElementsAre("Things.", "Things.ByStatus", "Zebras."));
}

// An engine with one I/O thread. What it reads is on disk.
class ThrottledKeys : public ::testing::Test {
 protected:
  ThrottledKeys() {
    DatabaseOptions options = TestDatabase::DefaultOptions(directory_.path());
    {
      TestDatabase database(options);
      auto things = TableRequest("Things");
      AddIndex(&things, "ByStatus", {"status:S", "n:N"}, 1, v1::PROJECTION_TYPE_ALL);
      AddLocalIndex(&things, "ByRank", "n:N", v1::PROJECTION_TYPE_ALL);
      database.CreateTable(things);
      for (const char* pk : {"a", "b", "c", "d", "e", "f"}) {
        for (const char* sk : {"1", "2"}) {
          const auto put =
              database.Put("Things", {{"pk", S(pk)}, {"sk", S(sk)}, {"status", S("OPEN")}, {"n", N("7")}});
          EXPECT_TRUE(put.ok()) << put.status();
        }
      }
      for (const char* index : {"", "ByStatus"}) {
        v1::UpdateContributorInsightsRequest request;
        request.set_table_name("Things");
        request.set_index_name(index);
        request.set_contributor_insights_action(v1::CONTRIBUTOR_INSIGHTS_ACTION_ENABLE);
        const auto on = Await<v1::UpdateContributorInsightsReply>(
            [&](auto done) { database->UpdateContributorInsights(request, std::move(done)); });
        EXPECT_TRUE(on.ok()) << on.status();
      }
      database.Reopen();
    }
    options.io_threads = 1;
    auto engine = storage::Engine::Open(options);
    EXPECT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    segments_ = std::make_unique<storage::ScanSegments>(*engine_);
  }
  ~ThrottledKeys() override {
    gate_.set_value();
    engine_.reset();
  }

  // Makes the I/O thread busy, and its queues full, until the end of the test.
  void FillQueues() {
    std::promise<void> started;
    storage::IoPool::Task first = [opened = opened_, &started] {
      started.set_value();
      opened.wait();
    };
    ASSERT_TRUE(engine_->io().Submit(first, storage::IoPriority::kLong));
    started.get_future().wait();
    for (const auto priority : {storage::IoPriority::kPoint, storage::IoPriority::kLong}) {
      bool taken = true;
      for (int i = 0; taken && i < 1'000'000; ++i) {
        storage::IoPool::Task task = [opened = opened_] { opened.wait(); };
        taken = engine_->io().Submit(task, priority);
      }
      ASSERT_FALSE(taken);
    }
  }

  static std::string Key(const std::string& pk, const std::string& sk) {
    return Encode({{"pk", S(pk)}, {"sk", S(sk)}});
  }
  absl::Status Read(storage::PageOperation operation, const wire::PageRequest& request) {
    return Await<storage::Page>([&](auto done) {
             storage::ReadPage(*engine_, *segments_, operation, engine_->View(), request, std::move(done),
                               nullptr);
           })
        .status();
  }
  absl::Status Query(const std::string& attribute, const std::string& value, const std::string& index = "") {
    auto request = QueryRequest("Things", "#a = :v", {{":v", S(value)}});
    SetName(&request, "#a", attribute);
    request.set_index_name(index);
    return Read(storage::PageOperation::kQuery, request);
  }
  v1::GetTopKeysReply Top(const std::string& index = "") {
    v1::GetTopKeysRequest request;
    request.set_table_name("Things");
    request.set_index_name(index);
    const auto reply = storage::GetTopKeys(*engine_, request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() ? *reply : v1::GetTopKeysReply();
  }

  TemporaryDirectory directory_;
  std::promise<void> gate_;
  std::shared_future<void> opened_ = gate_.get_future().share();
  std::unique_ptr<storage::Engine> engine_;
  std::unique_ptr<storage::ScanSegments> segments_;
};

TEST_F(ThrottledKeys, AreThoseOfRefusedRequests) {
  FillQueues();
  std::vector<absl::Status> refused;
  wire::GetItemRequest get;
  get.set_table_name("Things");
  get.set_key(Key("a", "1"));
  refused.push_back(Await<wire::GetItemReply>([&](auto done) {
                      storage::GetItem(*engine_, get, std::move(done), nullptr);
                    }).status());
  wire::BatchGetItemRequest batch;
  batch.add_request_items()->set_table_name("Things");
  for (const char* sk : {"1", "2"}) batch.mutable_request_items(0)->add_keys(Key("b", sk));
  refused.push_back(Await<wire::BatchGetItemReply>([&](auto done) {
                      storage::BatchGetItem(*engine_, batch, std::move(done), nullptr);
                    }).status());
  refused.push_back(Await<wire::WriteItemReply>([&](auto done) {
                      storage::WriteItem(*engine_, storage::ActionKind::kPut,
                                         WriteRequest("Things", {{"pk", S("c")}, {"sk", S("1")}}),
                                         std::move(done), nullptr);
                    }).status());
  refused.push_back(Query("pk", "d"));
  refused.push_back(Query("pk", "e", "ByRank"));
  refused.push_back(Query("status", "OPEN", "ByStatus"));
  // Names no key.
  refused.push_back(Read(storage::PageOperation::kScan, ScanRequest("Things")));
  for (size_t i = 0; i < refused.size(); ++i)
    EXPECT_EQ(ReasonOf(refused[i]), storage::kReasonQueueFull) << i << " " << refused[i];

  const v1::GetTopKeysReply of_table = Top();
  EXPECT_THAT(ShowTopKeys(of_table.throttled_partition_keys()),
              UnorderedElementsAre("pk=a: 1.00", "pk=b: 2.00", "pk=c: 1.00", "pk=d: 1.00", "pk=e: 1.00"));
  EXPECT_THAT(
      ShowTopKeys(of_table.throttled_keys()),
      UnorderedElementsAre("pk=a sk=1: 1.00", "pk=b sk=1: 1.00", "pk=b sk=2: 1.00", "pk=c sk=1: 1.00"));
  EXPECT_THAT(of_table.partition_keys(), IsEmpty());
  const v1::GetTopKeysReply of_index = Top("ByStatus");
  EXPECT_THAT(ShowTopKeys(of_index.throttled_partition_keys()), ElementsAre("status=OPEN: 1.00"));
  EXPECT_THAT(of_index.throttled_keys(), IsEmpty());
}

// A call that fails for another reason is none of them.
TEST_F(ThrottledKeys, AreNotThoseOfCallsThatWereCancelled) {
  auto cancelled = std::make_shared<storage::Cancellation>();
  cancelled->Cancel();
  wire::GetItemRequest get;
  get.set_table_name("Things");
  get.set_key(Key("a", "1"));
  const absl::Status status = Await<wire::GetItemReply>([&](auto done) {
                                storage::GetItem(*engine_, get, std::move(done), cancelled);
                              }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Top().throttled_partition_keys(), IsEmpty());
}

}  // namespace
}  // namespace itemdb::testing
