// Many callers at once: the replies of all callers and the final state must fit one order of commits.
//
// No test here sleeps; every loop ends after a number of operations or when another thread ends it. Run these
// tests under ThreadSanitizer too (preset tsan).

#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "itemdb/v1/data.pb.h"
#include "storage/base/mutex.h"
#include "tests/storage/database/requests.h"

namespace itemdb::testing {
namespace {

using ::testing::AnyOf;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Runs `work(i)` on `count` threads and waits for all of them.
template <typename Work>
void OnThreads(int count, Work work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (std::thread& thread : threads) thread.join();
}

const v1::AttributeValue& Find(const v1::Item& item, const std::string& name) {
  for (const auto& attribute : item.attributes()) {
    if (attribute.name() == name) return attribute.value();
  }
  return v1::AttributeValue::default_instance();
}

std::vector<v1::Item> ItemsOf(const Page& page) {
  v1::QueryReply reply;
  EXPECT_TRUE(reply.ParseFromString(page.encoded_items));
  return {reply.items().begin(), reply.items().end()};
}

DatabaseOptions Options(const TemporaryDirectory& directory, bool durable) {
  DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
  options.durable = durable;
  return options;
}

class Concurrency : public ::testing::TestWithParam<bool> {
 protected:
  Concurrency() : database_(Options(directory_, /*durable=*/GetParam())) {}

  TemporaryDirectory directory_;
  TestDatabase database_;
};

INSTANTIATE_TEST_SUITE_P(Durability, Concurrency, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Durable" : "Relaxed"; });

// Callers of one commit group must see one another's writes; otherwise nearly all increments are lost.
TEST_P(Concurrency, EveryIncrementOfAHotItemCounts) {
  constexpr int kCallers = 64;
  constexpr int kIncrements = 10'000;
  auto table = TableRequest("Counters", /*sorted=*/false);
  AddIndex(&table, "Values", {"grp:S", "n:N"}, 1, v1::PROJECTION_TYPE_KEYS_ONLY);
  database_.CreateTable(table);
  ASSERT_TRUE(database_.Put("Counters", {{"pk", S("hot")}, {"n", N("0")}, {"grp", S("g")}}).ok());
  std::atomic<int> left = kIncrements;
  Mutex mutex;
  std::set<std::string> seen;
  OnThreads(kCallers, [&](int) {
    auto increment = UpdateRequest("Counters", {{"pk", S("hot")}}, "SET n = n + :one", {{":one", N("1")}});
    increment.set_return_values(v1::RETURN_VALUES_UPDATED_NEW);
    std::vector<std::string> answers;
    while (left.fetch_sub(1) > 0) {
      auto reply = database_.Update(increment);
      ASSERT_TRUE(reply.ok()) << reply.status();
      answers.push_back(reply->result().attributes());
    }
    MutexLock lock(mutex);
    seen.insert(answers.begin(), answers.end());
  });
  EXPECT_EQ(database_.Get("Counters", {{"pk", S("hot")}}), "grp=g n=10000 pk=hot");
  EXPECT_THAT(seen, SizeIs(kIncrements));  // Each value was returned once.
  auto query = QueryRequest("Counters", "grp = :g", {{":g", S("g")}});
  query.set_index_name("Values");
  EXPECT_THAT(QueryAll(database_, query), ::testing::ElementsAre("grp=g n=10000 pk=hot"));
  EXPECT_EQ(database_->GetStatus().change_sequence(), 2u + kIncrements);
  database_.CheckIsClean();
}

// Every page of the table or the index is read from one committed state, so it never shows half a transfer.
TEST_P(Concurrency, TransfersKeepTheSumInEveryPage) {
  constexpr int kAccounts = 12;
  constexpr int kTransfersPerThread = 150;
  auto table = TableRequest("Accounts");
  AddIndex(&table, "Balances", {"bank:S", "balance:N"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(table);
  for (int i = 0; i < kAccounts; ++i) {
    ASSERT_TRUE(
        database_
            .Put("Accounts",
                 {{"pk", S("bank")}, {"sk", S(std::to_string(i))}, {"bank", S("b")}, {"balance", N("100")}})
            .ok());
  }
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::thread observers([&] {
    OnThreads(2, [&](int which) {
      auto query = which == 0 ? QueryRequest("Accounts", "pk = :v", {{":v", S("bank")}})
                              : QueryRequest("Accounts", "bank = :v", {{":v", S("b")}});
      if (which == 1) query.set_index_name("Balances");
      uint64_t last_sequence = 0;
      do {
        auto page = database_.Query(query);
        ASSERT_TRUE(page.ok()) << page.status();
        EXPECT_GE(page->reply.change_sequence(), last_sequence);
        last_sequence = page->reply.change_sequence();
        int sum = 0;
        std::set<std::string> accounts;
        for (const v1::Item& item : ItemsOf(*page)) {
          sum += std::stoi(Find(item, "balance").n());
          accounts.insert(Find(item, "sk").s());
        }
        EXPECT_THAT(accounts, SizeIs(kAccounts));
        EXPECT_EQ(sum, kAccounts * 100) << "at change " << last_sequence;
      } while (!stop);
    });
  });
  OnThreads(6, [&](int which) {
    std::mt19937_64 random(static_cast<uint64_t>(which));
    for (int i = 0; i < kTransfersPerThread; ++i) {
      auto from = random() % kAccounts;
      auto to = (from + 1 + random() % (kAccounts - 1)) % kAccounts;
      v1::AttributeValue amount = N(std::to_string(1 + random() % 60));
      auto change = [&](uint64_t account, const char* expression) {
        return UpdateRequest("Accounts", {{"pk", S("bank")}, {"sk", S(std::to_string(account))}}, expression,
                             {{":v", amount}});
      };
      wire::TransactWriteItemsRequest transfer;
      *transfer.add_transact_items()->mutable_update() =
          If(change(from, "SET balance = balance - :v"), "balance >= :v");
      *transfer.add_transact_items()->mutable_update() = change(to, "SET balance = balance + :v");
      auto reply = database_.Transact(transfer);
      ASSERT_TRUE(reply.ok()) << reply.status();
      if (reply->has_committed()) ++committed;
    }
  });
  stop = true;
  observers.join();
  EXPECT_EQ(database_->GetStatus().change_sequence(),
            1u + kAccounts + 2u * static_cast<unsigned>(committed.load()));
  for (const v1::Item& item : ItemsOf(*database_.Scan(ScanRequest("Accounts"))))
    EXPECT_GE(std::stoi(Find(item, "balance").n()), 0);
  database_.CheckIsClean();
}

TEST_P(Concurrency, ExactlyOneConditionalCreateWins) {
  constexpr int kThreads = 8;
  constexpr int kKeys = 60;
  database_.CreateTable(TableRequest("Things", /*sorted=*/false));
  std::atomic<int> winners[kKeys] = {};
  std::atomic<int> winner_of[kKeys] = {};
  OnThreads(kThreads, [&](int thread) {
    for (int key = 0; key < kKeys; ++key) {
      auto put =
          If(WriteRequest("Things", {{"pk", S(std::to_string(key))}, {"by", N(std::to_string(thread))}}),
             "attribute_not_exists(pk)");
      auto reply = PutItem(database_, put);
      ASSERT_TRUE(reply.ok()) << reply.status();
      if (reply->has_result()) {
        ++winners[key];
        winner_of[key] = thread;
      } else {
        EXPECT_TRUE(reply->condition_failed().has_item());
      }
    }
  });
  for (int key = 0; key < kKeys; ++key) {
    EXPECT_EQ(winners[key], 1);
    EXPECT_EQ(database_.Get("Things", {{"pk", S(std::to_string(key))}}),
              "by=" + std::to_string(winner_of[key]) + " pk=" + std::to_string(key));
  }
  EXPECT_EQ(database_->GetStatus().change_sequence(), 1u + kKeys);
}

// Also within one commit group: a create sees the delete before it, and a delete sees the create.
TEST_P(Concurrency, CreatesAndDeletesOfOneItemTakeTurns) {
  constexpr int kThreads = 16;
  constexpr int kTries = 100;
  database_.CreateTable(TableRequest("Things", /*sorted=*/false));
  std::atomic<int> created = 0;
  std::atomic<int> deleted = 0;
  OnThreads(kThreads, [&](int thread) {
    auto create = If(WriteRequest("Things", {{"pk", S("p")}}), "attribute_not_exists(pk)");
    auto remove = If(WriteRequest("Things", {{"pk", S("p")}}), "attribute_exists(pk)");
    for (int i = 0; i < kTries; ++i) {
      bool creates = (i + thread) % 2 == 0;
      auto reply = creates ? PutItem(database_, create) : DeleteItem(database_, remove);
      ASSERT_TRUE(reply.ok()) << reply.status();
      if (reply->has_result()) ++(creates ? created : deleted);
    }
  });
  bool exists = !database_.Get("Things", {{"pk", S("p")}}).empty();
  EXPECT_EQ(created - deleted, exists ? 1 : 0);
  EXPECT_EQ(Describe(database_, "Things").item_count(), exists ? 1 : 0);
  database_.Reopen();  // In relaxed mode this makes all records durable.
  auto changes = Changes(database_);
  EXPECT_THAT(changes, SizeIs(1 + created + deleted));
  for (size_t i = 1; i < changes.size(); ++i) {
    EXPECT_EQ(changes[i].kind(), i % 2 == 1 ? v1::CHANGE_KIND_INSERT : v1::CHANGE_KIND_REMOVE);
  }
}

// Follows the change log during writes: no gap, no partial commit, and each record continues from the state
// after the records before it. At the end the log equals the table.
TEST_P(Concurrency, TheChangeLogIsTheOrderOfCommits) {
  constexpr int kWriters = 6;
  constexpr int kWritesPerThread = 200;
  auto table = TableRequest("Things");
  table.set_stream_view_type(v1::STREAM_VIEW_TYPE_NEW_AND_OLD_IMAGES);
  AddIndex(&table, "Ranks", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(table);

  std::map<std::string, std::string> replayed;
  uint64_t sequence = 1;
  auto replay = [&](const v1::ChangeRecord& record) {
    ASSERT_EQ(record.change_sequence(), ++sequence);
    EXPECT_LE(record.commit_first_sequence(), sequence);
    EXPECT_GE(record.commit_last_sequence(), sequence);
    auto found = replayed.find(record.key().SerializeAsString());
    EXPECT_EQ(record.has_old_image(), found != replayed.end());
    EXPECT_EQ(record.old_image().SerializeAsString(), found == replayed.end() ? "" : found->second);
    EXPECT_NE(record.old_image().SerializeAsString(), record.new_image().SerializeAsString());
    if (record.has_new_image()) {
      replayed[record.key().SerializeAsString()] = record.new_image().SerializeAsString();
    } else {
      replayed.erase(record.key().SerializeAsString());
    }
  };
  std::atomic<bool> stop = false;
  auto follow = [&] {
    for (bool more = true; more && !HasFatalFailure();) {
      more = !stop;
      auto reply = database_.ReadChanges(sequence);
      ASSERT_TRUE(reply.ok()) << reply.status();
      for (const auto& record : reply->records()) replay(record);
      if (!reply->records().empty()) {
        more = true;
        EXPECT_EQ(reply->records().rbegin()->commit_last_sequence(), sequence);
        EXPECT_LE(sequence, reply->change_sequence());
      }
    }
  };
  std::thread follower(follow);
  OnThreads(kWriters, [&](int which) {
    std::mt19937_64 random(static_cast<uint64_t>(which));
    auto key = [&] { return std::to_string(random() % 8); };
    for (int i = 0; i < kWritesPerThread; ++i) {
      v1::AttributeValue value = N(std::to_string(random() % 5));
      absl::Status status;
      uint64_t answered = 0;
      auto note = [&](const auto& reply) {
        status = reply.status();
        if (reply.ok()) answered = reply->change_sequence();
      };
      std::string sk = key();
      switch (random() % 5) {
        case 0:
          note(database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"rate", value}}));
          break;
        case 1:
          note(database_.Update(
              UpdateRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}}, "ADD rate :v", {{":v", value}})));
          break;
        case 2:
          note(database_.Delete("Things", {{"pk", S("p")}, {"sk", S(sk)}}));
          break;
        case 3: {
          wire::TransactWriteItemsRequest transaction;
          *transaction.add_transact_items()->mutable_put() =
              WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"rate", value}});
          *transaction.add_transact_items()->mutable_delete_() =
              WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk + "x")}});
          *transaction.add_transact_items()->mutable_put() =
              WriteRequest("Things", {{"pk", S("q")}, {"sk", S(sk)}, {"rate", value}});
          note(database_.Transact(transaction));
          break;
        }
        default: {
          wire::BatchWriteItemRequest batch;
          auto* writes = batch.add_request_items();
          writes->set_table_name("Things");
          writes->add_write_requests()->mutable_put_request()->set_item(
              Encode({{"pk", S("p")}, {"sk", S(sk + "x")}, {"rate", value}}));
          writes->add_write_requests()->mutable_delete_request()->set_key(
              Encode({{"pk", S("q")}, {"sk", S(sk)}}));
          note(BatchWrite(database_, batch));
        }
      }
      ASSERT_TRUE(status.ok()) << status;
      // A later read must see a write that was answered.
      wire::GetItemRequest get;
      get.set_table_name("Things");
      get.set_key(Encode({{"pk", S("p")}, {"sk", S(sk)}}));
      auto read = GetItem(database_, get);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_GE(read->change_sequence(), answered);
    }
  });
  stop = true;
  follower.join();
  database_.Reopen();  // In relaxed mode this makes the rest durable.
  follow();
  EXPECT_EQ(sequence, database_->GetStatus().change_sequence());
  std::map<std::string, std::string> items;
  for (const v1::Item& item : ItemsOf(*database_.Scan(ScanRequest("Things")))) {
    v1::Item key;
    for (const auto& attribute : item.attributes()) {
      if (attribute.name() != "rate") *key.add_attributes() = attribute;
    }
    items[key.SerializeAsString()] = item.SerializeAsString();
  }
  EXPECT_EQ(items, replayed);
  EXPECT_FALSE(items.empty());
  database_.CheckIsClean();
}

// One caller alternately writes to two items. A reader must never see the second write without the first, and
// no value may go back.
TEST_P(Concurrency, NoReaderSeesAChangeBeforeTheOneBefore) {
  constexpr int kRounds = 300;
  database_.CreateTable(TableRequest("Things"));
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("first")}, {"n", N("0")}}).ok());
  ASSERT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S("second")}, {"n", N("0")}}).ok());
  std::atomic<bool> stop = false;
  std::thread readers([&] {
    OnThreads(3, [&](int) {
      int last_first = 0;
      int last_second = 0;
      uint64_t last_sequence = 0;
      while (!stop) {
        auto page = database_.Query(QueryRequest("Things", "pk = :p", {{":p", S("p")}}));
        ASSERT_TRUE(page.ok()) << page.status();
        auto items = ItemsOf(*page);
        ASSERT_THAT(items, SizeIs(2));
        int first = std::stoi(Find(items[0], "n").n());
        int second = std::stoi(Find(items[1], "n").n());
        EXPECT_THAT(first - second, AnyOf(0, 1));
        EXPECT_GE(first, last_first);
        EXPECT_GE(second, last_second);
        EXPECT_GE(page->reply.change_sequence(), last_sequence);
        // Both numbers follow from the sequence: 3 changes come first, then first and second alternate.
        EXPECT_EQ(page->reply.change_sequence(), 3u + static_cast<unsigned>(first + second));
        last_first = first;
        last_second = second;
        last_sequence = page->reply.change_sequence();
      }
    });
  });
  for (int i = 1; i <= kRounds; ++i) {
    for (const char* sk : {"first", "second"}) {
      EXPECT_TRUE(database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"n", N(std::to_string(i))}}).ok());
    }
  }
  stop = true;
  readers.join();
}

TEST_P(Concurrency, ATableMayBeDeletedUnderItsUsers) {
  constexpr int kGenerations = 6;
  auto table = TableRequest("Things");
  AddIndex(&table, "Ranks", {"rate:N"}, 1, v1::PROJECTION_TYPE_ALL);
  database_.CreateTable(TableRequest("Others", /*sorted=*/false));
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  auto allowed = [](const absl::Status& status) { return status.ok() || absl::IsNotFound(status); };
  std::thread users([&] {
    OnThreads(6, [&](int which) {
      for (int i = 0; !stop; ++i) {
        v1::AttributeValue value = N(std::to_string(i % 10));
        std::string sk = std::to_string(which) + "/" + std::to_string(i % 50);
        if (which < 2) {
          auto reply = database_.Put("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"rate", value}});
          EXPECT_TRUE(allowed(reply.status())) << reply.status();
          if (reply.ok()) ++written;
        } else if (which < 4) {
          // The transaction must write to both tables or to none.
          wire::TransactWriteItemsRequest transaction;
          *transaction.add_transact_items()->mutable_put() =
              WriteRequest("Things", {{"pk", S("p")}, {"sk", S(sk)}, {"rate", value}});
          *transaction.add_transact_items()->mutable_update() =
              UpdateRequest("Others", {{"pk", S("count")}}, "ADD n :one", {{":one", N("1")}});
          auto reply = database_.Transact(transaction);
          EXPECT_TRUE(allowed(reply.status())) << reply.status();
          EXPECT_EQ(reply.ok(), reply.ok() && reply->has_committed());
        } else if (which == 4) {
          auto query = QueryRequest("Things", "rate = :v", {{":v", value}});
          query.set_index_name("Ranks");
          auto page = database_.Query(query);
          EXPECT_TRUE(allowed(page.status())) << page.status();
        } else {
          auto page = database_.Scan(ScanRequest("Things"));
          EXPECT_TRUE(allowed(page.status())) << page.status();
        }
      }
    });
  });
  for (int generation = 0; generation < kGenerations; ++generation) {
    database_.CreateTable(table);
    int enough = written + 50;
    while (written < enough && !HasFailure()) std::this_thread::yield();
    EXPECT_GE(Describe(database_, "Things").item_count(), 1);
    if (generation == kGenerations - 1) break;
    auto deleted = DeleteTable(database_, "Things");
    EXPECT_TRUE(deleted.ok()) << deleted.status();
    EXPECT_THAT(database_.Scan(ScanRequest("Things")).status(), IsTableNotFound());
  }
  stop = true;
  users.join();
  auto items = ScanAll(database_, ScanRequest("Things"));
  EXPECT_EQ(Describe(database_, "Things").item_count(), static_cast<int64_t>(items.size()));
  database_.Reopen();
  EXPECT_EQ(ScanAll(database_, ScanRequest("Things")), items);
  database_.CheckIsClean();
}

}  // namespace
}  // namespace itemdb::testing
