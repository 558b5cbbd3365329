// The inside of CancelToken: who is to be told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "itemdb/cancel_token.h"

namespace itemdb {
inline namespace client {

// Runs a function once when a token is cancelled, unless this is destroyed first. Not thread-safe itself; the
// function may still be running on the cancelling thread when the destructor returns, so it owns what it
// uses.
class Cancellation {
 public:
  // At once when the token is cancelled already. Nothing without a token.
  Cancellation(const std::optional<CancelToken>& token, std::function<void()> cancel);
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

 private:
  std::shared_ptr<CancelToken::State> state_;
  uint64_t id_ = 0;
};

}  // namespace client
}  // namespace itemdb
