// A process that tests kill. It moves money in the database of the given directory and continually checks the
// sum. It writes a line "ack SEQUENCE" for every answered transfer, and ends by itself only after an error,
// with the line "wrong WHAT".
#include <unistd.h>

#include <thread>
#include <vector>

#include "tests/storage/histories/bank.h"
#include "tests/support/test_database.h"

namespace {

constexpr int kWriters = 6;
constexpr int kObservers = 2;

// One write call: the lines of several threads do not mix, and no line is in a buffer when it is killed.
void Say(const std::string& line) {
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) _exit(4);
}

[[noreturn]] void Fail(const std::string& what) {
  Say("wrong " + what + "\n");
  _exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace itemdb::testing;
  if (argc != 2) return 2;
  auto options = TestDatabase::DefaultOptions(argv[1]);
  options.memtable_bytes = 1 << 20;
  auto database = Database::Open(options);
  if (!database.ok()) Fail(database.status().ToString());
  Database& bank = **database;
  if (bank.GetStatus().change_sequence() == 0) {
    if (absl::Status opened = OpenBank(bank); !opened.ok()) Fail(opened.ToString());
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < kWriters; ++i) {
    threads.emplace_back([&bank] {
      std::mt19937_64 random(std::random_device{}());
      while (true) {
        auto reply = Transfer(bank, random);
        if (!reply.ok()) Fail(reply.status().ToString());
        if (reply->has_committed()) Say("ack " + std::to_string(reply->change_sequence()) + "\n");
      }
    });
  }
  for (int i = 0; i < kObservers; ++i) {
    threads.emplace_back([&bank] {
      while (true) {
        if (std::string wrong = CheckMoney(bank); !wrong.empty()) Fail(wrong);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
