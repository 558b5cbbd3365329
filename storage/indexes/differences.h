// A walk over a table that finds where what is derived from its items (index entries, counters) differs from
// them. Used by the check, which reports it, and by the rebuild, which puts it right.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "storage/base/cancellation.h"
#include "storage/engine/engine.h"
#include "storage/indexes/index_entry.h"

namespace itemdb {

// What a walk over the database goes by: the state it reads, and when to stop.
struct Walk {
  const Engine& engine;
  const ReadView& view;
  CancellationPtr cancellation;
  // Where records of tables and indexes are counted as they are visited; may be null.
  Engine::CheckFigures* figures = nullptr;

  // The same walk past records that do not count.
  Walk Uncounted() const { return {engine, view, cancellation}; }

  // UNAVAILABLE: the store has to be closed. CANCELLED, DEADLINE_EXCEEDED: nobody waits for the result.
  absl::Status CheckGoesOn() const;
};

// For messages.
std::string Hex(std::string_view key);

// Where a table's derived data differs from its items. Each callback may be called any number of times.
struct Differences {
  // An item that does not decode, or whose key is not its own.
  std::function<void(const std::string& owner, std::string_view key, const std::string& what)> damaged;
  // An entry that does not decode.
  std::function<void(const Index&, std::string_view key)> damaged_entry;
  // An entry that should be there but is not, or differs.
  std::function<void(const Index&, const IndexEntry&, bool stale)> missing;
  // An entry that no item has.
  std::function<void(const Index&, std::string_view key)> orphaned;
  std::function<void(const std::string& owner, uint64_t storage_id, const Counters& counted,
                     const Counters& stored)>
      miscounted;
  // How many entries an index should have.
  std::function<void(const Index&, const Counters& expected)> expected;
  // The record of an item collection under `key` says something else than was counted, or does not decode.
  std::function<void(const Table&, std::string_view key, const Counters& counted)> wrong_collection;
};

struct Checked {
  int64_t items = 0;
  int64_t entries = 0;
  int64_t records = 0;
  // Items that an index cannot have, once for each index (SEM-097).
  int64_t skipped_items = 0;
};

// Calls `visit` for every record of a keyspace, or those whose keys begin with `prefix`. Errors as
// Walk::CheckGoesOn, or what the store answers.
absl::Status ForEachRecord(const Walk& walk, const Keyspace& keyspace,
                           const std::function<void(std::string_view key, std::string_view record)>& visit,
                           std::string_view prefix = "");

// The same for at most `limit` records from the key `*from` on, which is moved behind them. How many there
// were: fewer than `limit` when none are left.
absl::StatusOr<int64_t> ForSomeRecords(
    const Walk& walk, const Keyspace& keyspace, int64_t limit, std::string* from,
    absl::FunctionRef<void(std::string_view key, std::string_view record)> visit);

// What to count while items are compared.
struct ItemCount {
  absl::FunctionRef<void(std::string_view key, size_t item_size)> item;
  // An entry that the item should have in `table.indexes[index]`.
  absl::FunctionRef<void(size_t index, const IndexEntry& entry)> entry;
};

// Tells `differences` when the item of `table` under `key` is damaged, or one of its entries (in
// `only_index`, when given) is not there as it should be. Errors: what the store answers.
absl::Status CompareItem(const Walk& walk, const Table& table, const Index* only_index, std::string_view key,
                         std::string_view record, const Differences& differences, Checked* checked,
                         const ItemCount& count);

// Tells `differences` when the entry of `index` under `key` is damaged or no item's, and adds it to
// `*counted` unless it does not decode. Errors: what the store answers.
absl::Status CompareEntry(const Walk& walk, const Table& table, const Index& index, std::string_view key,
                          std::string_view record, const Differences& differences, Checked* checked,
                          Counters* counted);

// Tells `differences` of everything in `table` and its active indexes that does, and adds what was seen to
// `*checked`. With `only_index` it looks at that index only, and not at what is derived of the table besides.
// Errors as ForEachRecord.
absl::Status CompareTable(const Walk& walk, const Table& table, const Index* only_index,
                          const Differences& differences, Checked* checked);

}  // namespace itemdb
