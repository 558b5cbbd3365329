// Computes the new values of an update expression's actions, before they are put into the item.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"
#include "storage/expressions/binding.h"
#include "storage/expressions/rewrite.h"
#include "storage/values/value_view.h"

namespace itemdb::storage {

// Computes the edit of every action on one item. All actions read the item before the update (EXP-23).
// Borrows the binding and the item, which must outlive this object and all users of its edits.
class UpdateValues {
 public:
  // `type_mismatch` is the message for an operand of the wrong type; borrowed.
  UpdateValues(const Binding& binding, ItemView item, std::string_view type_mismatch)
      : binding_(binding), item_(item), type_mismatch_(type_mismatch) {}
  UpdateValues(const UpdateValues&) = delete;
  UpdateValues& operator=(const UpdateValues&) = delete;

  // Called once. INVALID_ARGUMENT: an operand is missing or of the wrong type (EXP-28, EXP-30), a number
  // leaves its range (SEM-011), a value is too deep (SEM-017), the new values alone are larger than an item
  // (SEM-001).
  absl::Status Compute();

  // One per action, in the order of Tree::actions. Values borrow from this object, the binding or the item.
  std::span<const PathEdit> edits() const { return edits_; }
  // Encoded bytes of all new values.
  size_t value_bytes() const { return value_bytes_; }

 private:
  absl::StatusOr<PathEdit> ComputeAction(const ActionSyntax& action);
  absl::StatusOr<PathEdit> ComputeAdd(const ActionSyntax& action);
  absl::StatusOr<PathEdit> ComputeDelete(const ActionSyntax& action);
  absl::StatusOr<ValueView> Evaluate(uint32_t position);
  // Returns the operand that provides the value at `position`: for if_not_exists the path or the other
  // operand.
  uint32_t Resolve(uint32_t position) const;
  // Appends the elements of the list at `position` to `*elements` and adds their size to `*counted_bytes`.
  // Nested list_append calls append to the same string, because a list may be named hundreds of times.
  absl::Status AppendElements(uint32_t position, std::string* elements, size_t* counted_bytes);
  absl::StatusOr<ValueView> SumOf(ValueView left, ValueView right, bool subtract);
  absl::Status CheckTotalSize() const;
  // Returns the error for an operand of the wrong type, with the rule of the operation.
  absl::Status WrongOperandType(std::string_view rule) const;
  // Stores an encoded value for the lifetime of this object.
  ValueView Keep(std::string encoded);

  const Binding& binding_;
  const ItemView item_;
  const std::string_view type_mismatch_;
  std::vector<PathEdit> edits_;
  // A deque does not move its elements, so views of them stay valid.
  std::deque<std::string> computed_;
  size_t value_bytes_ = 0;
};

}  // namespace itemdb::storage
