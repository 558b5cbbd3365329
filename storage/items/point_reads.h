// Reads several items by primary key from one state. BatchGetItem and TransactGetItems share this.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/engine/engine.h"
#include "storage/expressions/projection.h"

namespace itemdb::storage {

// One item to read.
struct PointRead {
  std::shared_ptr<const Table> table;
  // Encoded; empty if it cannot be, because of `key_error`.
  std::string key;
  // Not OK: the key is too long or does not fit the key schema. A transaction is cancelled because of it
  // (SEM-005); RunPointReads() must not be called with such a read.
  absl::Status key_error;
  std::optional<Projection> projection;
};

// Checks one key of a transaction. NOT_FOUND: no such table. INVALID_ARGUMENT: the key is no item, or a key
// attribute is empty. A key that does not fit the table is no error here; it sets `key_error`.
absl::StatusOr<PointRead> PrepareTransactRead(const Catalog& catalog, const std::string& table_name,
                                              const std::string& key, std::optional<Projection> projection);
// The same outside transactions, where such a key is an error too: INVALID_ARGUMENT.
absl::StatusOr<PointRead> PreparePointRead(const Catalog& catalog, const std::string& table_name,
                                           const std::string& key, std::optional<Projection> projection);

// The result of one read.
struct PointReadResult {
  // Of the PointRead.
  std::string_view key = {};
  // Projected; nothing when the item is missing.
  std::optional<std::string> item;
  // Size of the whole item, by the counting of SEM-002; 0 when there is no item under the key.
  size_t item_size = 0;
};

// Reads the items one after another. `take(i, result)` gets the result of the i-th read and returns whether
// to read on. `done` gets OK after the last read, or the first error, which ends the reading. Reading starts
// on the calling thread. It moves to an I/O thread at the first item that is not in memory, or after
// kMaxItemsOnRequestThread items; `take` and `done` run on the thread that reads.
struct PointReads {
  std::shared_ptr<const ReadView> view;
  std::vector<PointRead> reads;
  absl::AnyInvocable<bool(size_t i, PointReadResult result)> take;
  absl::AnyInvocable<void(absl::Status) &&> done;
  CancellationPtr cancellation;
};
void RunPointReads(Engine& engine, PointReads reads);

}  // namespace itemdb::storage
