// The sample data, and loading it.
//
// The values are copied from the order-entry document. The totals are copied too and do not always equal
// quantity times price. The document shows the orders ord_004 and ord_005 only in its indexes; here they have
// headers and lines as well, with the products' unit prices.
#include <utility>

#include "client/errors_internal.h"
#include "client/order_entry/schema.h"

namespace itemdb::order_entry {
namespace {

// `text` is a literal in this file, so parsing it cannot fail.
Number Exact(const char* text) { return Number::Parse(text).value(); }

Value Texts(const std::vector<std::string>& texts) { return Value::List({texts.begin(), texts.end()}); }

struct EmployeeRow {
  const char* employee_id;
  const char* name;
  std::vector<std::string> phone_numbers;
  const char* warehouse_id;
  const char* job_title;
  const char* hire_date;
};

struct CustomerRow {
  const char* customer_id;
  const char* name;
  std::vector<std::string> phone_numbers;
  const char* email;
  const char* account_rep_id;
};

// An order with its only line. `shard` is -1 for a closed order.
struct OrderRow {
  const char* order_id;
  const char* customer_id;
  const char* order_date;
  const char* status;
  const char* account_rep_id;
  const char* total_amount;
  int shard;
  const char* product_id;
  int quantity;
  const char* price;
};

struct ProductRow {
  const char* product_id;
  const char* product_name;
  const char* category;
  const char* unit_price;
  int total_inventory;
  std::vector<std::pair<const char*, int>> stock;
};

const std::vector<EmployeeRow>& Employees() {
  static const auto* rows = new std::vector<EmployeeRow>{
      {"emp_001", "John Smith", {"+1-555-0101"}, "wh_sea", "Manager", "2024-03-15"},
      {"emp_002", "Jane Doe", {"+1-555-0102", "+1-555-0103"}, "wh_sea", "Associate", "2025-01-10"},
      {"emp_003", "Bob Wilson", {"+1-555-0104"}, "wh_pdx", "Associate", "2025-06-20"},
      {"emp_004", "Alice Brown", {"+1-555-0105"}, "wh_pdx", "Supervisor", "2023-11-05"},
      {"emp_005", "Charlie Davis", {"+1-555-0106"}, "wh_sea", "Associate", "2025-12-01"},
  };
  return *rows;
}

const std::vector<CustomerRow>& Customers() {
  static const auto* rows = new std::vector<CustomerRow>{
      {"cust_001", "Acme Corp", {"+1-555-1001"}, "contact@acme.com", "rep_001"},
      {"cust_002", "TechStart Inc", {"+1-555-1002", "+1-555-1003"}, "info@techstart.com", "rep_001"},
      {"cust_003", "Global Traders", {"+1-555-1004"}, "sales@globaltraders.com", "rep_002"},
      {"cust_004", "BuildRight LLC", {"+1-555-1005"}, "orders@buildright.com", "rep_002"},
      {"cust_005", "FastShip Co", {"+1-555-1006"}, "support@fastship.com", "rep_003"},
  };
  return *rows;
}

const std::vector<OrderRow>& Orders() {
  static const auto* rows = new std::vector<OrderRow>{
      {"ord_001", "cust_001", "2025-11-15", kClosed, "rep_001", "225.00", -1, "prod_100", 5, "25.00"},
      {"ord_002", "cust_001", "2025-12-20", kOpen, "rep_001", "150.00", 0, "prod_101", 10, "15.00"},
      {"ord_003", "cust_002", "2026-01-05", kOpen, "rep_001", "175.00", 2, "prod_100", 3, "25.00"},
      {"ord_004", "cust_003", "2025-10-10", kClosed, "rep_002", "250.00", -1, "prod_101", 5, "50.00"},
      {"ord_005", "cust_004", "2026-01-03", kOpen, "rep_002", "200.00", 1, "prod_100", 20, "25.00"},
  };
  return *rows;
}

const std::vector<ProductRow>& Products() {
  static const auto* rows = new std::vector<ProductRow>{
      {"prod_100", "Widget A", "Hardware", "25.00", 500, {{"wh_sea", 200}, {"wh_pdx", 150}, {"wh_atl", 150}}},
      {"prod_101", "Gadget B", "Electronics", "50.00", 300, {{"wh_sea", 100}, {"wh_pdx", 200}}},
  };
  return *rows;
}

Item OrderHeader(const OrderRow& row) {
  Item item{
      {"PK", row.order_id},
      {"SK", row.order_id},
      {"order_id", row.order_id},
      {"customer_id", row.customer_id},
      {"order_date", row.order_date},
      {"status", row.status},
      {"account_rep_id", row.account_rep_id},
      {"total_amount", Exact(row.total_amount)},
      {"order_items", Value::List({Value::Map({{"product_id", row.product_id}, {"qty", row.quantity}})})}};
  if (row.shard >= 0) item.Set("shard", row.shard);
  return item;
}

Item OrderLine(const OrderRow& row) {
  return {{"PK", row.order_id},           {"SK", row.product_id},           {"order_id", row.order_id},
          {"product_id", row.product_id}, {"customer_id", row.customer_id}, {"order_date", row.order_date},
          {"quantity", row.quantity},     {"price", Exact(row.price)}};
}

// Items that are written in one transaction because they belong together.
struct Aggregate {
  std::string_view table_name;
  // The condition of each put is attribute_not_exists on this attribute: no item is replaced.
  const char* partition_key;
  std::vector<Item> items;
};

std::vector<Aggregate> Aggregates() {
  std::vector<Aggregate> aggregates;
  for (const EmployeeRow& row : Employees()) {
    aggregates.push_back({kEmployeeTable,
                          "employee_id",
                          {{{"employee_id", row.employee_id},
                            {"name", row.name},
                            {"phone_numbers", Texts(row.phone_numbers)},
                            {"warehouse_id", row.warehouse_id},
                            {"job_title", row.job_title},
                            {"hire_date", row.hire_date},
                            {"entity_type", kEmployeeEntity}}}});
  }
  for (const CustomerRow& row : Customers()) {
    aggregates.push_back({kCustomerTable,
                          "customer_id",
                          {{{"customer_id", row.customer_id},
                            {"name", row.name},
                            {"phone_numbers", Texts(row.phone_numbers)},
                            {"email", row.email},
                            {"account_rep_id", row.account_rep_id}}}});
  }
  for (const OrderRow& row : Orders()) {
    aggregates.push_back({kOrderTable, "PK", {OrderHeader(row), OrderLine(row)}});
  }
  for (const ProductRow& row : Products()) {
    Aggregate& product = aggregates.emplace_back(Aggregate{kProductTable, "product_id", {}});
    product.items.push_back({{"product_id", row.product_id},
                             {"warehouse_id", row.product_id},
                             {"product_name", row.product_name},
                             {"category", row.category},
                             {"unit_price", Exact(row.unit_price)},
                             {"total_inventory", row.total_inventory}});
    for (const auto& [warehouse_id, quantity] : row.stock) {
      product.items.push_back(
          {{"product_id", row.product_id}, {"warehouse_id", warehouse_id}, {"inventory_quantity", quantity}});
    }
  }
  return aggregates;
}

// True if the transaction failed only because some of its items exist.
bool OnlyExisting(const absl::Status& status) {
  const std::vector<CancellationReason> reasons = CancellationReasons(status);
  for (const CancellationReason& reason : reasons) {
    if (reason.code != CancellationReason::Code::kNone &&
        reason.code != CancellationReason::Code::kConditionalCheckFailed) {
      return false;
    }
  }
  return !reasons.empty();
}

}  // namespace

std::vector<SampleItem> SampleData() {
  std::vector<SampleItem> data;
  for (Aggregate& aggregate : Aggregates()) {
    for (Item& item : aggregate.items) {
      data.push_back({.table_name = std::string(aggregate.table_name), .item = std::move(item)});
    }
  }
  return data;
}

absl::StatusOr<LoadResult> Load(Client& client, CallOptions options) {
  LoadResult result;
  for (Aggregate& aggregate : Aggregates()) {
    const int count = static_cast<int>(aggregate.items.size());
    TransactWriteItemsRequest request;
    for (Item& item : aggregate.items) {
      request.actions.push_back(
          TransactPut{.table_name = std::string(aggregate.table_name),
                      .item = std::move(item),
                      .condition_expression = "attribute_not_exists(#pk)",
                      .expression_attribute_names = {{"#pk", aggregate.partition_key}}});
    }
    const absl::StatusOr<TransactWriteItemsResult> written = client.TransactWriteItems(request, options);
    if (written.ok()) {
      result.written += count;
    } else if (OnlyExisting(written.status())) {
      result.kept += count;
    } else {
      return written.status();
    }
  }
  return result;
}

}  // namespace itemdb::order_entry
