#include "tools/cli/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "tools/base/text_width.h"

namespace itemdb::tools {
namespace {

constexpr std::chrono::milliseconds kFirstDraw(1'000);
constexpr std::chrono::milliseconds kRedraw(200);
constexpr int kBarLetters = 20;

// Moves to the start of the line and clears it.
constexpr char kClearLine[] = "\r\x1b[K";

// "3 s", "2 min 5 s", "1 h 4 min".
std::string DurationText(double seconds) {
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return absl::StrFormat("%d s", whole);
  if (whole < 3'600) return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
  return absl::StrFormat("%d h %d min", whole / 3'600, whole % 3'600 / 60);
}

std::string Bar(double part) {
  const int filled = static_cast<int>(part * kBarLetters);
  std::string bar(filled, '=');
  if (filled < kBarLetters) bar += '>';
  bar.resize(kBarLetters, ' ');
  return "[" + bar + "]";
}

}  // namespace

std::string ProgressLine(const ProgressFigures& figures, size_t columns) {
  const double seconds = absl::ToDoubleSeconds(figures.elapsed);
  const auto fits = [columns](const std::string& line) { return columns == 0 || TextWidth(line) <= columns; };
  const auto cut = [&](std::string line) {
    if (!fits(line)) line.resize(BytesWithin(line, columns));
    return line;
  };
  if (figures.unit.empty()) return cut(figures.doing + "  " + DurationText(seconds));
  const double rate = seconds > 0 ? static_cast<double>(figures.done) / seconds : 0;
  const std::string rate_text = "  " + WithSeparators(static_cast<int64_t>(rate)) + "/s";
  const std::string done = WithSeparators(figures.done);
  std::string bar;
  std::string middle;
  std::string time;
  if (figures.total <= 0) {
    middle = absl::StrFormat("  %s %s", done, figures.unit);
    time = "  " + DurationText(seconds);
  } else {
    const int64_t done_of_total = std::min(figures.done, figures.total);
    const double part = static_cast<double>(done_of_total) / static_cast<double>(figures.total);
    bar = "  " + Bar(part);
    middle = absl::StrFormat("%s%3d%%  %s of %s %s", " ", static_cast<int>(part * 100), done,
                             WithSeparators(figures.total), figures.unit);
    if (rate > 0)
      time = "  " + DurationText(static_cast<double>(figures.total - done_of_total) / rate) + " left";
  }
  for (const std::string& line :
       {figures.doing + bar + middle + rate_text + time, figures.doing + middle + rate_text + time,
        figures.doing + middle + rate_text, figures.doing + middle}) {
    if (fits(line)) return line;
  }
  // A number that is cut would be another number.
  const std::string part = middle.substr(0, middle.find('%') + 1);
  if (!part.empty() && fits(figures.doing + part)) return figures.doing + part;
  return cut(figures.doing);
}

ProgressTerminal ProgressStream(Context& context) {
  if (!context.streams().err_is_terminal) return nullptr;
  return {&context.err(), context.streams().terminal_size};
}

Progress::Progress(ProgressTerminal terminal, Options options)
    : terminal_(std::move(terminal)),
      options_(std::move(options)),
      start_(absl::Now()),
      total_(options_.total) {
  if (terminal_.stream != nullptr) drawer_ = std::thread([this] { Draw(); });
}

void Progress::Draw() {
  std::unique_lock<std::mutex> lock(mu_);
  std::chrono::milliseconds pause = kFirstDraw;
  bool drawn = false;
  while (!finished_changed_.wait_for(lock, pause, [this] { return finished_; })) {
    const size_t columns = terminal_.size == nullptr ? 0 : terminal_.size().columns;
    // A terminal goes to the next line when its last column is written.
    *terminal_.stream << kClearLine
                      << ProgressLine({.doing = options_.doing,
                                       .unit = options_.unit,
                                       .done = done_.load(std::memory_order_relaxed),
                                       .total = total_.load(std::memory_order_relaxed),
                                       .elapsed = absl::Now() - start_},
                                      columns > 0 ? columns - 1 : 0)
                      << std::flush;
    pause = kRedraw;
    drawn = true;
  }
  if (drawn) *terminal_.stream << kClearLine << std::flush;
}

void Progress::Finish() {
  if (!drawer_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mu_);
    finished_ = true;
  }
  finished_changed_.notify_one();
  drawer_.join();
}

}  // namespace itemdb::tools
