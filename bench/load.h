// A closed loop: a number of callers, each of which starts its next operation when the one before is
// answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::bench {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

class Contender;

struct LoadOptions {
  int callers = 1;
  // Operations of the warm-up are not counted.
  nanoseconds warm_up{0};
  nanoseconds measured{0};
  // Operations there are requests for; the run ends early when they are used up.
  uint64_t operations = UINT64_MAX;
};

// What one run came to. Times are of single operations, CPU times are divided by the operations.
struct Measured {
  double operations_per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
  // Of the process that serves; of everything when caller and server are one process.
  double server_cpu_us = 0;
  // Of the calling process; nothing when that is the serving one.
  std::optional<double> client_cpu_us;
  // Cores that everybody else on the machine kept busy meanwhile.
  double others_cores = 0;
  // All operations answered, those of the warm-up too.
  uint64_t answered = 0;
};

// The account of one run that callers keep. Next and Finish are thread-safe for different callers.
class Load {
 public:
  explicit Load(const LoadOptions& options);

  int callers() const { return options_.callers; }

  // The number of the next operation. Nothing: the run is over, and this caller is counted as gone; it must
  // not touch the load again.
  std::optional<uint64_t> Next();
  // Accounts for an operation of `caller` (0 to callers() - 1) that began at `begin`. The first error ends
  // the run.
  void Finish(int caller, Clock::time_point begin, const absl::Status& status);

 private:
  friend absl::StatusOr<Measured> RunLoad(Contender& contender, const LoadOptions& options);
  friend absl::StatusOr<uint64_t> RunAll(Contender& contender, int callers, uint64_t operations);
  enum class Phase { kWarmUp, kMeasured, kOver };
  struct alignas(64) Caller {
    // Of the operations answered while measuring.
    std::vector<uint32_t> latencies_ns;
    uint64_t answered = 0;
  };

  // Waits until the time is up or every caller has gone.
  void WaitFor(nanoseconds time);
  // Lets no operation begin any more, waits until every caller has gone, and returns the first error.
  absl::Status End(Contender& contender);
  uint64_t Answered() const;

  const LoadOptions options_;
  std::vector<Caller> accounts_;
  std::atomic<Phase> phase_ = Phase::kWarmUp;
  std::atomic<uint64_t> next_ = 0;

  Mutex mutex_;
  CondVar changed_;
  int running_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

// Runs `contender` under a load and measures it. The first failed operation is the error.
absl::StatusOr<Measured> RunLoad(Contender& contender, const LoadOptions& options);

// Has `contender` do operations 0 to `operations` - 1, unmeasured, and returns how many were answered.
absl::StatusOr<uint64_t> RunAll(Contender& contender, int callers, uint64_t operations);

}  // namespace itemdb::bench
