// A closed loop: each of several callers starts its next operation when the previous one is answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "bench/seconds.h"
#include "storage/base/mutex.h"
#include "storage/base/status.h"

namespace itemdb::bench {

using std::chrono::nanoseconds;

class Contender;

struct LoadOptions {
  int callers = 1;
  // Operations of the warm-up are not measured.
  nanoseconds warm_up{0};
  nanoseconds measured{0};
  // Number of requests that exist; the run ends early when they are used up.
  uint64_t operations = UINT64_MAX;
};

// The result of one run. p50 and p99 are of single operations; CPU times are per operation.
struct Measured {
  double operations_per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
  // CPU time of the serving process, including the callers if they are in the same process.
  double server_cpu_us = 0;
  // CPU time of the calling process; nothing if it is the serving process.
  std::optional<double> client_cpu_us;
  // Number of cores that all other processes kept busy during the run.
  double others_cores = 0;
  // All answered operations, including those of the warm-up.
  uint64_t answered = 0;
};

// One run: gives operations to callers and records the results. Thread-safe for different callers.
class Load {
 public:
  explicit Load(const LoadOptions& options);

  int callers() const { return options_.callers; }

  // The number of the next operation. Nothing: the run is over, and the caller must not use the load again.
  std::optional<uint64_t> Next();
  // Records an operation of `caller` (from 0) that began at `begin`. The first error ends the run.
  void Finish(int caller, Clock::time_point begin, const absl::Status& status);

 private:
  friend absl::StatusOr<Measured> RunLoad(Contender& contender, const LoadOptions& options);
  friend absl::StatusOr<uint64_t> RunAll(Contender& contender, int callers, uint64_t operations);
  enum class Phase { kWarmUp, kMeasured, kOver };
  struct alignas(64) Caller {
    // Latencies of the operations that were answered in phase kMeasured.
    std::vector<uint32_t> latencies_ns;
    uint64_t answered = 0;
  };

  // Waits until the time is over or every caller has ended.
  void WaitFor(nanoseconds time);
  // Ends the run, waits until every caller has ended, and returns the first error.
  absl::Status End(Contender& contender);
  uint64_t Answered() const;

  const LoadOptions options_;
  std::vector<Caller> accounts_;
  std::atomic<Phase> phase_ = Phase::kWarmUp;
  std::atomic<uint64_t> next_ = 0;

  storage::Mutex mutex_;
  storage::CondVar changed_;
  int running_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

// Measures `contender` under a load. Returns the error of the first failed operation.
absl::StatusOr<Measured> RunLoad(Contender& contender, const LoadOptions& options);

// Runs operations 0 to `operations` - 1 on `contender` without measuring, and returns how many were answered.
absl::StatusOr<uint64_t> RunAll(Contender& contender, int callers, uint64_t operations);

}  // namespace itemdb::bench
