// The order headers that the benchmarks write and read: pure functions of an index, the same bytes in every
// run.
//
// A header is about 268 bytes by the data model's counting (SEM-002). Ids are spread over 32 bits, so that
// writing in index order is not writing in key order. One order in five is OPEN; those enter three of the
// table's four indexes, the others two (product lines, which enter the fourth, are not written here).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "itemdb/v1/tables.pb.h"

namespace itemdb::bench {

inline constexpr char kOrderTable[] = "Order";

// The table with its four indexes, as the order-entry client library makes it.
v1::CreateTableRequest OrderTableRequest();

// Encoded itemdb.v1.Item, attributes in name order as our own client sends them. Order 0 to 2^32 - 1.
std::string OrderItem(uint64_t order);
// Encoded itemdb.v1.PutItemRequest and itemdb.v1.GetItemRequest.
std::string PutOrderRequest(uint64_t order);
std::string GetOrderRequest(uint64_t order);

// The same in DynamoDB's JSON: an order, its key; and the customer whose order it is.
std::string OrderItemJson(uint64_t order);
std::string OrderKeyJson(uint64_t order);
std::string OrderCustomer(uint64_t order);

// The requests of a run, encoded before the clock starts.
class Requests {
 public:
  // Puts of orders 0 to count - 1, one each.
  static Requests Puts(uint64_t count);
  // Gets of orders 0 to orders - 1, in random order, without end.
  static Requests Gets(uint64_t orders);

  // The order that operation number `operation` of a run is about, and its request.
  uint64_t order(uint64_t operation) const;
  const std::string& request(uint64_t operation) const { return requests_[order(operation)]; }
  // By order.
  const std::vector<std::string>& all() const { return requests_; }
  // Operations there are.
  uint64_t operations() const { return operations_; }

 private:
  std::vector<std::string> requests_;
  bool random_ = false;
  uint64_t operations_ = 0;
};

}  // namespace itemdb::bench
