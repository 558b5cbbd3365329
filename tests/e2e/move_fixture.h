// Two daemons, a source and a target, writers of a table that go where they are sent, and `itemctl graduate`.
#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/process/descriptor.h"
#include "tests/e2e/e2e_fixture.h"
#include "tests/support/kills.h"

namespace itemdb::e2e {

inline constexpr char kMovedTable[] = "Counters";

// Threads that add 1 to counters of the table, each to its own. A write whose table has moved is sent to the
// endpoint that the writer is told. Counts what was acknowledged, and what may have been applied.
class CounterWriters {
 public:
  // `pause`: between two writes of a thread.
  CounterWriters(std::string source, std::string target, int threads, absl::Duration pause);
  ~CounterWriters() { Stop(); }

  void Stop();
  int64_t acknowledged() const { return acknowledged_; }
  // Writes that were refused with TABLE_MOVED and sent to the other side instead.
  int64_t sent_on() const { return sent_on_; }
  // Threads that write to the target at present.
  int at_target() const { return at_target_; }
  // Failures of any other kind but TABLE_MOVING, after the client's own attempts.
  int64_t failures() const { return failures_; }
  std::string last_failure() const;
  absl::Duration longest_write() const { return absl::Nanoseconds(longest_ns_.load()); }

  struct Bounds {
    int64_t acknowledged = 0;
    // Acknowledged or of unknown outcome.
    int64_t possible = 0;
  };
  // By key. After Stop.
  const std::map<std::string, Bounds>& counters() const { return counters_; }

 private:
  void Write(int number);

  const std::string source_;
  const std::string target_;
  const absl::Duration pause_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> acknowledged_{0};
  std::atomic<int64_t> sent_on_{0};
  std::atomic<int> at_target_{0};
  std::atomic<int64_t> failures_{0};
  std::atomic<int64_t> longest_ns_{0};
  mutable std::mutex mutex_;
  std::map<std::string, Bounds> counters_;  // Guarded by mutex_ until Stop.
  std::string last_failure_;                // Guarded by mutex_.
  std::vector<std::thread> threads_;
};

// A mover that runs while the test does something else.
class Mover {
 public:
  Mover(const std::vector<std::string>& arguments, const std::string& log,
        const std::string& program = "itemctl");

  ChildProcess& process() { return process_; }
  std::string log() const;
  bool Said(const std::string& text) const { return log().find(text) != std::string::npos; }

 private:
  const std::string log_;
  daemon::Descriptor nothing_;
  daemon::Descriptor out_;
  ChildProcess process_;
};

class MoveTest : public E2eTest {
 protected:
  void SetUp() override;

  // An empty daemon in `directory` below the test's, at a socket that it keeps when it is started again.
  std::unique_ptr<DaemonProcess> MakeDaemon(const std::string& directory);
  static Client ClientOf(const DaemonProcess& daemon);
  // A table with two indexes and `items` items.
  static void MakeTable(Client client, int items);
  // "itemctl --endpoint SOURCE graduate TARGET --state FILE ...".
  std::vector<std::string> GraduateArguments(const std::vector<std::string>& more) const;
  CommandResult Graduate(const std::vector<std::string>& more = {}) const;
  Json GraduateReport(const std::vector<std::string>& more = {}) const;

  // The items of the table, by key.
  static std::map<std::string, Item> ItemsOf(const Client& client, const std::string& table = kMovedTable);
  // Every counter has each acknowledged addition once, and none twice.
  static void ExpectCounters(const CounterWriters& writers, const Client& client);
  static void ExpectClean(const DaemonProcess& daemon);

  std::string state_file() const { return directory_.path() + "/move.json"; }

  std::unique_ptr<DaemonProcess> source_;
  std::unique_ptr<DaemonProcess> target_;
};

}  // namespace itemdb::e2e
