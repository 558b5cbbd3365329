// The access patterns as typed functions: requests of patterns.cc, results decoded by decode.cc.
#include <utility>

#include "client/errors_internal.h"
#include "client/order_entry/decode.h"
#include "client/order_entry/patterns.h"
#include "common/status_macros.h"

namespace itemdb::order_entry {
namespace {

// Decodes each item when the program reads the result.
template <typename T>
Results<T> Decoded(ItemRange items, absl::StatusOr<T> (*decode)(const Item&)) {
  return Results<T>([items = std::move(items), decode]() mutable -> absl::StatusOr<std::optional<T>> {
    ITEMDB_ASSIGN_OR_RETURN(std::optional<Item> item, items.Next());
    if (!item.has_value()) return std::nullopt;
    ITEMDB_ASSIGN_OR_RETURN(T decoded, decode(*item));
    return decoded;
  });
}

absl::StatusOr<std::vector<std::string>> Phones(ItemRange items, const char* reason,
                                                const std::string& missing) {
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<Item> item, items.Next());
  if (!item.has_value()) return MakeError(absl::StatusCode::kNotFound, reason, missing);
  return DecodePhoneNumbers(*item);
}

absl::StatusOr<std::optional<int64_t>> Quantity(ItemRange items, const char* attribute) {
  ITEMDB_ASSIGN_OR_RETURN(const std::optional<Item> item, items.Next());
  if (!item.has_value()) return std::nullopt;
  ITEMDB_ASSIGN_OR_RETURN(const int64_t quantity, DecodeInteger(*item, attribute));
  return quantity;
}

}  // namespace

absl::StatusOr<std::optional<Employee>> EmployeeById(Client& client, const std::string& employee_id,
                                                     CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kEmployeeById, {employee_id}, options), DecodeEmployee).Next();
}

Results<Employee> EmployeesByName(Client& client, const std::string& name, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kEmployeesByName, {name}, options), DecodeEmployee);
}

absl::StatusOr<std::vector<std::string>> EmployeePhones(Client& client, const std::string& employee_id,
                                                        CallOptions options) {
  return Phones(PatternItems(client, Pattern::kEmployeePhones, {employee_id}, options), "NO_SUCH_EMPLOYEE",
                "there is no employee " + employee_id);
}

absl::StatusOr<std::vector<std::string>> CustomerPhones(Client& client, const std::string& customer_id,
                                                        CallOptions options) {
  return Phones(PatternItems(client, Pattern::kCustomerPhones, {customer_id}, options), "NO_SUCH_CUSTOMER",
                "there is no customer " + customer_id);
}

Results<Order> CustomerOrders(Client& client, const std::string& customer_id, const DateRange& dates,
                              CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kCustomerOrders, {customer_id, dates.from, dates.to}, options),
                 DecodeOrder);
}

Results<Order> OpenOrders(Client& client, const DateRange& dates, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kOpenOrders, {dates.from, dates.to}, options), DecodeOrder);
}

Results<Employee> RecentHires(Client& client, const std::string& since, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kRecentHires, {since}, options), DecodeEmployee);
}

Results<Employee> WarehouseEmployees(Client& client, const std::string& warehouse_id, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kWarehouseEmployees, {warehouse_id}, options), DecodeEmployee);
}

Results<ProductOrder> ProductOrders(Client& client, const std::string& product_id, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kProductOrders, {product_id}, options), DecodeProductOrder);
}

absl::StatusOr<std::optional<ProductStock>> ProductInventory(Client& client, const std::string& product_id,
                                                             CallOptions options) {
  ItemRange items = PatternItems(client, Pattern::kProductInventory, {product_id}, options);
  std::optional<ProductStock> product;
  for (const Item& item : items) {
    ITEMDB_ASSIGN_OR_RETURN(Stock stock, DecodeStock(item));
    if (stock.warehouse_id == product_id) {
      ITEMDB_ASSIGN_OR_RETURN(ProductStock metadata, DecodeProduct(item));
      // The stock of warehouses whose ids sort before the product id comes before the metadata.
      if (product.has_value()) metadata.stock = std::move(product->stock);
      product = std::move(metadata);
      continue;
    }
    if (!product.has_value()) product.emplace().product_id = product_id;
    product->stock.push_back(std::move(stock));
  }
  if (!items.status().ok()) return items.status();
  return product;
}

Results<Customer> RepCustomers(Client& client, const std::string& account_rep_id, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kRepCustomers, {account_rep_id}, options), DecodeCustomer);
}

Results<Order> RepOrders(Client& client, const std::string& account_rep_id, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kRepOrders, {account_rep_id}, options), DecodeOrder);
}

Results<Employee> EmployeesByTitle(Client& client, const std::string& job_title, CallOptions options) {
  return Decoded(PatternItems(client, Pattern::kEmployeesByTitle, {job_title}, options), DecodeEmployee);
}

absl::StatusOr<std::optional<int64_t>> Inventory(Client& client, const StockKey& key, CallOptions options) {
  return Quantity(PatternItems(client, Pattern::kInventory, {key.product_id, key.warehouse_id}, options),
                  "inventory_quantity");
}

absl::StatusOr<std::optional<int64_t>> TotalInventory(Client& client, const std::string& product_id,
                                                      CallOptions options) {
  return Quantity(PatternItems(client, Pattern::kTotalInventory, {product_id}, options), "total_inventory");
}

}  // namespace itemdb::order_entry
