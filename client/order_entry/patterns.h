// The requests behind the access patterns, shared by the typed functions and RunPattern.
#pragma once

#include <string>
#include <vector>

#include "itemdb/order_entry.h"

namespace itemdb::order_entry {

// Numbers of the access patterns, as in the order-entry document.
enum class Pattern {
  kEmployeeById = 1,
  kEmployeesByName = 2,
  kEmployeePhones = 3,
  kCustomerPhones = 4,
  kCustomerOrders = 5,
  kOpenOrders = 6,
  kRecentHires = 7,
  kWarehouseEmployees = 8,
  kProductOrders = 9,
  kProductInventory = 10,
  kRepCustomers = 11,
  kRepOrders = 12,
  kEmployeesByTitle = 13,
  kInventory = 14,
  kTotalInventory = 15,
};

// The items that `pattern` returns for `arguments`, one argument for each parameter. Sends nothing before the
// first item is requested; may outlive `client`.
ItemRange PatternItems(const Client& client, Pattern pattern, const std::vector<std::string>& arguments,
                       CallOptions options);

}  // namespace itemdb::order_entry
