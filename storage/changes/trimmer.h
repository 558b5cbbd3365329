// Trimming the change log by age and by bytes.
#pragma once

#include <atomic>

#include "storage/base/background_thread.h"
#include "storage/engine/engine.h"

namespace itemdb {

// Looks at the log now and then, on a thread of its own since freeing files may wait for a compaction.
//
// The order matters: first nothing below the new start can be pinned any more, then the catalog says so
// durably (a log that lacks what its start promises is taken for damaged), then readers are refused, then
// files go. Only whole files are deleted; no tombstones, which every later read would have to step over. What
// a file holds besides stays on disk until the rest of it may go.
//
// The last commit always stays, however old: it carries the commit time that none that follows may be below.
class ChangeTrimmer {
 public:
  explicit ChangeTrimmer(Engine& engine);
  // Stops a compaction under way.
  ~ChangeTrimmer();
  ChangeTrimmer(const ChangeTrimmer&) = delete;
  ChangeTrimmer& operator=(const ChangeTrimmer&) = delete;

 private:
  void Loop();
  absl::Status Trim();

  Engine& engine_;
  std::atomic<bool> cancel_compaction_ = false;
  BackgroundThread thread_;
};

}  // namespace itemdb
