// Several items by primary key, from one state: what BatchGetItem and TransactGetItems share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/expressions/condition.h"
#include "storage/expressions/projection.h"

namespace itemdb {

// One item to read.
struct PointRead {
  std::shared_ptr<const Table> table;
  // Encoded.
  std::string key;
  std::optional<Projection> projection;
  // An item that it does not hold for is as good as missing.
  std::optional<Condition> filter;
};

// The read of a request, checked. NOT_FOUND: no such table. INVALID_ARGUMENT: the key does not fit it.
absl::StatusOr<PointRead> PreparePointRead(const Catalog& catalog, const std::string& table_name,
                                           const std::string& key, std::optional<Projection> projection);

// What was read for one of them.
struct PointReadResult {
  // Projected; nothing when there is no such item.
  std::optional<std::string> item;
  // Of the whole item, by SEM-002.
  size_t item_size = 0;
};

// Reads one after the other until all are read or `take` has had enough; then `done`. `take(i, result)` gets
// the result of the i-th read and returns whether to go on. Both run on the calling thread as long as
// everything is in memory and up to kMaxItemsOnRequestThread, then on an I/O thread. `done` gets the first
// error, which ends the reading, or OK.
struct PointReads {
  std::shared_ptr<const ReadView> view;
  std::vector<PointRead> reads;
  absl::AnyInvocable<bool(size_t i, PointReadResult result)> take;
  absl::AnyInvocable<void(absl::Status) &&> done;
  CancellationPtr cancellation;
};
void RunPointReads(Engine& engine, PointReads reads);

}  // namespace itemdb
