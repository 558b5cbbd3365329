// Calls that are repeated while a side of a move cannot be reached: its process was killed, its machine
// restarts, it refuses writes for a while.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "itemdb/cancel_token.h"

namespace itemdb::tools {

// Whether the same call may succeed later without anybody changing it. A write that is repeated after it must
// put or delete whole items: it may have been applied.
bool MayPass(const absl::Status& status);

// `status` with `words` before its message and `end` after it; code and reason stay.
absl::Status WithWords(const std::string& words, const absl::Status& status, const std::string& end = "");

class Patience {
 public:
  // `longest`: without a success for so long, a call fails. `cancel` ends the waiting.
  Patience(absl::Duration longest, CancelToken cancel) : longest_(longest), cancel_(std::move(cancel)) {}

  absl::Duration longest() const { return longest_; }
  const CancelToken& cancel() const { return cancel_; }

  // Calls `call`, which returns absl::Status or absl::StatusOr, until it succeeds, fails for good or the
  // patience is over. Before each pause `on_wait` gets the error and how long the call has failed.
  template <typename Call, typename OnWait>
  auto Try(Call call, OnWait on_wait) const -> decltype(call()) {
    const absl::Time begin = absl::Now();
    for (absl::Duration pause = absl::Milliseconds(50);; pause = std::min(pause * 2, absl::Seconds(2))) {
      auto result = call();
      if (result.ok() || !MayPass(StatusOf(result))) return result;
      const absl::Duration waited = absl::Now() - begin;
      if (waited + pause > longest_) return result;
      on_wait(StatusOf(result), waited);
      if (!Pause(pause)) return result;
    }
  }

  static const absl::Status& StatusOf(const absl::Status& status) { return status; }
  template <typename T>
  static const absl::Status& StatusOf(const T& result) {
    return result.status();
  }

 private:
  // False if the wait was cancelled.
  bool Pause(absl::Duration pause) const;

  const absl::Duration longest_;
  const CancelToken cancel_;
};

}  // namespace itemdb::tools
