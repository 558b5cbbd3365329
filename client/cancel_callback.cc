#include "client/cancel_callback.h"

#include <map>
#include <mutex>
#include <utility>

namespace itemdb {

struct CancelToken::State {
  std::mutex mutex;
  // Guarded by `mutex`.
  bool cancelled = false;
  uint64_t last_id = 0;
  std::map<uint64_t, std::function<void()>> functions;
};

CancelToken::CancelToken() : state_(std::make_shared<State>()) {}

void CancelToken::Cancel() const {
  std::map<uint64_t, std::function<void()>> functions;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->cancelled = true;
    functions.swap(state_->functions);
  }
  for (auto& [id, function] : functions) function();
}

bool CancelToken::cancelled() const {
  std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->cancelled;
}

CancelCallback::CancelCallback(const std::optional<CancelToken>& token, std::function<void()> cancel) {
  if (!token.has_value()) return;
  state_ = token->state_;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (!state_->cancelled) {
      id_ = ++state_->last_id;
      state_->functions.emplace(id_, std::move(cancel));
      return;
    }
  }
  cancel();
}

CancelCallback::~CancelCallback() {
  if (state_ == nullptr) return;
  std::function<void()> dropped;  // Before the lock, so destroyed after it: the function may own anything.
  std::lock_guard<std::mutex> lock(state_->mutex);
  const auto it = state_->functions.find(id_);
  if (it == state_->functions.end()) return;
  dropped = std::move(it->second);
  state_->functions.erase(it);
}

}  // namespace itemdb
