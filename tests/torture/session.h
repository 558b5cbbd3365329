// One round of the torture driver: a database of its own, the model of its content, and what faults may use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/processes/daemon_process.h"
#include "tests/support/crash_model.h"
#include "tests/support/crash_writers.h"
#include "tests/torture/disk_control.h"

namespace itemdb::torture {

inline void SleepUs(int64_t microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}
inline void SleepMs(int64_t milliseconds) { SleepUs(milliseconds * 1'000); }

// One load, and what happens to the daemon under it.
struct Episode {
  e2e::Load load;
  // The power was cut, and the daemon's durability is relaxed.
  bool may_lose_changes = false;
  // The length of the daemon's log when it had stopped.
  size_t log_bytes = 0;
  // The load has ended and the daemon has stopped.
  bool stopped = false;
  // Each runs once after the next start, with a client of the daemon.
  std::vector<std::function<void(Client&)>> after_start = {};
};

// Errors are GoogleTest failures. Not thread-safe.
class Session {
 public:
  // All files are in `directory`, an existing and empty directory. `more_arguments` are for itemd.
  Session(const std::string& directory, uint64_t seed, const std::vector<std::string>& more_arguments);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Starts the daemon, creates and fills the tables.
  void Begin();
  // Starts the daemon, which must serve. The disk has no faults then.
  void Start();
  // Prepares a start that a fault makes itself, by launching daemon() with arguments().
  void PrepareStart();
  // Compares the database with the model.
  void Compare(Episode& episode);
  // Waits until the daemon has deleted what has expired. Call at the end, without load.
  void AwaitExpiry();

  Client OpenClient() const;
  int64_t Pick(int64_t low, int64_t high) { return e2e::Pick(random_, low, high); }
  bool Chance(int percent) { return Pick(1, 100) <= percent; }
  // Counts something that was injected, for the report.
  void Count(const std::string& what, int64_t times = 1) { injected_[what] += times; }

  e2e::Random& random() { return random_; }
  const std::string& directory() const { return directory_; }
  e2e::DaemonProcess& daemon() { return *daemon_; }
  const std::vector<std::string>& arguments() const { return arguments_; }
  DiskControl& disk() { return *disk_; }
  e2e::CrashModel& model() { return model_; }
  bool relaxed() const { return relaxed_; }
  const std::map<std::string, int64_t>& injected() const { return injected_; }
  int64_t items_checked() const { return items_checked_; }

 private:
  const std::string directory_;
  e2e::Random random_;
  const bool relaxed_;
  std::vector<std::string> arguments_;
  DiskControl* disk_;  // A mapped file.
  std::unique_ptr<e2e::DaemonProcess> daemon_;
  e2e::CrashModel model_;
  std::map<std::string, int64_t> injected_;
  int64_t items_checked_ = 0;
};

// The part of an itemd log that explains a failed start.
std::string LastLines(const std::string& log, int lines);

}  // namespace itemdb::torture
