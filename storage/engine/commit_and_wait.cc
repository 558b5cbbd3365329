#include "storage/engine/commit_and_wait.h"

#include <future>

namespace itemdb::storage {
namespace {

class WaitingUnit : public CommitUnit {
 public:
  struct Completion {
    absl::Status status;
    uint64_t change_sequence = 0;
  };

  WaitingUnit(absl::FunctionRef<absl::Status(CommitGroup&)> apply, size_t size_bytes)
      : apply_(apply), size_bytes_(sizeof(*this) + size_bytes) {}

  std::future<Completion> completion() { return completion_.get_future(); }

  size_t SizeBytes() const override { return size_bytes_; }
  void Apply(CommitGroup& group) override { applied_ = apply_(group); }
  void Complete(const absl::Status& status, uint64_t change_sequence) override {
    completion_.set_value({status.ok() ? applied_ : status, change_sequence});
  }

 private:
  // Valid until Complete: the caller waits for that.
  const absl::FunctionRef<absl::Status(CommitGroup&)> apply_;
  const size_t size_bytes_;
  absl::Status applied_;
  std::promise<Completion> completion_;
};

}  // namespace

absl::StatusOr<uint64_t> CommitAndWait(Engine& engine, absl::FunctionRef<absl::Status(CommitGroup&)> apply,
                                       const CommitOptions& options) {
  auto unit = std::make_unique<WaitingUnit>(apply, options.size_bytes);
  std::future<WaitingUnit::Completion> future = unit->completion();
  std::unique_ptr<CommitUnit> commit_unit = std::move(unit);
  ITEMDB_RETURN_IF_ERROR(engine.Submit(commit_unit, options.when_full, options.space, options.origin));
  const WaitingUnit::Completion completion = future.get();
  if (!completion.status.ok()) return completion.status;
  return completion.change_sequence;
}

}  // namespace itemdb::storage
