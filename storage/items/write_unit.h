// The commit unit of every item write: one action, a batch of independent ones, or a transaction.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/engine/engine.h"
#include "storage/items/item_collections.h"
#include "storage/items/request_token.h"
#include "storage/items/write_action.h"

namespace itemdb::storage {

class WriteUnit : public CommitUnit {
 public:
  enum class Mode {
    // Each action is applied or not by itself; each change record is a commit of its own. If one action has
    // an error, nothing of the unit is written.
    kIndependent,
    // All actions are applied or none; their change records are one commit.
    kTransaction,
  };
  // The result of one action, for the reply. Owns its data.
  struct ActionResult {
    Decision::Outcome outcome = Decision::Outcome::kApply;
    absl::Status error;
    // If requested: the ReturnValues of an applied action, or the item on which the condition was false.
    std::optional<std::string> item;
  };
  // The result of the whole unit.
  struct UnitResult {
    // OK once the group is durable, whatever the results of the single actions are.
    absl::Status status;
    uint64_t change_sequence = 0;
    // One per action if `status` is OK; otherwise undefined.
    std::vector<ActionResult> results;
    CapacityMeter capacity;
    CollectionMeter collections;

    // Whether every action was applied.
    bool Applied() const;
  };
  using Finish = absl::AnyInvocable<void(UnitResult unit_result) &&>;

  // `finish` is called exactly once. If the request is cancelled before Apply, nothing is written.
  WriteUnit(Mode mode, std::vector<PreparedAction> actions, Finish finish,
            CancellationPtr cancellation = nullptr);
  // Limits HeldBytes() of all decisions together. Above the limit nothing is written (LIMIT_EXCEEDED).
  void SetMaxItemBytes(size_t bytes) { max_item_bytes_ = bytes; }
  // If a request was already applied under this token, its result is returned again and nothing is applied.
  void SetToken(std::optional<RequestToken> token) { token_ = std::move(token); }

  size_t SizeBytes() const override;
  void Apply(CommitGroup& group) override;
  void Complete(const absl::Status& status, uint64_t change_sequence) override;

  void SetCapacityMeter(CapacityMeter capacity) { result_.capacity = std::move(capacity); }
  void SetCollectionMeter(CollectionMeter collections) { result_.collections = std::move(collections); }

  std::vector<PreparedAction>& actions() { return actions_; }
  // kFrees if no action puts or updates an item.
  WriteSpace space() const;
  size_t max_item_bytes() const { return max_item_bytes_; }
  const CancellationPtr& cancellation() const { return cancellation_; }

 private:
  // True if a request was applied under `token_` before, or the lookup failed. Then `result_` is complete.
  bool RepeatEarlierResult(CommitGroup& group);
  // Fills the results and the consumed capacity from the decisions.
  void RecordResults();
  // Adds the sizes of the written item collections to the reply.
  void MeasureCollections(CommitGroup& group);
  // The change records of one commit are always read in one reply, so they must fit it. LIMIT_EXCEEDED.
  absl::Status CheckRecordsFit() const;

  const Mode mode_;
  std::vector<PreparedAction> actions_;
  std::vector<Decision> decisions_;
  UnitResult result_;
  Finish finish_;
  const CancellationPtr cancellation_;
  size_t max_item_bytes_ = SIZE_MAX;
  std::optional<RequestToken> token_;
};

// Memory that prepared actions take while they wait, in bytes.
size_t SizeBytesOf(const std::vector<PreparedAction>& actions);
// Prefetches the items that the actions are about to replace. False: one of the items must be read from disk,
// and `tier` does not allow it. LIMIT_EXCEEDED: the items have more than `max_bytes` in all. The actions keep
// items until their sum exceeds `keep_bytes`; items after that are read again when the unit is applied.
absl::StatusOr<bool> PrefetchItems(const ReadView& view, ReadTier tier, size_t max_bytes, size_t keep_bytes,
                                   std::vector<PreparedAction>* actions);

// Prefetches the items that `unit` is about to replace from `view`, on an I/O thread if the disk is needed,
// and submits the unit. The unit's `finish` gets any error.
void ReadAndSubmit(Engine& engine, std::shared_ptr<const ReadView> view, std::unique_ptr<WriteUnit> unit);

}  // namespace itemdb::storage
