// Finds where the data derived from a table's items (index entries, size statistics) differs from the items.
// The check reports these differences, the rebuild corrects them.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/indexes/index_entry.h"
#include "storage/values/stored_record.h"

namespace itemdb::storage {

// The parameters of a walk over the database: the view that it reads, and when it must stop.
struct Walk {
  const Engine& engine;
  const ReadView& view;
  CancellationPtr cancellation;
  // Counts the visited records of tables and indexes; may be null.
  Engine::CheckProgress* figures = nullptr;
  // Not null: the walk goes on behind damaged blocks, and gets here the key before each. Null: damage ends
  // it.
  std::set<std::string>* damaged_after = nullptr;

  // The same walk for records that are not counted in `figures`.
  Walk Uncounted() const { return {engine, view, cancellation, nullptr, damaged_after}; }
  // Whether the walk goes on after `status`, an error of reading.
  bool GoesOnAfter(const absl::Status& status) const {
    return damaged_after != nullptr && absl::IsDataLoss(status);
  }

  // UNAVAILABLE: a write failed and the store must be closed. CANCELLED, DEADLINE_EXCEEDED: the caller no
  // longer waits for the result.
  absl::Status CheckForInterrupts() const;
};

// `key` in hexadecimal digits, for messages.
std::string Hex(std::string_view key);

// Callbacks for the differences that a walk finds. Each may be called any number of times.
struct Differences {
  // An item that does not decode, is stored under the key of another item, or has a wrong recorded size.
  std::function<void(const std::string& owner, std::string_view key, const std::string& what)> damaged;
  // An entry that does not decode.
  std::function<void(const Index&, std::string_view key)> damaged_entry;
  // An entry that is missing, or (`stale`) differs from the one that the item should have.
  std::function<void(const Index&, const IndexEntry&, bool stale)> missing;
  // An entry that belongs to no item.
  std::function<void(const Index&, std::string_view key)> orphaned;
  // The size statistics of a table or index (`owner`, `storage_id`) differ from the counted records.
  std::function<void(const std::string& owner, uint64_t storage_id, const SizeStatistics& counted,
                     const SizeStatistics& stored)>
      miscounted;
  // The size statistics that the table or index `storage_id` should have.
  std::function<void(uint64_t storage_id, const SizeStatistics& expected)> expected;
  // The size statistics of an item collection, stored under `key`, differ from the count, or do not decode.
  std::function<void(const Table&, std::string_view key, const SizeStatistics& counted)> wrong_collection;
};

struct Checked {
  int64_t items = 0;
  int64_t entries = 0;
  int64_t records = 0;
  // Items that cannot be in an index, counted once for each such index (SEM-097).
  int64_t skipped_items = 0;
};

// Calls `visit` for every record of a keyspace whose key begins with `prefix`. Errors: those of
// Walk::CheckForInterrupts and of the store.
absl::Status ForEachRecord(const Walk& walk, const Keyspace& keyspace,
                           const std::function<void(std::string_view key, std::string_view record)>& visit,
                           std::string_view prefix = "");

// As ForEachRecord, for at most `limit` records from the key `*from` on; moves `*from` after them. Goes on
// behind damaged blocks, and sets `*damage` if there are any. Returns the number of records: fewer than
// `limit` at the end of the keyspace.
absl::StatusOr<int64_t> ForSomeRecords(
    const Walk& walk, const Keyspace& keyspace, int64_t limit, std::string* from, absl::Status* damage,
    absl::FunctionRef<void(std::string_view key, std::string_view record)> visit);

// Callbacks that count while items are compared.
struct ItemCount {
  absl::FunctionRef<void(std::string_view key, const StoredRecord& stored)> item;
  // Called for each entry that the item should have in `table.indexes[index]`.
  absl::FunctionRef<void(size_t index, const IndexEntry& entry)> entry;
};

// Compares the item of `table` under `key` with its entries, or only with that in `only_index` unless null.
// Reports a damaged item and missing or stale entries to `differences`. Errors: of the store.
absl::Status CompareItem(const Walk& walk, const Table& table, const Index* only_index, std::string_view key,
                         std::string_view record, const Differences& differences, Checked* checked,
                         const ItemCount& count);

// Compares the entry of `index` under `key` with its item. Reports a damaged or orphaned entry to
// `differences`. Adds an entry that decodes to `*counted`. Errors: of the store.
absl::Status CompareEntry(const Walk& walk, const Table& table, const Index& index, std::string_view key,
                          std::string_view record, const Differences& differences, Checked* checked,
                          SizeStatistics* counted);

// Reports all differences in `table` and its ACTIVE indexes to `differences`, and adds the number of visited
// records to `*checked`. With `only_index` compares that index only: no other index, no size statistics of
// the table or its item collections. Errors as ForEachRecord.
absl::Status CompareTable(const Walk& walk, const Table& table, const Index* only_index,
                          const Differences& differences, Checked* checked);

}  // namespace itemdb::storage
