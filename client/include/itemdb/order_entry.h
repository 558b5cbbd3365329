// The order-entry application on four tables: Employee, Customer, Order, Product. Functions over a Client
// offer its table definitions, sample data, 15 access patterns and writes.
//
// Every pattern is a GetItem or a Query (pattern 6: one Query per shard, in parallel); none scans. Each
// pattern is offered as a typed function (CustomerOrders returns Orders) and by name with raw items
// (RunPattern). Both send the same requests.
//
// Invariant that every write here keeps, also while other writes run: a product's `total_inventory` is the
// sum of the `inventory_quantity` of its stock items.
//
// Dates are text, "YYYY-MM-DD", and compare as text; ranges include both ends.
#pragma once

#include "itemdb/language.h"  // First: it checks the language.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "itemdb/client.h"
#include "itemdb/export.h"

namespace itemdb::order_entry {

// ---- tables and data -----------------------------------------------------------------------------

inline constexpr std::string_view kEmployeeTable = "Employee";
inline constexpr std::string_view kCustomerTable = "Customer";
inline constexpr std::string_view kOrderTable = "Order";
inline constexpr std::string_view kProductTable = "Product";

// Open orders are spread over this many partitions of the index OpenOrdersByDate, shards 0 to 4.
inline constexpr int kShards = 5;

// The four tables with their nine indexes.
ITEMDB_EXPORT std::vector<TableDefinition> TableDefinitions();

struct SampleItem {
  std::string table_name;
  Item item;
};

// The sample data: 5 employees, 5 customers, 5 orders with one line each, 2 products with 5 stock items.
ITEMDB_EXPORT std::vector<SampleItem> SampleData();

// Creates the tables that do not exist. FAILED_PRECONDITION with reason TABLE_DIFFERS: a table of that name
// exists with another definition. The message says what differs; tables before it in the order of
// TableDefinitions() may have been created.
ITEMDB_EXPORT absl::Status CreateTables(Client& client, CallOptions options = {});

struct LoadResult {
  // Items written by this call, and items not written because they, or their order or product, exist already.
  int written = 0;
  int kept = 0;
};

// Writes the part of the sample data that does not exist; the tables must exist. A second call changes
// nothing. An order with its lines is written in one transaction, a product with its stock too; neither
// replaces an item.
ITEMDB_EXPORT absl::StatusOr<LoadResult> Load(Client& client, CallOptions options = {});

// ---- what the patterns return --------------------------------------------------------------------

// A pattern sets the members that its table or index holds, and leaves the others empty.

struct Employee {
  std::string employee_id;
  std::string name;
  std::vector<std::string> phone_numbers;
  std::string warehouse_id;
  std::string job_title;
  std::string hire_date;
};

struct Customer {
  std::string customer_id;
  std::string name;
  std::vector<std::string> phone_numbers;
  std::string email;
  std::string account_rep_id;
};

struct OrderedProduct {
  std::string product_id;
  int64_t quantity = 0;
};

// An order header.
struct Order {
  std::string order_id;
  std::string customer_id;
  std::string order_date;
  // "OPEN" or "CLOSED".
  std::string status;
  std::string account_rep_id;
  std::optional<Number> total_amount;
  std::vector<OrderedProduct> order_items;
  // Set on open orders only.
  std::optional<int64_t> shard;
};

// A line of an order, as it is found by its product.
struct ProductOrder {
  std::string product_id;
  std::string order_id;
  std::string customer_id;
  std::string order_date;
  int64_t quantity = 0;
};

struct Stock {
  std::string product_id;
  std::string warehouse_id;
  int64_t quantity = 0;
};

struct ProductStock {
  std::string product_id;
  // Empty and 0 if the product has no metadata item.
  std::string product_name;
  std::string category;
  std::optional<Number> unit_price;
  int64_t total_inventory = 0;
  // In order of warehouse_id.
  std::vector<Stock> stock;
};

// Typed results one after another, fetched page by page as a program reads them; otherwise like ItemRange.
template <typename T>
class Results {
 public:
  using Source = absl::AnyInvocable<absl::StatusOr<std::optional<T>>()>;

  explicit Results(Source source) : source_(std::move(source)) {}

  // The next result, nothing at the end, or the error that ends the sequence. DATA_LOSS (reason
  // UNEXPECTED_ITEM): an attribute of an item does not have the type that order entry gives it.
  absl::StatusOr<std::optional<T>> Next() { return source_(); }

  // All remaining results, or the error.
  absl::StatusOr<std::vector<T>> ToVector() {
    std::vector<T> all;
    while (true) {
      absl::StatusOr<std::optional<T>> next = Next();
      if (!next.ok()) return next.status();
      if (!next->has_value()) return all;
      all.push_back(*std::move(*next));
    }
  }

 private:
  Source source_;
};

// ---- the access patterns -------------------------------------------------------------------------

// The first and the last date of a range, both included.
struct DateRange {
  std::string from;
  std::string to;
};

// 1. Empty when there is no such employee.
ITEMDB_EXPORT absl::StatusOr<std::optional<Employee>> EmployeeById(Client& client,
                                                                   const std::string& employee_id,
                                                                   CallOptions options = {});
// 2. In order of employee_id: names need not be unique.
ITEMDB_EXPORT Results<Employee> EmployeesByName(Client& client, const std::string& name,
                                                CallOptions options = {});
// 3. NOT_FOUND (reason NO_SUCH_EMPLOYEE).
ITEMDB_EXPORT absl::StatusOr<std::vector<std::string>> EmployeePhones(Client& client,
                                                                      const std::string& employee_id,
                                                                      CallOptions options = {});
// 4. NOT_FOUND (reason NO_SUCH_CUSTOMER).
ITEMDB_EXPORT absl::StatusOr<std::vector<std::string>> CustomerPhones(Client& client,
                                                                      const std::string& customer_id,
                                                                      CallOptions options = {});
// 5. In date order.
ITEMDB_EXPORT Results<Order> CustomerOrders(Client& client, const std::string& customer_id,
                                            const DateRange& dates, CallOptions options = {});
// 6. In date order, merged from kShards queries that run in parallel on at most kShards threads. Pages are
// fetched when the merge needs them. Destroying the results waits for a fetch under way.
ITEMDB_EXPORT Results<Order> OpenOrders(Client& client, const DateRange& dates, CallOptions options = {});
// 7. Hired on or after `since`, in date order.
ITEMDB_EXPORT Results<Employee> RecentHires(Client& client, const std::string& since,
                                            CallOptions options = {});
// 8. In order of employee_id.
ITEMDB_EXPORT Results<Employee> WarehouseEmployees(Client& client, const std::string& warehouse_id,
                                                   CallOptions options = {});
// 9. In order of order_id.
ITEMDB_EXPORT Results<ProductOrder> ProductOrders(Client& client, const std::string& product_id,
                                                  CallOptions options = {});
// 10. Empty when there is neither product nor stock.
ITEMDB_EXPORT absl::StatusOr<std::optional<ProductStock>> ProductInventory(Client& client,
                                                                           const std::string& product_id,
                                                                           CallOptions options = {});
// 11. In order of customer_id.
ITEMDB_EXPORT Results<Customer> RepCustomers(Client& client, const std::string& account_rep_id,
                                             CallOptions options = {});
// 12. In date order.
ITEMDB_EXPORT Results<Order> RepOrders(Client& client, const std::string& account_rep_id,
                                       CallOptions options = {});
// 13. In order of employee_id.
ITEMDB_EXPORT Results<Employee> EmployeesByTitle(Client& client, const std::string& job_title,
                                                 CallOptions options = {});

struct StockKey {
  std::string product_id;
  std::string warehouse_id;
};

// 14. Empty when the product was never in that warehouse.
ITEMDB_EXPORT absl::StatusOr<std::optional<int64_t>> Inventory(Client& client, const StockKey& key,
                                                               CallOptions options = {});
// 15. Empty when there is no such product.
ITEMDB_EXPORT absl::StatusOr<std::optional<int64_t>> TotalInventory(Client& client,
                                                                    const std::string& product_id,
                                                                    CallOptions options = {});

// ---- the access patterns by name -----------------------------------------------------------------

struct PatternParameter {
  // For example "employee-id".
  std::string_view name;
  // The value in the example of the order-entry document.
  std::string_view default_value;
};

struct AccessPattern {
  // 1 to 15.
  int number = 0;
  // For example "employee-by-id".
  std::string_view name;
  // One line for people.
  std::string_view title;
  // "GetItem" or "Query".
  std::string_view operation;
  std::string_view table_name;
  // Empty if the pattern reads the table itself.
  std::optional<std::string_view> index_name;
  std::vector<PatternParameter> parameters;
};

// All 15, in order of number.
ITEMDB_EXPORT const std::vector<AccessPattern>& AccessPatterns();

// The pattern with this name or this number as text; null if there is none. Valid until the process ends.
ITEMDB_EXPORT const AccessPattern* FindPatternOrNull(std::string_view name_or_number);

// The items that a pattern returns, with the attributes that the table or index holds. `arguments` are the
// pattern's parameters in order; missing ones have their defaults. INVALID_ARGUMENT: more arguments than
// parameters, or an empty one. The range returns the errors of the requests.
ITEMDB_EXPORT absl::StatusOr<ItemRange> RunPattern(Client& client, const AccessPattern& pattern,
                                                   const std::vector<std::string>& arguments,
                                                   CallOptions options = {});

// ---- writes --------------------------------------------------------------------------------------

struct NewOrderLine {
  std::string product_id;
  // At least 1.
  int64_t quantity = 0;
  // The price of one piece at the time of the sale.
  Number price;
  // The warehouse whose stock is reduced.
  std::string warehouse_id;
};

struct NewOrder {
  std::string order_id;
  std::string customer_id;
  std::string order_date;
  std::string account_rep_id;
  // 1 to 33 lines, each with a different product (a transaction has at most 100 actions).
  std::vector<NewOrderLine> lines;
  // Default: the exact sum of quantity times price.
  std::optional<Number> total_amount = std::nullopt;
  // 0 to kShards - 1. Default: a hash of order_id chooses it.
  std::optional<int> shard = std::nullopt;
};

struct PlacedOrder {
  uint64_t change_sequence = 0;
  int shard = 0;
  Number total_amount;
};

// Stores the order as OPEN with its lines, and subtracts each line's quantity from its warehouse's stock and
// from the product's total, all in one transaction. ALREADY_EXISTS (reason ORDER_EXISTS): an order with this
// id exists. FAILED_PRECONDITION (OUT_OF_STOCK): the message names each line that lacks stock, the requested
// and the available quantity. NOT_FOUND (NO_SUCH_PRODUCT). INVALID_ARGUMENT: a line, the date or the shard is
// out of bounds, two lines have the same product, a warehouse has the product's name, or the default total
// has more than 38 digits.
ITEMDB_EXPORT absl::StatusOr<PlacedOrder> PlaceOrder(Client& client, const NewOrder& order,
                                                     CallOptions options = {});

// Sets the order to CLOSED and removes it from the index of open orders. NOT_FOUND (NO_SUCH_ORDER).
// FAILED_PRECONDITION (ORDER_NOT_OPEN): the order is closed already.
ITEMDB_EXPORT absl::StatusOr<WriteResult> CloseOrder(Client& client, const std::string& order_id,
                                                     CallOptions options = {});

// The result of MoveStock and Restock.
struct StockResult {
  uint64_t change_sequence = 0;
};

struct StockMove {
  std::string product_id;
  std::string from_warehouse_id;
  std::string to_warehouse_id;
  // At least 1.
  int64_t quantity = 0;
};

// Moves stock between two warehouses in one transaction; the product's total stays the same. The receiving
// warehouse may be new. FAILED_PRECONDITION (OUT_OF_STOCK): the giving warehouse has less than the quantity.
// INVALID_ARGUMENT: the warehouses are the same, one has the product's name, or the quantity is below 1.
ITEMDB_EXPORT absl::StatusOr<StockResult> MoveStock(Client& client, const StockMove& move,
                                                    CallOptions options = {});

struct StockDelivery {
  std::string product_id;
  std::string warehouse_id;
  // At least 1.
  int64_t quantity = 0;
};

// Adds to a warehouse's stock and to the product's total in one transaction. The warehouse may be new.
// NOT_FOUND (NO_SUCH_PRODUCT).
ITEMDB_EXPORT absl::StatusOr<StockResult> Restock(Client& client, const StockDelivery& delivery,
                                                  CallOptions options = {});

}  // namespace itemdb::order_entry
