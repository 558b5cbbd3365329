// A line on a terminal that says how far a long piece of work is.
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

// What a progress line says; as above.
struct ProgressFigures {
  std::string doing;
  // What is counted; empty when only the time is shown.
  std::string unit = "";
  int64_t done = 0;
  // 0 when it is not known.
  int64_t total = 0;
  absl::Duration elapsed = absl::ZeroDuration();
};
std::string ProgressLine(const ProgressFigures& figures);

// "1,234,567".
std::string WithSeparators(int64_t number);

// Where progress may be shown: stderr when it is a terminal, else null.
std::ostream* ProgressStream(Context& context);

// Shows the line once the work has taken a second, draws it anew five times a second, and takes it away at
// the end. Nobody else may write to the terminal meanwhile.
class Progress {
 public:
  struct Options {
    std::string doing;
    std::string unit = "";
    int64_t total = 0;
  };

  // Without a terminal (null) it does nothing. `terminal` is borrowed.
  Progress(std::ostream* terminal, Options options);
  ~Progress() { Finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Thread-safe.
  void Set(int64_t done) { done_.store(done, std::memory_order_relaxed); }
  void Add(int64_t more) { done_.fetch_add(more, std::memory_order_relaxed); }
  void SetTotal(int64_t total) { total_.store(total, std::memory_order_relaxed); }

  // Takes the line away. May be called again.
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
