#include "daemon/serving/line_limit.h"

#include <utility>

namespace itemdb::daemon {
namespace {

constexpr int64_t kLinesPerSecond = 10;

}  // namespace

std::optional<int64_t> LineLimit::Pass() {
  storage::MutexLock lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - second_began_ >= std::chrono::seconds(1)) {
    second_began_ = now;
    lines_ = 0;
  }
  if (++lines_ <= kLinesPerSecond) return std::exchange(left_out_, 0);
  ++left_out_;
  return std::nullopt;
}

}  // namespace itemdb::daemon
