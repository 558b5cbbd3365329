// UndoChanges: items become what they were before a stretch of changes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "itemdb/v1/changes.pb.h"
#include "storage/engine/engine.h"

namespace itemdb::storage {

// The items of the database as they were after an earlier commit. Thread-safe.
class ItemsBefore {
 public:
  virtual ~ItemsBefore() = default;

  // The item of a table under its encoded primary key, canonical. Nothing: there was none.
  virtual absl::StatusOr<std::optional<std::string>> Find(uint64_t storage_id,
                                                          std::string_view key) const = 0;
};

// Gets the items, which are valid until it returns.
using EarlierItemsTask = absl::AnyInvocable<void(absl::StatusOr<const ItemsBefore*>) &&>;
// Calls the task once, on another thread, with the items after the commit whose last change is given.
using WithItemsBefore = std::function<void(uint64_t change_sequence, CancellationPtr, EarlierItemsTask)>;

// Implements Database's method of the same name. Reads the change log from the stretch to its end on an I/O
// thread. Items of which the change log has no old image come from `with_items_before`. Then writes all items
// of the page in one commit unit.
void UndoChanges(Engine& engine, const WithItemsBefore& with_items_before, v1::UndoChangesRequest request,
                 Done<v1::UndoChangesReply> done, CancellationPtr cancellation);

}  // namespace itemdb::storage
