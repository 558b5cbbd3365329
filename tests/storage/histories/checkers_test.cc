// The checkers find errors: in hand-written histories, and in recorded ones into which a fault is planted.
#include "tests/storage/histories/checkers.h"

#include "gmock/gmock.h"
#include "tests/storage/histories/recorder.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Operation Put(int client, int64_t version, std::string answer, uint64_t sequence, uint64_t invoked,
              uint64_t returned) {
  Operation put{.kind = OperationKind::kPut, .steps = {{StepKind::kPut, 0}}, .client = client};
  put.steps[0].version = version;
  put.answer = std::move(answer);
  put.sequence = sequence;
  put.invoked = invoked;
  put.returned = returned;
  return put;
}

Operation Get(int client, std::string answer, uint64_t sequence, uint64_t invoked, uint64_t returned) {
  Operation get{.kind = OperationKind::kGet, .steps = {{StepKind::kCheck, 0}}, .client = client};
  get.answer = std::move(answer);
  get.sequence = sequence;
  get.invoked = invoked;
  get.returned = returned;
  return get;
}

TEST(Checkers, AcceptWhatOneOrderExplains) {
  // The reads overlap the second write: one sees the state before it, the other the state after it.
  History history{{Put(0, 7, "applied 0:-", 1, 1, 2), Put(0, 8, "applied 0:7/0", 2, 3, 8),
                   Get(1, "found 0:8/0", 2, 4, 7), Get(2, "found 0:7/0", 1, 5, 6)},
                  0};
  EXPECT_EQ(ReplayBySequence(history), "");
  EXPECT_EQ(CheckRealTimeOrder(history), "");
  EXPECT_EQ(CheckLinearizable(history), "");
}

TEST(Checkers, FindAReadThatGoesBackInTime) {
  // Client 1 has seen the second write when client 2 begins, and client 2 does not see it.
  History history{{Put(0, 7, "applied 0:-", 1, 1, 2), Put(0, 8, "applied 0:7/0", 2, 3, 8),
                   Get(1, "found 0:8/0", 2, 4, 5), Get(2, "found 0:7/0", 1, 6, 7)},
                  0};
  EXPECT_EQ(ReplayBySequence(history), "");
  EXPECT_THAT(CheckRealTimeOrder(history), StartsWith("this began\n  client 2"));
  EXPECT_THAT(CheckLinearizable(history), StartsWith("no order explains the answers"));
}

TEST(Checkers, FindALostUpdate) {
  History history{{Put(0, 7, "applied 0:-", 1, 1, 3), Put(1, 8, "applied 0:-", 2, 2, 4)}, 0};
  EXPECT_THAT(ReplayBySequence(history), HasSubstr("client 1: PutItem"));
  EXPECT_EQ(CheckRealTimeOrder(history), "");
  EXPECT_THAT(CheckLinearizable(history), StartsWith("no order explains the answers"));
}

TEST(Checkers, FindHalfATransaction) {
  Operation transaction{.kind = OperationKind::kTransactWrite,
                        .steps = {{StepKind::kPut, 0}, {StepKind::kPut, 1}},
                        .client = 0};
  transaction.steps[0].version = 7;
  transaction.steps[1].version = 8;
  transaction.answer = "applied";
  transaction.sequence = 2;
  transaction.invoked = 1;
  transaction.returned = 4;
  Operation read{.kind = OperationKind::kTransactGet,
                 .steps = {{StepKind::kCheck, 0}, {StepKind::kCheck, 1}},
                 .client = 1};
  read.answer = "found 0:7/0 1:-";
  read.sequence = 1;
  read.invoked = 2;
  read.returned = 3;
  History history{{transaction, read}, 0};
  EXPECT_THAT(ReplayBySequence(history), HasSubstr("nothing answered makes change 1"));
  EXPECT_THAT(CheckLinearizable(history), StartsWith("no order explains the answers"));
}

TEST(Checkers, FindASequenceThatSkipsAChange) {
  History history{{Put(0, 7, "applied 0:-", 2, 1, 2)}, 0};
  EXPECT_THAT(ReplayBySequence(history), HasSubstr("nothing answered makes change 2"));
  EXPECT_EQ(CheckLinearizable(history), "");
}

// ---- faults planted into the answers of a real database -------------------------------------------

class PlantedFaults : public ::testing::Test {
 protected:
  // Records histories, all of them correct, until one has what `fits(put, get)` requires: an applied put that
  // shows the replaced item, and a read of the same item by another client. The replaced item must exist: its
  // version cannot come back, while "missing" can, after a delete at the same time.
  template <typename Fits>
  void RecordPutAndGet(Fits fits) {
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      TestDatabase database;
      database.CreateTable(HotTableRequest());
      history_ = Record(*database, {8, 150, seed}, 1);
      ASSERT_EQ(ReplayBySequence(history_), "");
      ASSERT_EQ(CheckRealTimeOrder(history_), "");
      ASSERT_EQ(CheckLinearizable(history_), "");
      if (FindPutAndGet(fits)) return;
    }
    FAIL() << "no such pair in 50 histories";
  }

  template <typename Fits>
  bool FindPutAndGet(Fits fits) {
    for (Operation& put : history_.operations) {
      if (put.kind != OperationKind::kPut || put.quiet || !put.answer.starts_with("applied")) continue;
      if (put.answer.ends_with(":-")) continue;
      for (Operation& get : history_.operations) {
        if (get.kind != OperationKind::kGet || get.steps[0].item != put.steps[0].item) continue;
        if (get.client == put.client || !fits(put, get)) continue;
        put_ = &put;
        get_ = &get;
        return true;
      }
    }
    return false;
  }

  static std::string Replaced(const Operation& put) {
    return put.answer.substr(std::string("applied ").size());
  }

  static bool Sees(const Operation& get, const Operation& put) {
    return get.answer == "found " + Show(put.steps[0].item, HotItem{put.steps[0].version, 0});
  }

  History history_;
  Operation* put_ = nullptr;
  Operation* get_ = nullptr;
};

TEST_F(PlantedFaults, AStaleReadIsFound) {
  RecordPutAndGet([](const Operation& put, const Operation& get) {
    return put.returned < get.invoked && Sees(get, put);
  });
  ASSERT_NE(get_, nullptr);
  get_->answer = "found " + Replaced(*put_);
  // As from a wrong snapshot with the right sequence, and as from an old snapshot with its own sequence.
  EXPECT_THAT(ReplayBySequence(history_), HasSubstr(Describe(*get_)));
  get_->sequence = put_->sequence - 1;
  EXPECT_THAT(CheckRealTimeOrder(history_), StartsWith("this began\n"));
  EXPECT_THAT(CheckLinearizable(history_), StartsWith("no order explains the answers"));
}

TEST_F(PlantedFaults, AnEarlyAcknowledgementIsFound) {
  // A read during the put that does not see it yet; without the fault this is correct.
  RecordPutAndGet([](const Operation& put, const Operation& get) {
    return put.invoked < get.invoked && get.invoked < put.returned && get.answer == "found " + Replaced(put);
  });
  ASSERT_NE(put_, nullptr);
  // The put is answered before the read begins, but becomes visible after the read.
  for (Operation& operation : history_.operations) {
    operation.invoked *= 2;
    operation.returned *= 2;
  }
  put_->returned = get_->invoked - 1;
  EXPECT_EQ(ReplayBySequence(history_), "");
  EXPECT_THAT(CheckRealTimeOrder(history_), StartsWith("this began\n"));
  EXPECT_THAT(CheckLinearizable(history_), StartsWith("no order explains the answers"));
}

TEST_F(PlantedFaults, ALostWriteIsFound) {
  // Another client saw the write, so no order can leave it out.
  RecordPutAndGet([](const Operation& put, const Operation& get) { return Sees(get, put); });
  ASSERT_NE(put_, nullptr);
  put_->answer = "refused" + put_->answer.substr(std::string("applied").size());
  EXPECT_NE(ReplayBySequence(history_), "");
  EXPECT_THAT(CheckLinearizable(history_), StartsWith("no order explains the answers"));
}

}  // namespace
}  // namespace itemdb::testing
