// Client request tokens (SEM-050, ERR-08): a repeated request gets the same reply and is not applied again.

#include <thread>

#include "storage/base/limits.h"
#include "storage/commit/request_tokens.h"
#include "storage/engine/engine.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

MATCHER(IsMismatch, "") {
  const absl::Status& status = arg;
  *result_listener << status.ToString();
  return absl::IsInvalidArgument(status) && ReasonOf(status) == kReasonIdempotentParameterMismatch;
}

class RequestTokens : public ::testing::Test {
 protected:
  RequestTokens() { database_.CreateTable(TableRequest("Things")); }

  absl::StatusOr<wire::WriteItemReply> Add(const std::string& amount, const std::string& token) {
    auto request =
        UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("counter")}}, "ADD n :n", {{":n", N(amount)}});
    request.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
    request.set_client_request_token(token);
    return Await<wire::WriteItemReply>([&](auto done) { database_->UpdateItem(request, std::move(done)); });
  }
  static wire::TransactWriteItemsRequest Transaction(const std::string& sk, const std::string& token) {
    wire::TransactWriteItemsRequest request;
    *request.add_transact_items()->mutable_put() =
        If(WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}}), "attribute_not_exists(pk)");
    request.set_client_request_token(token);
    return request;
  }
  absl::StatusOr<wire::TransactWriteItemsReply> Transact(const wire::TransactWriteItemsRequest& request) {
    return Await<wire::TransactWriteItemsReply>(
        [&](auto done) { database_->TransactWriteItems(request, std::move(done)); });
  }
  std::string Counter() {
    wire::GetItemRequest request;
    request.set_table_name("Things");
    request.set_key(Encode({{"pk", S("p")}, {"sk", S("counter")}}));
    auto reply = GetItem(database_, request);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.ok() && reply->has_item() ? Show(reply->item()) : "";
  }

  TestDatabase database_;
};

TEST_F(RequestTokens, ARepeatedWriteIsAnsweredAsBeforeAndAppliedOnce) {
  ASSERT_TRUE(Add("5", "token").ok());
  ASSERT_TRUE(Add("1", "").ok());
  auto again = Add("5", "token");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Show(again->result().attributes()), "n=5");
  EXPECT_EQ(again->change_sequence(), Changes(database_).back().change_sequence());
  EXPECT_EQ(Counter(), "n=6 pk=p sk=counter");
}

TEST_F(RequestTokens, SurviveARestart) {
  ASSERT_TRUE(Add("5", "token").ok());
  ASSERT_TRUE(Transact(Transaction("t", "transaction")).ok());
  database_.Reopen();
  ASSERT_TRUE(Add("5", "token").ok());
  auto again = Transact(Transaction("t", "transaction"));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->has_committed());
  EXPECT_EQ(Counter(), "n=5 pk=p sk=counter");
}

TEST_F(RequestTokens, OfAnotherRequestAreRefused) {
  ASSERT_TRUE(Add("5", "token").ok());
  EXPECT_THAT(Add("6", "token").status(), IsMismatch());
  EXPECT_THAT(Transact(Transaction("t", "token")).status(), IsMismatch());
  auto put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("counter")}});
  put.set_client_request_token("token");
  EXPECT_THAT(PutItem(database_, put).status(), IsMismatch());
  EXPECT_THAT(DeleteItem(database_, put).status(), IsMismatch());
  EXPECT_EQ(Counter(), "n=5 pk=p sk=counter");
}

// Clients keep attributes and placeholders in maps without a fixed order.
TEST_F(RequestTokens, DoNotDependOnTheOrderOfAttributes) {
  auto put = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}, {"a", N("1.0")}});
  put.set_client_request_token("token");
  ASSERT_TRUE(PutItem(database_, put).ok());
  put.set_key_or_item(Encode({{"a", N("1")}, {"sk", S("s")}, {"pk", S("p")}}));
  EXPECT_TRUE(PutItem(database_, put).ok());

  v1::AttributeValue map;
  for (const char* name : {"x", "y"}) {
    auto* entry = map.mutable_m()->add_attributes();
    entry->set_name(name);
    entry->mutable_value()->set_n("1.0");
  }
  auto update = UpdateRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}, "SET m = :m", {{":m", map}});
  update.set_client_request_token("map");
  auto send = [&] {
    return Await<wire::WriteItemReply>([&](auto done) { database_->UpdateItem(update, std::move(done)); })
        .status();
  };
  EXPECT_TRUE(send().ok());
  map.mutable_m()->mutable_attributes()->SwapElements(0, 1);
  map.mutable_m()->mutable_attributes(0)->mutable_value()->set_n("1");
  update.mutable_expression_attribute_values(0)->set_value(map.SerializeAsString());
  EXPECT_TRUE(send().ok()) << send();
}

TEST_F(RequestTokens, AreNotLeftByRequestsThatWereNotApplied) {
  auto put = If(WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}}), "attribute_exists(pk)");
  put.set_client_request_token("token");
  auto failed = PutItem(database_, put);
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_TRUE(failed->has_condition_failed());
  ASSERT_TRUE(PutItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}})).ok());
  auto applied = PutItem(database_, put);
  ASSERT_TRUE(applied.ok()) << applied.status();
  EXPECT_TRUE(applied->has_result());

  auto cancelled = Transact(Transaction("s", "transaction"));
  ASSERT_TRUE(cancelled.ok());
  EXPECT_TRUE(cancelled->has_cancelled());
  ASSERT_TRUE(DeleteItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}})).ok());
  auto committed = Transact(Transaction("s", "transaction"));
  ASSERT_TRUE(committed.ok());
  EXPECT_TRUE(committed->has_committed());
}

// A write that changes nothing is recorded too: when it is repeated, the item may be another.
TEST_F(RequestTokens, AreLeftByWritesThatChangeNothing) {
  auto remove = WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}});
  remove.set_client_request_token("token");
  ASSERT_TRUE(DeleteItem(database_, remove).ok());
  ASSERT_TRUE(PutItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("s")}})).ok());
  ASSERT_TRUE(DeleteItem(database_, remove).ok());
  EXPECT_EQ(ScanAll(database_, ScanRequest("Things")).size(), 1u);
}

TEST_F(RequestTokens, CoverWholeBatches) {
  wire::BatchWriteItemRequest batch;
  batch.set_client_request_token("token");
  auto* table = batch.add_request_items();
  table->set_table_name("Things");
  table->add_write_requests()->mutable_put_request()->set_item(Encode({{"pk", S("p")}, {"sk", S("b")}}));
  ASSERT_TRUE(BatchWrite(database_, batch).ok());
  ASSERT_TRUE(DeleteItem(database_, WriteRequest("Things", {{"pk", S("p")}, {"sk", S("b")}})).ok());
  ASSERT_TRUE(BatchWrite(database_, batch).ok());
  EXPECT_TRUE(ScanAll(database_, ScanRequest("Things")).empty());
}

TEST_F(RequestTokens, OfEqualRequestsUnderWayOneIsApplied) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        auto added = Add("1", "token" + std::to_string(i));
        ASSERT_TRUE(added.ok()) << added.status();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Counter(), "n=50 pk=p sk=counter");
}

TEST_F(RequestTokens, AreAtMost36CharactersLong) {
  EXPECT_TRUE(Add("1", std::string(36, 't')).ok());
  EXPECT_THAT(Add("1", std::string(37, 't')).status(), IsInvalid("ClientRequestToken must be 1 to 36"));
}

// Tests commit groups one by one, with a clock that the test sets.
class TokensInTime : public ::testing::Test {
 protected:
  TokensInTime() : database_(), state_(1) {
    database_.Close();
    auto engine = Engine::Open(database_.options());
    EXPECT_TRUE(engine.ok()) << engine.status();
    engine_ = *std::move(engine);
    state_.store = (*engine_->View())->store();
    state_.catalog = (*engine_->View())->shared_catalog();
  }
  void SetClock(int64_t now_us) {
    const auto clock = [now_us] { return now_us; };
    state_.time_of_day = std::make_shared<TimeOfDay>(TimeOfDay::Clocks{.wall_us = clock, .boot_us = clock});
  }
  // Commits a group at `minute` that records `tokens`; returns how many of them were recorded before.
  int Commit(int64_t minute, const std::vector<std::string>& tokens) {
    constexpr int64_t kStartUs = int64_t{1'700'000'000} * 1'000'000;
    SetClock(kStartUs + minute * 60'000'000);
    CommitGroup group(&state_);
    int known = 0;
    for (const std::string& token : tokens) {
      auto found = group.tokens().Find(token);
      EXPECT_TRUE(found.ok()) << found.status();
      if (found->has_value()) {
        ++known;
      } else {
        group.tokens().Save(token, std::string(16, 'f'), std::nullopt);
      }
    }
    EXPECT_TRUE(state_.store->db()->Write(rocksdb::WriteOptions(), &group.SealBatch()).ok());
    group.InstallState();
    return known;
  }
  // Number of keys in the column family, and the number of tokens in the size statistics.
  std::pair<int, int64_t> Stored() {
    int keys = 0;
    std::unique_ptr<rocksdb::Iterator> it(
        state_.store->db()->NewIterator(rocksdb::ReadOptions(), state_.store->requests()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
    return {keys, state_.size_statistics.Of(kRequestsStorageId).items};
  }

  TestDatabase database_;
  std::unique_ptr<Engine> engine_;
  ApplyState state_;
};

TEST_F(TokensInTime, AreForgottenAfterTenMinutes) {
  EXPECT_EQ(Commit(0, {"a", "b"}), 0);
  EXPECT_EQ(Commit(9, {"a", "b"}), 2);
  EXPECT_EQ(Commit(10, {"a"}), 0);
  EXPECT_EQ(Commit(19, {"a", "b"}), 1);
}

TEST_F(TokensInTime, LeaveNothingBehind) {
  for (int i = 0; i < 100; ++i) Commit(0, {"old" + std::to_string(i)});
  EXPECT_EQ(Stored(), std::make_pair(200, int64_t{100}));
  // "old1" is used again in the group that may expire its old record, and must stay.
  EXPECT_EQ(Commit(11, {"old1"}), 0);
  EXPECT_EQ(Commit(11, {"old1"}), 1);
  for (int i = 0; i < 60; ++i) Commit(11, {"new" + std::to_string(i)});
  EXPECT_EQ(Stored(), std::make_pair(2 * 61, int64_t{61}));
  EXPECT_EQ(Commit(12, {"old1", "new0", "new59"}), 3);
}

// One write with a clock that is a year ahead must not keep tokens for a year; a clock that goes back must
// not revive expired tokens.
TEST_F(TokensInTime, ExpireWhateverTheClockDoes) {
  constexpr int64_t kYear = 365 * 24 * 60;
  EXPECT_EQ(Commit(0, {"a"}), 0);
  EXPECT_EQ(Commit(kYear, {"a", "b"}), 0);
  EXPECT_EQ(Commit(1, {"a", "b"}), 0);
  EXPECT_EQ(Commit(2, {"a", "b"}), 2);
  EXPECT_EQ(Commit(11, {"a", "b", "c"}), 0);
  EXPECT_EQ(Stored(), std::make_pair(2 * 3, int64_t{3}));
}

// Tokens expire without new ones, by a task that the engine runs once a second.
TEST_F(TokensInTime, AreForgottenByThemselves) {
  for (int i = 0; i < 100; ++i) Commit(0, {"old" + std::to_string(i)});
  SetClock(state_.time_of_day->NowMicros() + int64_t{11} * 60'000'000);
  CommitGroup group(&state_);
  group.tokens().DeleteExpired(1'000);
  ASSERT_TRUE(state_.store->db()->Write(rocksdb::WriteOptions(), &group.SealBatch()).ok());
  group.InstallState();
  EXPECT_EQ(Stored(), std::make_pair(0, int64_t{0}));
  EXPECT_EQ(state_.size_statistics.Of(kRequestsStorageId).bytes, 0);
}

// The task may run twice in one group, and the group may use a token again that it has deleted.
TEST_F(TokensInTime, AreForgottenOnceInOneGroup) {
  std::vector<std::string> old;
  for (int i = 0; i < 10; ++i) old.push_back("old" + std::to_string(i));
  Commit(0, old);
  SetClock(state_.time_of_day->NowMicros() + int64_t{11} * 60'000'000);
  {
    CommitGroup group(&state_);
    group.tokens().DeleteExpired(4);
    group.tokens().DeleteExpired(4);
    for (const std::string& token : {old[0], old[9]}) {
      ASSERT_FALSE((*group.tokens().Find(token)).has_value());
      group.tokens().Save(token, std::string(16, 'f'), std::nullopt);
    }
    ASSERT_TRUE(state_.store->db()->Write(rocksdb::WriteOptions(), &group.SealBatch()).ok());
    group.InstallState();
  }
  EXPECT_EQ(Stored(), std::make_pair(2 * 2, int64_t{2}));
}

TEST_F(TokensInTime, AreBoundedInBytes) {
  state_.size_statistics.Install(0, {{kRequestsStorageId, {.bytes = kMaxRequestTokensBytes - 1}}}, {});
  CommitGroup group(&state_);
  EXPECT_TRUE(group.tokens().CheckRoom().ok());
  group.tokens().Save("a", std::string(16, 'f'), std::nullopt);
  EXPECT_TRUE(absl::IsResourceExhausted(group.tokens().CheckRoom()));
}

TEST_F(TokensInTime, AreBoundedInNumber) {
  state_.size_statistics.Install(0, {{kRequestsStorageId, {.items = kMaxRequestTokens - 1}}}, {});
  CommitGroup group(&state_);
  EXPECT_TRUE(group.tokens().CheckRoom().ok());
  group.tokens().Save("a", std::string(16, 'f'), std::nullopt);
  EXPECT_TRUE(absl::IsResourceExhausted(group.tokens().CheckRoom()));
}

}  // namespace
}  // namespace itemdb::testing
