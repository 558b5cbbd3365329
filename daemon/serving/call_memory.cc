#include "daemon/serving/call_memory.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "storage/base/status.h"

namespace itemdb::daemon {
namespace {

constexpr int64_t kTimesFreeOfCaller = 4;
constexpr int64_t kTimesFreeOfKey = 8;
// A caller who holds at most this part of the memory holds little, and so do all together.
constexpr int64_t kLittle = 8;

}  // namespace

void CallMemory::CountInShares(Counter counter, int64_t amount) {
  for (const Share& share : shares_)
    (share.counts.get()->*counter).fetch_add(amount, std::memory_order_relaxed);
}

void CallMemory::Count(Counter counter, int64_t amount) {
  (all_.get()->*counter).fetch_add(amount, std::memory_order_relaxed);
  CountInShares(counter, amount);
}

bool CallMemory::TryCountInShares(Counter counter, int64_t amount, int64_t limit, int64_t alone) {
  const int64_t used = (all_.get()->*counter).load(std::memory_order_relaxed);
  const int64_t free = limit - used;
  bool fits = true;
  for (const Share& share : shares_) {
    const int64_t held = (share.counts.get()->*counter).fetch_add(amount, std::memory_order_relaxed) + amount;
    if (held > share.times_free * free) fits = false;
  }
  if (fits || used - amount <= alone) return true;
  CountInShares(counter, -amount);
  return false;
}

bool CallMemory::TryCount(Counter counter, int64_t amount, int64_t limit, int64_t alone) {
  const int64_t before = (all_.get()->*counter).fetch_add(amount, std::memory_order_relaxed);
  if ((before <= alone || before + amount <= limit) && TryCountInShares(counter, amount, limit, alone))
    return true;
  (all_.get()->*counter).fetch_sub(amount, std::memory_order_relaxed);
  return false;
}

bool CallMemory::TryReserve(size_t bytes, size_t held, int64_t limit) {
  return TryCount(&Counts::bytes, static_cast<int64_t>(bytes), limit, static_cast<int64_t>(held));
}

bool CallMemory::TryReserveForChunk(size_t bytes, size_t held) {
  return TryReserveForLargeReply(bytes, std::max(held, static_cast<size_t>(limit_ / kLittle)));
}

bool CallMemory::TryReserveSmall(size_t bytes) {
  return bytes <= kSmallCallBytes &&
         TryCount(&Counts::small_bytes, static_cast<int64_t>(bytes), limit_ / 8, /*alone=*/-1);
}

bool CallMemory::TryTakeOver(CallMemory& from, size_t small_bytes, size_t bytes) {
  const auto small = static_cast<int64_t>(small_bytes);
  const auto other = static_cast<int64_t>(bytes);
  if (small > 0 && !TryCountInShares(&Counts::small_bytes, small, limit_ / 8, /*alone=*/-1)) return false;
  if (other > 0 && !TryCountInShares(&Counts::bytes, other, limit_, /*alone=*/0)) {
    CountInShares(&Counts::small_bytes, -small);
    return false;
  }
  from.CountInShares(&Counts::small_bytes, -small);
  from.CountInShares(&Counts::bytes, -other);
  return true;
}

bool CallMemory::TryBeginCall() {
  const int64_t limit = limit_ / kBytesOfCall;
  const int64_t free = limit - all_->calls.fetch_add(1, std::memory_order_relaxed) - 1;
  bool fits = true;
  for (const Share& share : shares_) {
    const int64_t held = share.counts->calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (held > std::max(kCallsOfEveryCaller, share.times_free * free)) fits = false;
  }
  if (!fits) EndCall();
  return fits;
}

bool CallMemory::HoldsLittle() const {
  return !shares_.empty() &&
         shares_.front().counts->bytes.load(std::memory_order_relaxed) <= limit_ / kLittle;
}

std::chrono::steady_clock::duration CallMemory::ReplyPatience(
    std::chrono::steady_clock::duration longest) const {
  using std::chrono::steady_clock;
  constexpr steady_clock::duration kShortest = std::chrono::seconds(1);
  // Where `longest` is no limit: the patience of the moment before half of the memory is used.
  constexpr steady_clock::duration kLongestUnderPressure = std::chrono::minutes(1);
  double free = 1.0 - static_cast<double>(used_bytes()) / static_cast<double>(std::max<int64_t>(limit_, 1));
  for (const Share& share : shares_) {
    // The most that calls with large replies of this share alone may hold.
    const double most = static_cast<double>(limit_) / 2 * static_cast<double>(share.times_free) /
                        static_cast<double>(share.times_free + 1);
    const auto held = static_cast<double>(share.counts->bytes.load(std::memory_order_relaxed));
    free = std::min(free, 1.0 - held / std::max(most, 1.0));
  }
  if (free >= 0.5 || longest <= kShortest) return longest;
  const auto scaled = std::chrono::duration_cast<steady_clock::duration>(
      std::min(longest, kLongestUnderPressure) * (2 * std::max(free, 0.0)));
  return std::max(kShortest, scaled);
}

std::shared_ptr<CallMemory> CallShares::Of(std::string_view key_id, std::string_view address) {
  storage::MutexLock lock(mutex_);
  if (const auto found = callers_.find(Name(key_id, address)); found != callers_.end()) return found->second;
  if (callers_.size() >= forget_at_) ForgetIdle();
  std::vector<CallMemory::Share> shares = {{std::make_shared<CallMemory::Counts>(), kTimesFreeOfCaller}};
  if (!key_id.empty()) {
    std::shared_ptr<CallMemory::Counts>& key = keys_[std::string(key_id)];
    if (key == nullptr) key = std::make_shared<CallMemory::Counts>();
    shares.push_back({key, kTimesFreeOfKey});
  }
  // Its constructor is private.
  std::shared_ptr<CallMemory> caller(new CallMemory(all_, std::move(shares)));
  callers_.emplace(OwnedName(key_id, address), caller);
  return caller;
}

void CallShares::ForgetIdle() {
  // With the lock held nobody can get another reference to an object that only the map has.
  std::erase_if(callers_, [](const auto& caller) { return caller.second.use_count() == 1; });
  std::erase_if(keys_, [](const auto& key) { return key.second.use_count() == 1; });
  forget_at_ = std::max(kFewCallers, 2 * callers_.size());
}

size_t CallShares::size() const {
  storage::MutexLock lock(mutex_);
  return callers_.size();
}

absl::Status CallsFullError(const CallMemory& memory, std::string_view what_was_done) {
  // Most calls in flight are answered within this time.
  constexpr int64_t kRetryAfterMs = 50;
  return storage::MakeError(
      absl::StatusCode::kResourceExhausted, kReasonCallsFull,
      absl::StrFormat("requests and replies in flight take all of the %d bytes they may (--memory), or those "
                      "of this caller take its share; %s",
                      memory.limit_bytes(), what_was_done),
      kRetryAfterMs);
}

}  // namespace itemdb::daemon
