#include "tools/moving/pace.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace itemdb::tools {
namespace {

// Smaller writes take about as long as writes of this many items.
constexpr int64_t kSmallWrite = 25;
constexpr int kSlow = 4;

}  // namespace

Pace::Pace(int max, double max_items_per_second)
    : max_(std::max(max, 1)), max_items_per_second_(max_items_per_second), limit_(std::min(2, max_)) {}

void Pace::Begin(int64_t items) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ < limit_; });
  ++under_way_;
  if (max_items_per_second_ <= 0) return;
  const absl::Time now = absl::Now();
  next_ = std::max(next_, now);
  const absl::Time begin = next_;
  next_ += absl::Seconds(static_cast<double>(items) / max_items_per_second_);
  lock.unlock();
  absl::SleepFor(begin - now);
}

void Pace::End(int64_t items, absl::Duration took, bool was_refused) {
  std::lock_guard<std::mutex> lock(mutex_);
  --under_way_;
  ++ended_;
  const absl::Duration each = took / std::max(items, kSmallWrite);
  fastest_ = std::min(fastest_ * 1.01, each);
  if (ended_ >= limit_) {
    const bool is_slow = was_refused || each > fastest_ * kSlow;
    limit_ = is_slow ? std::max(1, limit_ * 3 / 4) : std::min(limit_ + 1, max_);
    ended_ = 0;
  }
  changed_.notify_all();
}

int Pace::limit() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return limit_;
}

}  // namespace itemdb::tools
