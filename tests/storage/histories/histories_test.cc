// The answers to many clients fit one order of operations that respects real time: invariants OneOrder and
// OneView.
//
//   ITEMDB_HISTORY_OPERATIONS=n   operations of the long history (200,000; 16,000 in sanitizer builds)
//   ITEMDB_TEST_SEED=n            repeats the choices of a run, though not how the threads interleave
#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/storage/histories/checkers.h"
#include "tests/storage/histories/recorder.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/repetitions.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr int kDefaultOperations = kHasSanitizer ? 16'000 : 200'000;
constexpr int kShortHistories = kHasSanitizer ? 1 : 4;
constexpr int kClients = 16;
// The search slows down with the number of overlapping operations.
constexpr int kShortClients = 8;
constexpr int kShortOperations = 5'000;

int LongOperations() {
  const char* given = std::getenv("ITEMDB_HISTORY_OPERATIONS");
  return given == nullptr ? kDefaultOperations : std::max(kClients, std::atoi(given));
}

// A history of a new database.
class Histories : public ::testing::TestWithParam<bool> {
 protected:
  History RecordNew(int clients, int operations, uint64_t seed) {
    TemporaryDirectory directory;
    DatabaseOptions options = TestDatabase::DefaultOptions(directory.path() + "/data");
    options.durable = GetParam();
    TestDatabase database(options);
    database.CreateTable(HotTableRequest());
    History history = Record(*database, {clients, operations / clients, seed}, 1);
    database.CheckIsClean();
    return history;
  }
};

INSTANTIATE_TEST_SUITE_P(Durability, Histories, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Durable" : "Relaxed"; });

TEST_P(Histories, EveryAnswerIsTheModelsInTheOrderOfChangeSequences) {
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  // Relaxed mode differs in durability, not in order, so a shorter history is enough.
  History history = RecordNew(kClients, GetParam() ? LongOperations() : LongOperations() / 4, seed);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(ReplayBySequence(history), "");
  EXPECT_EQ(CheckRealTimeOrder(history), "");
  // Many operations of every kind overlapped.
  std::map<OperationKind, int> kinds;
  std::map<std::string, int> outcomes;
  int64_t overlaps = 0;
  for (const Operation& operation : history.operations) {
    ++kinds[operation.kind];
    ++outcomes[operation.answer.substr(0, operation.answer.find(' '))];
    overlaps += operation.returned - operation.invoked > 1;
  }
  for (int kind = 0; kind < kOperationKinds; ++kind) EXPECT_GT(kinds[static_cast<OperationKind>(kind)], 0);
  for (const char* outcome : {"applied", "refused", "cancelled", "found"}) EXPECT_GT(outcomes[outcome], 0);
  EXPECT_GT(overlaps, 0);
  std::printf("%zu operations, %lld overlapped, last change %llu\n", history.operations.size(),
              static_cast<long long>(overlaps),
              static_cast<unsigned long long>(history.operations.back().sequence));
}

TEST_P(Histories, SomeOrderExplainsAllAnswersWhateverTheSequencesSay) {
  uint64_t seed = TestSeed();
  for (int i = 0; i < kShortHistories; ++i, ++seed) {
    SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
    History history = RecordNew(kShortClients, kShortOperations, seed);
    ASSERT_FALSE(HasFailure());
    for (Operation& operation : history.operations) operation.sequence = 0;
    EXPECT_EQ(CheckLinearizable(history), "");
  }
}

}  // namespace
}  // namespace itemdb::testing
