// A data directory with the Order table, and storage opened from the inside: without pipeline, threads or
// daemon.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/order_data.h"
#include "storage/engine/recovery.h"
#include "storage/items/write_unit.h"

namespace itemdb::bench {

// How the benchmarks open a database in this process: as itemd does by default; only warnings are logged.
DatabaseOptions OptionsFor(const std::string& directory, bool durable);

// Copies a database that is not open.
absl::Status CopyDatabase(const std::string& from, const std::string& to);

// Not thread-safe, but for db() and table().
class OrderStore {
 public:
  // Opens a database that has the Order table.
  static absl::StatusOr<std::unique_ptr<OrderStore>> Open(const std::string& directory);

  rocksdb::DB* db() const { return ordering_.store->db(); }
  const Table& table() const { return *table_; }
  rocksdb::ColumnFamilyHandle* items() const { return ordering_.store->items(); }
  const Catalog& catalog() const { return *ordering_.catalog; }
  // What commit groups are decided on and change.
  OrderingState& ordering() { return ordering_; }
  // What is committed now.
  std::shared_ptr<const ReadView> View() const;

  // The stored key of the item that an encoded GetItemRequest asks for.
  absl::StatusOr<std::string> KeyOf(const std::string& get_request) const;
  // The writes that an encoded PutItemRequest comes to when its item is new, as an encoded WriteBatch;
  // without the counters, which a commit group writes once for all its puts.
  absl::StatusOr<std::string> BatchOf(const std::string& put_request);

 private:
  OrderStore(std::unique_ptr<DirectoryLock> lock, Recovered recovered);

  std::unique_ptr<DirectoryLock> lock_;
  OrderingState ordering_;
  std::shared_ptr<const Table> table_;
};

// A put whose answer nobody waits for, as the pipeline takes it on.
std::unique_ptr<WriteUnit> MakeUnit(PreparedAction action);

// BatchOf all `requests`. The batches fit every copy of the database in `directory`, which is changed.
absl::StatusOr<std::vector<std::string>> MakeOrderBatches(const std::string& directory,
                                                          const Requests& requests);

}  // namespace itemdb::bench
