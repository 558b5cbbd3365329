#include "tools/moving/log_hold.h"

#include <algorithm>
#include <utility>

#include "itemdb/errors.h"
#include "tools/moving/change_log_feed.h"

namespace itemdb::tools {
namespace {

constexpr absl::Duration kMostBetweenRenewals = absl::Minutes(1);
constexpr absl::Duration kLongestCall = absl::Seconds(10);

constexpr char kNamesBegin[] = "move-";

std::string HoldNameOf(const std::string& move_id) { return kNamesBegin + move_id; }

}  // namespace

LogHold::LogHold(const Side& side, MoveJournal& journal, std::string move_id, absl::Duration lease)
    : side_(side), journal_(journal), name_(HoldNameOf(move_id)), lease_(lease) {}

absl::Status LogHold::Take(uint64_t after_sequence) {
  // The feed compares that change itself. It may be trimmed already, and those after it not.
  if (after_sequence == 0) return TakeAfter(0);
  const absl::Status taken = TakeAfter(after_sequence - 1);
  return absl::IsOutOfRange(taken) ? TakeAfter(after_sequence) : taken;
}

absl::Status LogHold::TakeAfter(uint64_t after_sequence) {
  const HoldChangesRequest request{.name = name_, .after_sequence = after_sequence, .lease = lease_};
  CallOptions once = side_.call();
  once.retry = RetryOptions{.max_attempts = 1};
  absl::Status full;
  absl::Status taken = side_.Try([&] {
    absl::Status held = side_.client().HoldChanges(request, once).status();
    if (ReasonOf(held) != kReasonDiskFull) return held;
    full = WithWords(side_.name(), held);
    return absl::OkStatus();
  });
  taken.Update(full);
  if (!taken.ok()) return taken;
  std::lock_guard<std::mutex> lock(mutex_);
  taken_after_ = after_sequence;
  stored_before_ = journal_.stored_sequence();
  return absl::OkStatus();
}

void LogHold::Start(std::function<void()> on_ended) {
  on_ended_ = std::move(on_ended);
  thread_ = std::thread([this] { Run(); });
}

void LogHold::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
  }
  cancel_.Cancel();
  stopped_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::Status LogHold::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

absl::Status LogHold::Renew() {
  HoldChangesRequest request{.name = name_, .lease = lease_, .renews = true};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t stored = journal_.stored_sequence();
    // The follower compares the last change that it has read.
    const uint64_t needed = stored == 0 ? 0 : stored - 1;
    request.after_sequence = stored == stored_before_ ? taken_after_ : std::max(taken_after_, needed);
  }
  // Once: another one follows soon, and the hold lives longer.
  const CallOptions once{
      .timeout = kLongestCall, .retry = RetryOptions{.max_attempts = 1}, .cancel = cancel_};
  const absl::Status renewed = side_.client().HoldChanges(request, once).status();
  if (ReasonOf(renewed) == kReasonHoldEnded) {
    const MoveState state = journal_.state();
    const absl::StatusOr<bool> is_rolled_back =
        IsRolledBack(side_.client(), state.sequence, state.sequence_time_us, once);
    // To before the hold: the follower finds that out too, and the move takes another hold.
    if (!is_rolled_back.ok() || *is_rolled_back) return failure();
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (ReasonOf(renewed) == kReasonHoldEnded && failure_.ok() && !stops_)
    failure_ = WithWords(side_.name(), renewed,
                         ". The move stops; run the same command again: it goes on, and compares all items "
                         "anew if changes are missing by then");
  return failure_;
}

void LogHold::Run() {
  const auto pause = absl::ToChronoMilliseconds(std::min(lease_ / 8, kMostBetweenRenewals));
  do {
    std::unique_lock<std::mutex> lock(mutex_);
    if (stopped_.wait_for(lock, pause, [this] { return stops_; })) return;
  } while (Renew().ok());
  on_ended_();
}

void LogHold::Release() {
  Stop();
  (void)side_.client().ReleaseChanges(name_, {.timeout = kLongestCall});
}

std::vector<std::string> LogHold::NamesIn(const Side& side) {
  std::vector<std::string> names;
  if (!side.is_itemd()) return names;
  const absl::StatusOr<std::vector<ChangeHold>> holds =
      side.client().ListChangeHolds({.timeout = kLongestCall});
  if (!holds.ok()) return names;
  for (const ChangeHold& hold : *holds) {
    if (hold.state == ChangeHoldState::kHeld && hold.name.starts_with(kNamesBegin))
      names.push_back(hold.name);
  }
  return names;
}

void LogHold::Release(const Side& side, const std::string& move_id) {
  if (side.is_itemd()) (void)side.client().ReleaseChanges(HoldNameOf(move_id), {.timeout = kLongestCall});
}

}  // namespace itemdb::tools
