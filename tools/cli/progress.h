// A line on a terminal that shows the progress of long work.
//
//   generating orders  [=========>          ]  47%  94,000 of 200,000 items  31,200/s  3 s left
//   reading Order  94,000 items  31,200/s  3 s
//   checking the database  12 s
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

#include "absl/time/time.h"
#include "tools/cli/context.h"

namespace itemdb::tools {

// The content of a progress line, as in the examples above.
struct ProgressFigures {
  std::string doing;
  // The unit of `done` and `total`, such as "items"; empty: only the time is shown.
  std::string unit = "";
  int64_t done = 0;
  // 0: not known.
  int64_t total = 0;
  absl::Duration elapsed = absl::ZeroDuration();
};
std::string ProgressLine(const ProgressFigures& figures);

// "1,234,567".
std::string WithSeparators(int64_t number);

// The stream for progress lines: stderr if it is a terminal, else null.
std::ostream* ProgressStream(Context& context);

// Shows the line when the work has taken a second, redraws it five times a second, and erases it at the end.
// No other code may write to the terminal meanwhile.
class Progress {
 public:
  struct Options {
    std::string doing;
    std::string unit = "";
    int64_t total = 0;
  };

  // If `terminal` is null, nothing is shown. `terminal` is borrowed.
  Progress(std::ostream* terminal, Options options);
  ~Progress() { Finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Thread-safe.
  void Set(int64_t done) { done_.store(done, std::memory_order_relaxed); }
  void Add(int64_t more) { done_.fetch_add(more, std::memory_order_relaxed); }
  void SetTotal(int64_t total) { total_.store(total, std::memory_order_relaxed); }

  // Erases the line. May be called again.
  void Finish();

 private:
  void Draw();

  std::ostream* const terminal_;
  const Options options_;
  const absl::Time start_;
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> total_;
  std::mutex mu_;
  std::condition_variable finished_changed_;
  bool finished_ = false;  // Guarded by mu_.
  std::thread drawer_;
};

}  // namespace itemdb::tools
