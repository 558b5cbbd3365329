#include "storage/engine/pinned_snapshot.h"

#include <utility>
#include <vector>

namespace itemdb::storage {

PinnedSnapshot::PinnedSnapshot(PinnedSnapshots& owner, std::shared_ptr<const ReadView> view,
                               std::chrono::steady_clock::time_point until)
    : owner_(owner), until_(until), view_(std::move(view)) {
  MutexLock lock(owner_.mutex_);
  owner_.pinned_.insert(this);
}

PinnedSnapshot::~PinnedSnapshot() {
  MutexLock lock(owner_.mutex_);
  owner_.pinned_.erase(this);
}

absl::StatusOr<std::shared_ptr<const ReadView>> PinnedSnapshot::View() const {
  MutexLock lock(mutex_);
  if (view_ == nullptr || std::chrono::steady_clock::now() >= until_) {
    return MakeError(
        absl::StatusCode::kAborted, kReasonStateTooOld,
        "the state that all pages are read from is no longer kept; begin again, or without OneState");
  }
  return view_;
}

std::shared_ptr<const ReadView> PinnedSnapshot::Release() {
  MutexLock lock(mutex_);
  return std::move(view_);
}

std::shared_ptr<PinnedSnapshot> PinnedSnapshots::Pin(std::shared_ptr<const ReadView> view) {
  return std::make_shared<PinnedSnapshot>(*this, std::move(view),
                                          std::chrono::steady_clock::now() + max_age_);
}

void PinnedSnapshots::ReleaseExpired() {
  auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<const ReadView>> views;
  MutexLock lock(mutex_);
  for (PinnedSnapshot* state : pinned_) {
    if (now >= state->until_) views.push_back(state->Release());
  }
}

void PinnedSnapshots::ReleaseAll() {
  std::vector<std::shared_ptr<const ReadView>> views;
  MutexLock lock(mutex_);
  for (PinnedSnapshot* state : pinned_) views.push_back(state->Release());
}

}  // namespace itemdb::storage
