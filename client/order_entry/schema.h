// The names of the order-entry tables, indexes and attributes, for the files of this folder.
#pragma once

#include <string>
#include <string_view>

#include "itemdb/order_entry.h"

namespace itemdb::order_entry {

inline constexpr char kEmployeeByName[] = "EmployeeByName";
inline constexpr char kEmployeeByWarehouse[] = "EmployeeByWarehouse";
inline constexpr char kEmployeeByJobTitle[] = "EmployeeByJobTitle";
inline constexpr char kEmployeeByHireDate[] = "EmployeeByHireDate";
inline constexpr char kCustomerByAccountRep[] = "CustomerByAccountRep";
inline constexpr char kOrderByCustomerDate[] = "OrderByCustomerDate";
inline constexpr char kOpenOrdersByDate[] = "OpenOrdersByDate";
inline constexpr char kOrderByAccountRep[] = "OrderByAccountRep";
inline constexpr char kProductInOrders[] = "ProductInOrders";

// All employees have this entity_type: it is the static partition key of EmployeeByHireDate.
inline constexpr char kEmployeeEntity[] = "EMPLOYEE";

inline constexpr char kOpen[] = "OPEN";
inline constexpr char kClosed[] = "CLOSED";

}  // namespace itemdb::order_entry
