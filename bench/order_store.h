// A data directory with the Order table, and storage opened without commit pipeline, threads and daemon.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/order_data.h"
#include "storage/engine/recovery.h"
#include "storage/items/write_unit.h"

namespace itemdb::bench {

// The options of a database in this process: itemd's defaults, but only warnings are logged.
storage::DatabaseOptions OptionsFor(const std::string& directory, bool durable);

// Copies a database, which must not be open.
absl::Status CopyDatabase(const std::string& from, const std::string& to);

// Not thread-safe, except db() and table().
class OrderStore {
 public:
  // Opens a database that has the Order table.
  static absl::StatusOr<std::unique_ptr<OrderStore>> Open(const std::string& directory);

  rocksdb::DB* db() const { return ordering_.store->db(); }
  const storage::Table& table() const { return *table_; }
  rocksdb::ColumnFamilyHandle* items() const { return ordering_.store->items(); }
  const storage::Catalog& catalog() const { return *ordering_.catalog; }
  // The state that commit groups read and change.
  storage::ApplyState& ordering() { return ordering_; }
  // The committed state.
  std::shared_ptr<const storage::ReadView> View() const;

  // The stored key of the item that an encoded GetItemRequest asks for.
  absl::StatusOr<std::string> KeyOf(const std::string& get_request) const;
  // The writes of an encoded PutItemRequest for a new item, as an encoded WriteBatch. The size statistics are
  // left out, because a commit group writes them once for all its puts.
  absl::StatusOr<std::string> BatchOf(const std::string& put_request);

 private:
  OrderStore(std::unique_ptr<storage::DirectoryLock> lock, storage::Recovered recovered);

  std::unique_ptr<storage::DirectoryLock> lock_;
  storage::ApplyState ordering_;
  std::shared_ptr<const storage::Table> table_;
};

// A commit unit with one put; its result is ignored.
std::unique_ptr<storage::WriteUnit> MakeUnit(storage::PreparedAction action);

// Calls BatchOf for all `requests`. Changes the database in `directory`; the batches fit every copy that was
// made of it before.
absl::StatusOr<std::vector<std::string>> MakeOrderBatches(const std::string& directory,
                                                          const Requests& requests);

}  // namespace itemdb::bench
