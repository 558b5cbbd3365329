// Order entry as one table of entities and edges: which items an entity is, and the one request that answers
// each access pattern. README.md explains keys and indexes; Adjacency.table.json is the table.
//
// What a request finds are items; EmployeeOf makes one employee out of a partition.
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

// `itemctl shards --max-items 3000000 --fraction 0.2 --item-bytes 250` says 13; two more leave room.
inline constexpr int kShards = 15;

// ---- items: an entity first, then its edges ------------------------------------------------------

std::vector<Item> ItemsOf(const Employee& employee);
std::vector<Item> ItemsOf(const Customer& customer);
// `shard`, 0 to kShards - 1, counts while the order is open: itemdb::ShardOf(order_id, kShards), so that who
// knows the order asks one shard, or itemdb::RandomShard(kShards) where nobody will.
std::vector<Item> ItemsOf(const Order& order, const std::vector<NewOrderLine>& lines, int shard);
std::vector<Item> ItemsOf(const ProductStock& product);

// The employee that EmployeeById finds; empty when there is none.
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
// 6. In date order, of all shards; and of the one that a known order is in.
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
// 15. The name is the product's sort key; who does not know it queries the partition, as in 3.
GetItemRequest TotalInventory(const std::string& product_id, const std::string& product_name);

// ---- writes that touch several items -------------------------------------------------------------

// Closes an open order: its entity leaves the index of open orders, its edges show the new status. Cancelled
// when the order is not open.
TransactWriteItemsRequest CloseOrder(const Order& order);
// A name is a sort key, so that a new one is another item, and it is copied to the edges. `employee` is as
// stored. Cancelled when the name has changed meanwhile.
TransactWriteItemsRequest RenameEmployee(const Employee& employee, const std::string& name);

}  // namespace adjacency_list
