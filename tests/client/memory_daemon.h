// A fake daemon with items in memory: as much of a database as the order-entry functions need to load and
// read.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "itemdb/client.h"
#include "tests/support/fake_daemon.h"

namespace itemdb {

// Answers
//   CreateTable, DescribeTable;
//   GetItem, with a projection of one attribute or none;
//   Query, on tables and indexes, ascending, with key conditions made of `#n = :v`, `#n >= :v`, `#n BETWEEN
//   :v AND :w`; TransactWriteItems of puts with the condition attribute_not_exists(#pk).
// Everything else, including Scan, is UNIMPLEMENTED. One call at a time changes items.
class MemoryDaemon {
 public:
  MemoryDaemon();

  const std::string& endpoint() const { return daemon_.endpoint(); }

  // The number of items in one page of a Query.
  size_t page_items = 1'000;

  // The queries so far, in order of arrival.
  std::vector<v1::QueryRequest> queries() const;
  // The number of transactions that wrote, and of stored items.
  int transactions() const;
  size_t item_count() const;

  // The entries of an index with its projection (or the items of a table), in index order.
  std::vector<Item> Entries(const std::string& table_name, const std::string& index_name) const;

 private:
  struct Table {
    v1::CreateTableRequest request;
    TableDefinition definition;
    std::vector<Item> items;
  };

  grpc::Status CreateTable(const v1::CreateTableRequest& request, v1::CreateTableReply* reply);
  grpc::Status GetItem(const v1::GetItemRequest& request, v1::GetItemReply* reply);
  grpc::Status Query(const v1::QueryRequest& request, v1::QueryReply* reply);
  grpc::Status TransactWriteItems(const v1::TransactWriteItemsRequest& request,
                                  v1::TransactWriteItemsReply* reply);

  mutable std::mutex mutex_;
  std::map<std::string, Table> tables_;
  std::vector<v1::QueryRequest> queries_;
  int transactions_ = 0;
  FakeDaemon daemon_;
};

}  // namespace itemdb
