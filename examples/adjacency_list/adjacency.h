// Order entry as one table of entities and edges: the items of each entity, and the one request that answers
// each access pattern. README.md explains keys and indexes; Adjacency.table.json defines the table.
//
// Requests return items; EmployeeOf makes one employee from the items of a partition.
#pragma once

#include <itemdb/order_entry.h>
#include <itemdb/requests.h>
#include <itemdb/sharding.h>

#include <optional>
#include <string>
#include <vector>

namespace adjacency_list {

using itemdb::GetItemRequest;
using itemdb::Item;
using itemdb::QueryRequest;
using itemdb::ShardedQuery;
using itemdb::TransactWriteItemsRequest;
using itemdb::order_entry::Customer;
using itemdb::order_entry::DateRange;
using itemdb::order_entry::Employee;
using itemdb::order_entry::NewOrderLine;
using itemdb::order_entry::Order;
using itemdb::order_entry::ProductStock;

// `itemctl shards --max-items 3000000 --fraction 0.2 --item-bytes 250` calculates 13; two more leave room.
inline constexpr int kShards = 15;

// ---- items: an entity first, then its edges ------------------------------------------------------

std::vector<Item> ItemsOf(const Employee& employee);
std::vector<Item> ItemsOf(const Customer& customer);
// `shard`, 0 to kShards - 1, is used while the order is open. itemdb::ShardOf(order_id, kShards) lets a
// reader who knows the order id query one shard; itemdb::RandomShard(kShards) is for orders never looked up
// by id.
std::vector<Item> ItemsOf(const Order& order, const std::vector<NewOrderLine>& lines, int shard);
std::vector<Item> ItemsOf(const ProductStock& product);

// The employee in the items that EmployeeById finds; empty if there is none.
std::optional<Employee> EmployeeOf(const std::vector<Item>& partition);

// ---- the access patterns, by number --------------------------------------------------------------

// 1. The employee with all edges.
QueryRequest EmployeeById(const std::string& employee_id);
// 2.
QueryRequest EmployeesByName(const std::string& name);
// 3, 4.
QueryRequest EmployeePhones(const std::string& employee_id);
QueryRequest CustomerPhones(const std::string& customer_id);
// 5. In date order.
QueryRequest CustomerOrders(const std::string& customer_id, const DateRange& dates);
// 6. In date order: all shards; and only the shard of an order whose id is known.
ShardedQuery OpenOrders(const DateRange& dates);
QueryRequest OpenOrdersInShard(const DateRange& dates, int shard);
// 7. In date order.
QueryRequest RecentHires(const std::string& since);
// 8.
QueryRequest WarehouseEmployees(const std::string& warehouse_id);
// 9. In date order.
QueryRequest ProductOrders(const std::string& product_id);
// 10. In order of warehouse.
QueryRequest ProductInventory(const std::string& product_id);
// 11. In order of name.
QueryRequest RepCustomers(const std::string& account_rep_id);
// 12. In date order.
QueryRequest RepOrders(const std::string& account_rep_id);
// 13. In order of hire date.
QueryRequest EmployeesByTitle(const std::string& job_title);
// 14.
GetItemRequest Inventory(const std::string& product_id, const std::string& warehouse_id);
// 15. `product_name` is the product's sort key; a reader who does not know it queries the partition, as in 3.
GetItemRequest TotalInventory(const std::string& product_id, const std::string& product_name);

// ---- writes that touch several items -------------------------------------------------------------

// Closes an open order: removes its entity from the index of open orders and sets the status on its edges.
// Cancelled if the order is not open.
TransactWriteItemsRequest CloseOrder(const Order& order);
// Renames an employee. The name is a sort key, so a new name means a new item; edges hold a copy of the name.
// `employee` must equal the stored one. Cancelled if the stored name has changed since.
TransactWriteItemsRequest RenameEmployee(const Employee& employee, const std::string& name);

}  // namespace adjacency_list
