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
#include <utility>

#include "absl/time/time.h"
#include "tools/base/number_text.h"
#include "tools/base/terminal_size.h"
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
// At most `columns` wide; 0: no bound. What does not fit is left out: the bar, then the time, then the rate;
// at last the text is cut.
std::string ProgressLine(const ProgressFigures& figures, size_t columns = 0);

// Where progress lines are shown. Borrowed.
struct ProgressTerminal {
  ProgressTerminal(std::ostream* shown) : stream(shown) {}  // NOLINT: implicit on purpose
  ProgressTerminal(std::ostream* shown, AskTerminalSize ask) : stream(shown), size(std::move(ask)) {}

  // Null: nothing is shown.
  std::ostream* stream = nullptr;
  AskTerminalSize size = nullptr;
};

// stderr if it is a terminal, else nothing.
ProgressTerminal ProgressStream(Context& context);

// Shows the line when the work has taken a second, redraws it five times a second, and erases it at the end.
// No other code may write to the terminal meanwhile.
class Progress {
 public:
  struct Options {
    std::string doing;
    std::string unit = "";
    int64_t total = 0;
  };

  Progress(ProgressTerminal terminal, Options options);
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

  const ProgressTerminal terminal_;
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
