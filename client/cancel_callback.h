// The inside of CancelToken: which functions a cancelled token calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "itemdb/cancel_token.h"

namespace itemdb {

// As std::stop_callback: runs a function once when a token is cancelled, unless this object is destroyed
// first. Not thread-safe itself. The function may still be running on the cancelling thread when the
// destructor returns, so it must own everything that it uses.
class CancelCallback {
 public:
  // Runs `cancel` at once if the token is cancelled already. Does nothing without a token.
  CancelCallback(const std::optional<CancelToken>& token, std::function<void()> cancel);
  ~CancelCallback();
  CancelCallback(const CancelCallback&) = delete;
  CancelCallback& operator=(const CancelCallback&) = delete;

 private:
  std::shared_ptr<CancelToken::State> state_;
  uint64_t id_ = 0;
};

}  // namespace itemdb
