#include "storage/engine/held_state.h"

#include <utility>
#include <vector>

namespace itemdb {

HeldState::HeldState(HeldStates& owner, std::shared_ptr<const ReadView> view,
                     std::chrono::steady_clock::time_point until)
    : owner_(owner), until_(until), view_(std::move(view)) {
  MutexLock lock(owner_.mutex_);
  owner_.held_.insert(this);
}

HeldState::~HeldState() {
  MutexLock lock(owner_.mutex_);
  owner_.held_.erase(this);
}

absl::StatusOr<std::shared_ptr<const ReadView>> HeldState::View() const {
  MutexLock lock(mutex_);
  if (view_ == nullptr || std::chrono::steady_clock::now() >= until_) {
    return MakeError(
        absl::StatusCode::kAborted, kReasonStateTooOld,
        "the state that all pages were to be of is no longer kept; begin again, or without OneState");
  }
  return view_;
}

std::shared_ptr<const ReadView> HeldState::LetGo() {
  MutexLock lock(mutex_);
  return std::move(view_);
}

std::shared_ptr<HeldState> HeldStates::Hold(std::shared_ptr<const ReadView> view) {
  return std::make_shared<HeldState>(*this, std::move(view), std::chrono::steady_clock::now() + max_age_);
}

void HeldStates::LetGoOfOld() {
  auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<const ReadView>> views;
  MutexLock lock(mutex_);
  for (HeldState* state : held_) {
    if (now >= state->until_) views.push_back(state->LetGo());
  }
}

void HeldStates::LetGoOfAll() {
  std::vector<std::shared_ptr<const ReadView>> views;
  MutexLock lock(mutex_);
  for (HeldState* state : held_) views.push_back(state->LetGo());
}

}  // namespace itemdb
