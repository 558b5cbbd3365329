#include "storage/engine/commit_and_wait.h"

#include <future>

namespace itemdb {
namespace {

class WaitingUnit : public CommitUnit {
 public:
  struct Outcome {
    absl::Status status;
    uint64_t change_sequence = 0;
  };

  WaitingUnit(absl::FunctionRef<absl::Status(CommitGroup&)> order, size_t size_bytes)
      : order_(order), size_bytes_(sizeof(*this) + size_bytes) {}

  std::future<Outcome> outcome() { return outcome_.get_future(); }

  size_t SizeBytes() const override { return size_bytes_; }
  void Order(CommitGroup& group) override { ordered_ = order_(group); }
  void Answer(const absl::Status& status, uint64_t change_sequence) override {
    outcome_.set_value({status.ok() ? ordered_ : status, change_sequence});
  }

 private:
  // Valid until the answer: the caller waits for it.
  const absl::FunctionRef<absl::Status(CommitGroup&)> order_;
  const size_t size_bytes_;
  absl::Status ordered_;
  std::promise<Outcome> outcome_;
};

}  // namespace

absl::StatusOr<uint64_t> CommitAndWait(Engine& engine, absl::FunctionRef<absl::Status(CommitGroup&)> order,
                                       const CommitOptions& options) {
  auto unit = std::make_unique<WaitingUnit>(order, options.size_bytes);
  std::future<WaitingUnit::Outcome> future = unit->outcome();
  std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
  ITEMDB_RETURN_IF_ERROR(options.when_disk_is_full == WhenDiskIsFull::kCommit
                             ? engine.SubmitFreeing(commit_unit, options.when_full)
                             : engine.Submit(commit_unit, options.when_full));
  const WaitingUnit::Outcome outcome = future.get();
  if (!outcome.status.ok()) return outcome.status;
  return outcome.change_sequence;
}

}  // namespace itemdb
