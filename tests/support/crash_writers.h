// Threads that write, read and watch until itemd is stopped, and record all answers in a CrashModel. Answers
// that contradict the model are GoogleTest failures.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "itemdb/client.h"
#include "tests/support/crash_model.h"
#include "tests/support/kills.h"

namespace itemdb::e2e {

// Shared by the writers of one load and whoever stops the daemon.
struct Load {
  // Different for each load of one model.
  int number = 0;
  std::string endpoint = {};
  // Whether an error that came while the daemon ran is explained by what the test does to it. Called by all
  // writers at once. Null: no error is.
  std::function<bool(const absl::Status&)> tolerates = nullptr;
  // Adds what sees and checks more: a watch, expiring items, batches, conditions, reads.
  bool everything = false;
  // Set immediately before the daemon is stopped: the first error ends a writer. Before that every call must
  // be answered, or fail as `tolerates` says.
  std::atomic<bool> stopping = false;
  // Ends the writers after the calls that they are in.
  std::atomic<bool> finished = false;
  // Counts down with each acknowledged write.
  std::atomic<int> until_stop = 0;
  // Calls of all writers, reads too.
  std::atomic<uint64_t> calls = 0;
  // Errors that `tolerates` explained.
  std::atomic<uint64_t> refused = 0;
};

// One thread that calls until the daemon is stopped.
class Writer {
 public:
  Writer(Load& load, CrashModel& model, int number, uint64_t seed);
  virtual ~Writer() = default;

  void Run() {
    while (!gone_ && !load_.finished) Step();
  }

 protected:
  virtual void Step() = 0;

  // "2-put-7" for writer 2.
  std::string Name(const std::string& kind, int64_t i) const {
    return std::to_string(number_) + "-" + kind + "-" + std::to_string(i);
  }

  // What the result of a write says. Ends this writer when the daemon no longer answers.
  template <typename Result>
  Answer Classify(const absl::StatusOr<Result>& result) {
    if (!result.ok()) return ClassifyError(result.status());
    Acknowledge(result->change_sequence);
    return {.outcome = Outcome::kApplied, .change_sequence = result->change_sequence};
  }
  Answer ClassifyError(const absl::Status& status);
  // Whether a read was answered; otherwise as Classify.
  bool Answered(const absl::Status& status);

  Load& load_;
  CrashModel& model_;
  const int number_;
  Random random_;
  Client client_;
  bool gone_ = false;

 private:
  void Acknowledge(uint64_t change_sequence);
};

// All writers of one load.
class Writers {
 public:
  // Starts them. `load` and `model` must outlive this object.
  Writers(Load& load, CrashModel& model, Random& random);
  // Waits until all have ended. Stop the daemon first, or set `load.stopping`.
  ~Writers();

  // Waits until `load.until_stop` writes are acknowledged, but not longer than `patience`. False: they were
  // not.
  bool AwaitWrites(absl::Duration patience = absl::Seconds(60));

 private:
  void Watch(uint64_t after_sequence);

  Load& load_;
  CrashModel& model_;
  CancelToken stop_watching_;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::vector<std::thread> threads_;
};

// Sends the transactions whose outcome is unknown again, with their tokens. Each must be applied once then.
// Call after the comparisons, while nobody writes.
void RepeatInDoubt(Client& client, CrashModel& model);

// Records the orders of `order-entry load` in the model.
void RecordSampleOrders(CrashModel& model);

}  // namespace itemdb::e2e
