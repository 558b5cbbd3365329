// The commit unit of every item write: one action, a batch of independent ones, or a transaction.
#pragma once

#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "storage/engine/engine.h"
#include "storage/items/item_collections.h"
#include "storage/items/request_token.h"
#include "storage/items/write_action.h"

namespace itemdb {

class WriteUnit : public CommitUnit {
 public:
  enum class Mode {
    // Each action by itself; a change record is its own commit. An action in error refuses all of them:
    // nothing is written.
    kIndependent,
    // All actions or none; their change records are one commit.
    kTransaction,
  };
  // What one action came to, for the reply. Owns what it shows.
  struct Result {
    Decision::Outcome outcome = Decision::Outcome::kApply;
    absl::Status error;
    // ReturnValues of an applied action, or the item that a condition failed on, as asked for.
    std::optional<std::string> item;
  };
  // What the unit as a whole came to.
  struct Outcome {
    // OK whatever the results are, when the group is durable.
    absl::Status status;
    uint64_t change_sequence = 0;
    // One an action when `status` is OK; otherwise of no meaning.
    std::vector<Result> results;
    CapacityMeter capacity;
    CollectionMeter collections;

    // Whether every action was.
    bool Applied() const;
  };
  using Finish = absl::AnyInvocable<void(Outcome outcome) &&>;

  // `finish` is called exactly once.
  // When `cancellation` says so before the unit's turn, nothing is written.
  WriteUnit(Mode mode, std::vector<PreparedAction> actions, Finish finish,
            CancellationPtr cancellation = nullptr);
  // What the items before and after and the changed index entries may take together; beyond it nothing is
  // written (LIMIT_EXCEEDED). Default: what the number of actions and the size of an item allow.
  void SetMaxItemBytes(size_t bytes) { max_item_bytes_ = bytes; }
  // A request that was applied under this token already is answered as then, and not applied again.
  void SetToken(std::optional<RequestToken> token) { token_ = std::move(token); }

  size_t SizeBytes() const override;
  void Order(CommitGroup& group) override;
  void Answer(const absl::Status& status, uint64_t change_sequence) override;

  void SetCapacityMeter(CapacityMeter capacity) { outcome_.capacity = std::move(capacity); }
  void SetCollectionMeter(CollectionMeter collections) { outcome_.collections = std::move(collections); }

  std::vector<PreparedAction>& actions() { return actions_; }
  size_t max_item_bytes() const { return max_item_bytes_; }
  const CancellationPtr& cancellation() const { return cancellation_; }

 private:
  // Whether `token_` was used before: then everything is said.
  bool AnswerAgain(CommitGroup& group);
  // Looks at the item collections of what was applied, for the reply.
  void MeasureCollections(CommitGroup& group);
  // A commit's change records are read together, so they must fit a reply. LIMIT_EXCEEDED.
  absl::Status CheckRecordsFit() const;

  const Mode mode_;
  std::vector<PreparedAction> actions_;
  std::vector<Decision> decisions_;
  Outcome outcome_;
  Finish finish_;
  const CancellationPtr cancellation_;
  size_t max_item_bytes_ = SIZE_MAX;
  std::optional<RequestToken> token_;
};

// Bytes that prepared actions hold while they wait.
size_t SizeBytesOf(const std::vector<PreparedAction>& actions);
// Reads what the actions are about to replace. False when one of the items has to wait for the disk.
// LIMIT_EXCEEDED: together they have more than `max_bytes`. Only the first `keep_bytes` of them are carried;
// the rest is read again when it is ordered.
absl::StatusOr<bool> ReadCarried(const ReadView& view, ReadTier tier, size_t max_bytes, size_t keep_bytes,
                                 std::vector<PreparedAction>* actions);

// Reads what `unit` is about to replace from `view`, on an I/O thread when the disk is needed, and submits
// it. Whatever goes wrong is given to the unit's `finish`.
void ReadAndSubmit(Engine& engine, std::shared_ptr<const ReadView> view, std::unique_ptr<WriteUnit> unit);

}  // namespace itemdb
