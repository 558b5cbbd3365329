// Histories: the operations of many clients on a few hot items, the answers, and the times.
//
// Answers are stored as text, so that comparing and printing them is simple: an item is
// "number:version/count", or "number:-" if it is missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace itemdb::testing {

inline constexpr int kHotItems = 6;  // One digit each.

// The attributes of a hot item: every write sets a new `version`; kAdd increments `count`.
struct HotItem {
  int64_t version = 0;
  int64_t count = 0;
  bool operator==(const HotItem&) const = default;
};
using HotState = std::array<std::optional<HotItem>, kHotItems>;

enum class StepKind { kPut, kAdd, kDelete, kCheck };
enum class HotCondition { kNone, kExists, kMissing, kCountBelow };

// One action on one item, or one condition on it.
struct Step {
  StepKind kind = StepKind::kCheck;
  int item = 0;
  HotCondition condition = HotCondition::kNone;
  // The operand of kCountBelow.
  int64_t bound = 0;
  // The version that kPut and kAdd write.
  int64_t version = 0;
};

enum class OperationKind {
  kPut,
  kUpdate,
  kDelete,
  kBatchWrite,
  kTransactWrite,
  kGet,
  kBatchGet,
  kTransactGet,
  kQuery,
  kQueryIndex,
  kScan,
  kCount,
};
inline constexpr int kOperationKinds = 12;
const char* NameOf(OperationKind kind);

struct Operation {
  OperationKind kind = OperationKind::kGet;
  // One step for single writes and GetItem; several on different items for batches and transactions; none for
  // pages.
  std::vector<Step> steps;
  // For writes: the answer has only the outcome, not the item.
  bool quiet = false;
  // For kQuery: the first and last item, and the bound of the filter on count.
  int first = 0;
  int last = 0;
  int64_t bound = 0;

  int client = 0;
  std::string answer = {};
  uint64_t sequence = 0;
  // Ticks of one clock for all clients; no two are equal. An operation that returned before another was
  // invoked must come before it.
  uint64_t invoked = 0;
  uint64_t returned = 0;
};

// A text for people.
std::string Describe(const Operation& operation);

struct History {
  // The operations of each client are in the order in which the client made them.
  std::vector<Operation> operations;
  // The change sequence before the first operation, when there are no items.
  uint64_t start_sequence = 0;
};

// ---- the sequential model: one operation after the other ------------------------------------------

// For example "3:17/2".
std::string Show(int item, const std::optional<HotItem>& value);
// Applies `operation` to `state` and returns the expected answer.
std::string Apply(const Operation& operation, HotState* state);
// The number of items that differ: the changes that one operation made between the two states.
int ChangesBetween(const HotState& a, const HotState& b);

}  // namespace itemdb::testing
