// Histories: what many clients asked of a few hot items, what they were answered, and when.
//
// Answers are kept as text, so that comparing and printing them is the same everywhere: an item is
// "number:version/count", or "number:-" when it is missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace itemdb::testing {

inline constexpr int kHotItems = 6;  // One digit each.

// The attributes of a hot item: `version` is different in every write, `count` is added to.
struct HotItem {
  int64_t version = 0;
  int64_t count = 0;
  bool operator==(const HotItem&) const = default;
};
using HotState = std::array<std::optional<HotItem>, kHotItems>;

enum class StepKind { kPut, kAdd, kDelete, kCheck };
enum class HotCondition { kNone, kExists, kMissing, kCountBelow };

// What is done to one item, or asked of it.
struct Step {
  StepKind kind = StepKind::kCheck;
  int item = 0;
  HotCondition condition = HotCondition::kNone;
  // What kCountBelow compares with.
  int64_t bound = 0;
  // What kPut and kAdd leave.
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
  // One each for single writes and GetItem; on different items for the others. Reads of pages have none.
  std::vector<Step> steps;
  // Writes: whether only the outcome is wanted, not the item.
  bool quiet = false;
  // kQuery: the items it asks for, and the count that its filter wants an item to be below.
  int first = 0;
  int last = 0;
  int64_t bound = 0;

  int client = 0;
  std::string answer = {};
  uint64_t sequence = 0;
  // Ticks of one clock that all clients share: no two are the same. An operation that returned before another
  // was invoked must come before it.
  uint64_t invoked = 0;
  uint64_t returned = 0;
};

// For a person.
std::string Describe(const Operation& operation);

struct History {
  // Each client's operations are in the order in which it made them.
  std::vector<Operation> operations;
  // The change sequence before the first; there are no items yet.
  uint64_t start_sequence = 0;
};

// ---- the sequential model: one operation after the other ------------------------------------------

// "3:17/2".
std::string Show(int item, const std::optional<HotItem>& value);
// Applies `operation` to `state`: the answer that it must get.
std::string Apply(const Operation& operation, HotState* state);
// Items that are different: the changes between two states of which one operation made the other.
int ChangesBetween(const HotState& a, const HotState& b);

}  // namespace itemdb::testing
