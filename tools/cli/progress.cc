#include "tools/cli/progress.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

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

std::string WithSeparators(int64_t number) {
  std::string text = std::to_string(number);
  const size_t first = text.front() == '-' ? 1 : 0;
  for (size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string ProgressLine(const ProgressFigures& figures) {
  const double seconds = absl::ToDoubleSeconds(figures.elapsed);
  if (figures.unit.empty()) return figures.doing + "  " + DurationText(seconds);
  const double rate = seconds > 0 ? static_cast<double>(figures.done) / seconds : 0;
  const std::string rate_text = WithSeparators(static_cast<int64_t>(rate)) + "/s";
  const std::string done = WithSeparators(figures.done);
  if (figures.total <= 0) {
    return absl::StrFormat("%s  %s %s  %s  %s", figures.doing, done, figures.unit, rate_text,
                           DurationText(seconds));
  }
  const int64_t done_of_total = std::min(figures.done, figures.total);
  const double part = static_cast<double>(done_of_total) / static_cast<double>(figures.total);
  std::string line =
      absl::StrFormat("%s  %s %3d%%  %s of %s %s  %s", figures.doing, Bar(part), static_cast<int>(part * 100),
                      done, WithSeparators(figures.total), figures.unit, rate_text);
  if (rate > 0) {
    line += "  " + DurationText(static_cast<double>(figures.total - done_of_total) / rate) + " left";
  }
  return line;
}

std::ostream* ProgressStream(Context& context) {
  return context.streams().err_is_terminal ? &context.err() : nullptr;
}

Progress::Progress(std::ostream* terminal, Options options)
    : terminal_(terminal), options_(std::move(options)), start_(absl::Now()), total_(options_.total) {
  if (terminal_ != nullptr) drawer_ = std::thread([this] { Draw(); });
}

void Progress::Draw() {
  std::unique_lock<std::mutex> lock(mu_);
  std::chrono::milliseconds pause = kFirstDraw;
  bool drawn = false;
  while (!finished_changed_.wait_for(lock, pause, [this] { return finished_; })) {
    *terminal_ << kClearLine
               << ProgressLine({.doing = options_.doing,
                                .unit = options_.unit,
                                .done = done_.load(std::memory_order_relaxed),
                                .total = total_.load(std::memory_order_relaxed),
                                .elapsed = absl::Now() - start_})
               << std::flush;
    pause = kRedraw;
    drawn = true;
  }
  if (drawn) *terminal_ << kClearLine << std::flush;
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
