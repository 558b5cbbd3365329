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
    // When it was committed, as MoveState::sequence_time_us.
    int64_t after_time_us = 0;
    // Save notes the last change as MoveState::sequence.
    bool is_saved = true;
  };
  // `side` is borrowed.
  ChangeLogFeed(const Side& side, Options options)
      : side_(side),
        options_(std::move(options)),
        place_(options_.after_sequence),
        place_time_us_(options_.after_time_us) {}

  // OUT_OF_RANGE: the log does not begin where the move is, or is another one: the change before each page is
  // read once more, and its time compared; without new changes once a second, or if the call asks for it.
  absl::StatusOr<ChangedBatch> Read(bool checks) override;
  void Save(MoveState& state) const override {
    if (!options_.is_saved) return;
    state.sequence = place_;
    state.sequence_time_us = place_time_us_;
  }
  // The last change that was read.
  uint64_t place() const override { return place_; }
  int64_t behind() const override { return behind_; }
  absl::Duration poll_interval() const override { return absl::Milliseconds(10); }
  bool is_exact() const override { return true; }
  absl::StatusOr<uint64_t> Mark() const override;

 private:
  // OUT_OF_RANGE: the log has another change of this number now.
  absl::Status CheckIsTheSame(uint64_t sequence, int64_t time_us) const;

  const Side& side_;
  const Options options_;
  uint64_t place_;
  // 0: not known.
  int64_t place_time_us_;
  // When that was compared.
  absl::Time compared_ = absl::InfinitePast();
  int64_t behind_ = 0;
};

// When this change of an itemd was committed, in microseconds since the Unix epoch. 0: the log does not have
// it, or it is damaged.
absl::StatusOr<int64_t> CommitTimeOf(const Side& side, uint64_t sequence);
// Whether an itemd was restored to an earlier time since its change `sequence` was read, whose commit was at
// `time_us`, or 0 if that is not known: its log ends before, or has another change of the number. False also
// if the log does not have it any more, or it is damaged. One call.
absl::StatusOr<bool> IsRolledBack(const Client& client, uint64_t sequence, int64_t time_us,
                                  const CallOptions& call);

}  // namespace itemdb::tools
