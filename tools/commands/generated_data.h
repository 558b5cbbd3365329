// Order-entry data of any size, made from a seed. Equal GeneratedSizes give the same items, byte for byte.
//
// Employees, customers, products and orders, in the shape of the tables in itemdb/order_entry.h:
//
//   employee  1 item
//   customer  1 item; its account representative is the customer's number modulo their count
//   product   5 items: itself, and its stock in 4 of 10 warehouses
//   order     4 items: its header, and 3 lines for distinct products. One order in five is OPEN, in one
//             of 5 shards. Dates are spread evenly over the two years from 2024-01-01. An id is the order's
//             number times an odd constant modulo 2^32, so loading by number is not loading in key order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "itemdb/client.h"

namespace itemdb::tools {

struct GeneratedSizes {
  uint64_t seed = 42;
  uint64_t orders = 0;
  uint64_t employees = 1'000;
  // 0: one for 50 orders, at least 1.
  uint64_t customers = 0;
  // At least kMinProducts.
  uint64_t products = 10'000;

  static constexpr uint64_t kMaxOrders = 1'000'000'000;
  static constexpr uint64_t kMaxOthers = 10'000'000;
  static constexpr uint64_t kMinProducts = 3;
};

// Immutable; thread-safe.
class GeneratedData {
 public:
  explicit GeneratedData(const GeneratedSizes& sizes);

  // An entity is an employee, customer, product or order. Entities are numbered from 0 in this order of
  // kinds.
  uint64_t entity_count() const;
  // The number of items of all entities.
  uint64_t item_count() const;

  // Appends the items of entity `number`, 0 to entity_count() - 1.
  void AppendEntity(uint64_t number, std::vector<BatchPut>* items) const;

  static std::string OrderId(uint64_t order);

 private:
  uint64_t Random(uint64_t number, uint64_t purpose) const;
  void AppendEmployee(uint64_t employee, std::vector<BatchPut>* items) const;
  void AppendCustomer(uint64_t customer, std::vector<BatchPut>* items) const;
  void AppendProduct(uint64_t product, std::vector<BatchPut>* items) const;
  void AppendOrder(uint64_t order, std::vector<BatchPut>* items) const;

  GeneratedSizes sizes_;
  uint64_t account_reps_;
};

}  // namespace itemdb::tools
