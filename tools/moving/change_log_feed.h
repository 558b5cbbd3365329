// The changes of the moved tables in the change log of an itemd.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tools/moving/change_feed.h"
#include "tools/moving/side.h"

namespace itemdb::tools {

class ChangeLogFeed : public ChangeFeed {
 public:
  struct Options {
    // The tables' names by storage id.
    std::map<uint64_t, std::string> tables = {};
    // Begins after this change.
    uint64_t after_sequence = 0;
    // Save notes the last change as MoveState::sequence.
    bool is_saved = true;
  };
  // `side` is borrowed.
  ChangeLogFeed(const Side& side, Options options)
      : side_(side), options_(std::move(options)), place_(options_.after_sequence) {}

  // OUT_OF_RANGE: the log does not begin where the move is, or is another one.
  absl::StatusOr<ChangedBatch> Read() override;
  void Save(MoveState& state) const override {
    if (options_.is_saved) state.sequence = place_;
  }
  // The last change that was read.
  uint64_t place() const override { return place_; }
  int64_t behind() const override { return behind_; }
  absl::Duration poll_interval() const override { return absl::Milliseconds(10); }
  bool is_exact() const override { return true; }
  absl::StatusOr<uint64_t> Mark() const override;

 private:
  const Side& side_;
  const Options options_;
  uint64_t place_;
  int64_t behind_ = 0;
};

}  // namespace itemdb::tools
