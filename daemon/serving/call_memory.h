// The memory for calls of both protocols, and the shares of single callers in it.
//
// A caller is an access key at an address; where no keys are asked for, an address. All peers of unix sockets
// have one address. A caller may hold four times as much as is free: alone four fifths, and one of several
// greedy ones the less. So something is always left for others. All callers with the same key
// together may hold eight times as much as is free.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "storage/base/mutex.h"

namespace itemdb::daemon {

// Reason of RESOURCE_EXHAUSTED: requests and replies in flight have used up their memory; nothing was done.
inline constexpr std::string_view kReasonCallsFull = "CALLS_FULL";

// Counts the bytes of requests and replies in flight: of all callers, or, when CallShares made it, of one
// caller, who is counted among all. A reply counts until gRPC has sent it. That may be after the server is
// destroyed, so replies hold a shared_ptr to this object. Thread-safe.
class CallMemory {
 public:
  // Of all callers.
  explicit CallMemory(size_t limit_bytes)
      : limit_(static_cast<int64_t>(limit_bytes)), all_(std::make_shared<Counts>()) {}

  // True: the caller must Release() as many bytes later. False: the limit or a share would be exceeded.
  // Succeeds for any size while nothing is counted but the `held` bytes that the caller has reserved already.
  bool TryReserve(size_t bytes, size_t held = 0) { return TryReserve(bytes, held, limit_); }
  // As TryReserve(), but for streams and for calls whose replies are pages: they leave half of the limit to
  // small calls, which go on while peers do not take their pages.
  bool TryReserveForLargeReply(size_t bytes, size_t held = 0) { return TryReserve(bytes, held, limit_ / 2); }
  // As TryReserveForLargeReply(), for a message of a stream that has reserved `held` bytes. With the least
  // --memory the longest one is more than a share. So any size succeeds also while all callers together hold
  // little: open streams on which nothing moves, and replies that gRPC has not let go yet.
  bool TryReserveForChunk(size_t bytes, size_t held);
  // For requests of at most kSmallCallBytes, which an eighth of the limit is set aside for: a long request
  // may take all the rest, and more when it came alone, and the calls of others go on. True: ReleaseSmall()
  // must follow instead of Release(). False: nothing is left of that eighth, or of a share of it.
  bool TryReserveSmall(size_t bytes);
  // As TryReserveSmall(), for a call whose reply is a page, when TryReserveForLargeReply() has failed.
  // Succeeds only for a caller who holds little: others have taken the memory.
  bool TryReserveSmallForLargeReply(size_t bytes) { return HoldsLittle() && TryReserveSmall(bytes); }
  void ReleaseSmall(size_t bytes) { Count(&Counts::small_bytes, -static_cast<int64_t>(bytes)); }
  static constexpr size_t kSmallCallBytes = 64 << 10;
  // Adds bytes even beyond the limit: a finished reply is cheaper to send than to refuse and make again.
  void Add(size_t bytes) { Count(&Counts::bytes, static_cast<int64_t>(bytes)); }
  void Release(size_t bytes) { Count(&Counts::bytes, -static_cast<int64_t>(bytes)); }

  // Takes bytes over that `from`, of another caller, has reserved: by TryReserveSmall(), and otherwise.
  // False: a share would be exceeded; `from` keeps them.
  bool TryTakeOver(CallMemory& from, size_t small_bytes, size_t bytes);

  // True: one more call is in flight until EndCall(). False: as many calls are in flight as the caller's
  // share allows. There are as many as the memory has kBytesOfCall, of which a few are granted to every
  // caller.
  bool TryBeginCall();
  // As TryBeginCall(), for a call that is never refused.
  void BeginCall() { Count(&Counts::calls, 1); }
  void EndCall() { Count(&Counts::calls, -1); }
  static constexpr int64_t kBytesOfCall = 4 << 10;
  static constexpr int64_t kCallsOfEveryCaller = 16;

  // How long a peer may take none of its reply: `longest` while half of the memory is free, and the less the
  // more is used, down to a second. The same for the share of a caller.
  std::chrono::steady_clock::duration ReplyPatience(std::chrono::steady_clock::duration longest) const;

  // Of all callers.
  int64_t used_bytes() const {
    return all_->bytes.load(std::memory_order_relaxed) + all_->small_bytes.load(std::memory_order_relaxed);
  }
  int64_t limit_bytes() const { return limit_; }

 private:
  friend class CallShares;

  struct Counts {
    std::atomic<int64_t> bytes = 0;
    std::atomic<int64_t> small_bytes = 0;
    std::atomic<int64_t> calls = 0;
  };
  using Counter = std::atomic<int64_t> Counts::*;
  struct Share {
    std::shared_ptr<Counts> counts;
    // It may hold so many times what is free.
    int64_t times_free = 0;
  };

  // Of a caller, whose own share is the first of `shares`.
  CallMemory(const CallMemory& all, std::vector<Share> shares)
      : limit_(all.limit_), all_(all.all_), shares_(std::move(shares)) {}

  bool TryReserve(size_t bytes, size_t held, int64_t limit);
  // Adds `amount` unless more than `limit` or a share would be used. While at most `alone` is used, anything
  // is added.
  bool TryCount(Counter counter, int64_t amount, int64_t limit, int64_t alone);
  void Count(Counter counter, int64_t amount);
  // As TryCount(), for bytes that are counted in `all_` already.
  bool TryCountInShares(Counter counter, int64_t amount, int64_t limit, int64_t alone);
  void CountInShares(Counter counter, int64_t amount);
  bool HoldsLittle() const;

  const int64_t limit_;
  const std::shared_ptr<Counts> all_;
  const std::vector<Share> shares_;
};

// The callers that have calls in flight, or had. Thread-safe.
class CallShares {
 public:
  // Of `all`, which is borrowed.
  explicit CallShares(const CallMemory& all) : all_(all) {}

  // The memory of the caller with this key (empty: no keys are asked for) at this address, as of
  // AddressOfPeer().
  std::shared_ptr<CallMemory> Of(std::string_view key_id, std::string_view address);

  // Callers that are kept in memory.
  size_t size() const;

 private:
  // Callers without a call in flight are forgotten when there are twice as many callers as after the last
  // time, and at least this many.
  static constexpr size_t kFewCallers = 256;

  // Access key and address. Views find strings.
  using Name = std::pair<std::string_view, std::string_view>;
  struct HashOfName {
    using is_transparent = void;
    size_t operator()(const Name& name) const { return absl::HashOf(name.first, name.second); }
  };
  struct SameName {
    using is_transparent = void;
    bool operator()(const Name& a, const Name& b) const { return a == b; }
  };
  using OwnedName = std::pair<std::string, std::string>;

  void ForgetIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const CallMemory& all_;
  mutable storage::Mutex mutex_;
  std::unordered_map<OwnedName, std::shared_ptr<CallMemory>, HashOfName, SameName> callers_
      ABSL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, std::shared_ptr<CallMemory::Counts>> keys_ ABSL_GUARDED_BY(mutex_);
  size_t forget_at_ ABSL_GUARDED_BY(mutex_) = kFewCallers;
};

// RESOURCE_EXHAUSTED when the memory for calls or the caller's share of it is used up.
absl::Status CallsFullError(const CallMemory& memory, std::string_view what_was_done = "nothing was done");

}  // namespace itemdb::daemon
