// The changes of one side of a move: which items changed, in batches one after the other. Of itemd it is the
// change log (change_log_feed.h), of other engines the DynamoDB Streams of the tables (stream_feed.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "tools/moving/changed_keys.h"
#include "tools/moving/move_state.h"

namespace itemdb::tools {

struct ChangedBatch {
  // By table.
  std::map<std::string, KeysByDigest> keys = {};
  int64_t changes = 0;
  // The commit of the first of them.
  absl::Time oldest = absl::InfiniteFuture();
  // Another batch read at once would have nothing, or little.
  bool is_idle = false;
};

// For one thread, but for Mark.
class ChangeFeed {
 public:
  virtual ~ChangeFeed() = default;

  // The changes that follow those of the batch before. `checks`: finds out also if there are none whether the
  // feed is still the one that was read; otherwise it does so now and then. OUT_OF_RANGE: they cannot be read
  // any more; the message says why. NOT_FOUND: a table was deleted.
  virtual absl::StatusOr<ChangedBatch> Read(bool checks) = 0;
  // Notes in `state` that all batches that were read are in the other side.
  virtual void Save(MoveState& state) const = 0;
  // Where the last batch ended: grows.
  virtual uint64_t place() const = 0;
  // The changes that follow, or -1 if that is not known.
  virtual int64_t behind() const = 0;
  // How long to wait after an idle batch.
  virtual absl::Duration poll_interval() const = 0;
  // Whether the feed has a change as soon as its write is acknowledged.
  virtual bool is_exact() const = 0;
  // What the feed had at this call has been read when place() is the result: if it is exact, every change
  // that was acknowledged before. On any thread.
  virtual absl::StatusOr<uint64_t> Mark() const = 0;
};

}  // namespace itemdb::tools
