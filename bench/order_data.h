// The order headers that the benchmarks write and read. They depend on an index only, not on the run.
//
// A header is about 268 bytes by the data model's counting (SEM-002). Order ids are spread over 32 bits, so
// writing in index order is not writing in key order. One order in five is OPEN. OPEN orders have entries in
// three of the table's four indexes, other orders in two. The fourth is for product lines, not written here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "itemdb/v1/tables.pb.h"

namespace itemdb::bench {

inline constexpr char kOrderTable[] = "Order";

// The table with its four indexes, as the order-entry client library creates it.
v1::CreateTableRequest OrderTableRequest();

// Encoded itemdb.v1.Item, attributes sorted by name as our own client sends them. `order` is 0 to 2^32 - 1.
std::string OrderItem(uint64_t order);
// Encoded itemdb.v1.PutItemRequest and itemdb.v1.GetItemRequest.
std::string PutOrderRequest(uint64_t order);
std::string GetOrderRequest(uint64_t order);

// An order and its key in DynamoDB's JSON, and the id of its customer.
std::string OrderItemJson(uint64_t order);
std::string OrderKeyJson(uint64_t order);
std::string OrderCustomer(uint64_t order);

// The requests of a run, encoded before the clock starts.
class Requests {
 public:
  // Puts of orders 0 to count - 1, one each.
  static Requests Puts(uint64_t count);
  // Gets of orders 0 to orders - 1, in random order, without limit.
  static Requests Gets(uint64_t orders);

  // The order of operation number `operation` of a run, and its request.
  uint64_t order(uint64_t operation) const;
  const std::string& request(uint64_t operation) const { return requests_[order(operation)]; }
  // The requests of all orders, by order.
  const std::vector<std::string>& all() const { return requests_; }
  // Number of operations.
  uint64_t operations() const { return operations_; }

 private:
  std::vector<std::string> requests_;
  bool random_ = false;
  uint64_t operations_ = 0;
};

}  // namespace itemdb::bench
