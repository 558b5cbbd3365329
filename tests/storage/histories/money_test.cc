// Transactions move money: the sum is the same in every consistent read, also after kill -9.
//
// ITEMDB_KILL9_CYCLES sets the number of kills (10; 3 in sanitizer builds).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "gtest/gtest.h"
#include "tests/processes/child_process.h"
#include "tests/storage/histories/bank.h"
#include "tests/storage/values/test_seed.h"
#include "tests/support/paths.h"
#include "tests/support/repetitions.h"
#include "tests/support/statistics.h"
#include "tests/support/test_database.h"

namespace itemdb::testing {
namespace {

constexpr int kDefaultCycles = kHasSanitizer ? 3 : 10;
constexpr int kTransfersPerThread = kHasSanitizer ? 50 : 400;

int Cycles() {
  const char* given = std::getenv("ITEMDB_KILL9_CYCLES");
  return given == nullptr ? kDefaultCycles : std::max(1, std::atoi(given));
}

TEST(Money, TheSumIsTheSameInEveryConsistentRead) {
  TestDatabase database;
  ASSERT_TRUE(OpenBank(*database).ok());
  std::atomic<int> writers = 8;
  std::atomic<int> committed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937_64 random(TestSeed() + static_cast<uint64_t>(i));
      for (int transfer = 0; transfer < kTransfersPerThread; ++transfer) {
        auto reply = Transfer(*database, random);
        EXPECT_TRUE(reply.ok()) << reply.status();
        if (reply.ok() && reply->has_committed()) ++committed;
      }
      --writers;
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      do {
        EXPECT_EQ(CheckMoney(*database), "");
      } while (writers > 0 && !HasFailure());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(committed, 8 * kTransfersPerThread / 10);
  database.CheckIsClean();
  ExpectExactStatistics(*database);
}

// A bank_process and its output.
class BankProcess {
 public:
  explicit BankProcess(const std::string& directory) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    lines_ = daemon::Descriptor(ends[0]);
    daemon::Descriptor write_end(ends[1]);
    child_.emplace(testing::ProgramPath("bank_process"), std::vector<std::string>{directory},
                   e2e::ChildProcess::Streams{STDIN_FILENO, ends[1], STDERR_FILENO});
  }

  // Waits until `acks` transfers were answered, kills the process, and reads the rest of its output.
  void KillAfter(int acks) {
    while (acks_ < acks && Read()) {
    }
    child_->Signal(SIGKILL);
    EXPECT_EQ(child_->Wait(), 128 + SIGKILL) << text_;
    while (Read()) {
    }
  }

  uint64_t last_acknowledged() const { return last_acknowledged_; }

 private:
  // False at the end of the output, or after a line that is not an acknowledgement.
  bool Read() {
    char bytes[4096];
    pollfd ready{lines_.get(), POLLIN, 0};
    if (poll(&ready, 1, e2e::kPatienceMs) != 1) return false;
    ssize_t count = read(lines_.get(), bytes, sizeof(bytes));
    if (count <= 0) return false;
    text_.append(bytes, static_cast<size_t>(count));
    for (size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      std::string line = text_.substr(0, end);
      if (!line.starts_with("ack ")) {
        ADD_FAILURE() << line;
        return false;
      }
      text_.erase(0, end + 1);
      ++acks_;
      last_acknowledged_ =
          std::max<uint64_t>(last_acknowledged_, std::strtoull(line.c_str() + 4, nullptr, 10));
    }
    return true;
  }

  std::optional<e2e::ChildProcess> child_;
  daemon::Descriptor lines_;
  std::string text_;
  int acks_ = 0;
  uint64_t last_acknowledged_ = 0;
};

TEST(Money, TheSumSurvivesKillMinus9) {
  TemporaryDirectory directory;
  const uint64_t seed = TestSeed();
  SCOPED_TRACE("ITEMDB_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  uint64_t last_sequence = 0;
  for (int cycle = 0; cycle < Cycles() && !HasFailure(); ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    BankProcess process(directory.path() + "/data");
    process.KillAfter(static_cast<int>(Pick(random, 1, 200)));
    TestDatabase database(TestDatabase::DefaultOptions(directory.path() + "/data"));
    ASSERT_FALSE(HasFailure());
    EXPECT_EQ(CheckMoney(*database), "");
    uint64_t sequence = database->GetStatus().change_sequence();
    EXPECT_GE(sequence, process.last_acknowledged()) << "an answered transfer is gone";
    EXPECT_GT(process.last_acknowledged(), last_sequence);
    last_sequence = sequence;
    database.CheckIsClean();
    ExpectExactStatistics(*database);
  }
}

}  // namespace
}  // namespace itemdb::testing
