#include "adjacency_list/adjacency.h"

#include <itemdb/expression.h>
#include <itemdb/item_traits.h>

#include <utility>

namespace adjacency_list {
namespace {

using itemdb::Attr;
using itemdb::Compose;
using itemdb::If;
using itemdb::ItemBuilder;
using itemdb::Key;
using itemdb::KeyCondition;
using itemdb::Project;
using itemdb::TransactDelete;
using itemdb::TransactPut;
using itemdb::TransactUpdate;
using itemdb::Update;
using itemdb::Where;

constexpr char kTable[] = "Adjacency";

// Keys begin with the kind of the entity, so that ids of different kinds are never equal.
std::string EmployeeKey(const std::string& id) { return "HR-EMPLOYEE#" + id; }
std::string JobKey(const std::string& title) { return "HR-JOB#" + title; }
std::string CustomerKey(const std::string& id) { return "OE-CUSTOMER#" + id; }
std::string OrderKey(const std::string& id) { return "OE-ORDER#" + id; }
std::string ProductKey(const std::string& id) { return "OE-PRODUCT#" + id; }
std::string RepKey(const std::string& id) { return "OE-REP#" + id; }
std::string WarehouseKey(const std::string& id) { return "OE-WAREHOUSE#" + id; }
constexpr char kHired[] = "HIRED";

std::string StateDate(const std::string& date) { return "OPEN#" + date; }

ItemBuilder Start(const std::string& pk, const std::string& sk, const std::string& data, const char* type) {
  return std::move(ItemBuilder().With("PK", pk).With("SK", sk).With("Data", data).With("Type", type));
}

QueryRequest Partition(const KeyCondition& condition) {
  return Compose(QueryRequest{.table_name = kTable}, Where(condition));
}

// The inverted index: items whose sort key is a given one, such as the edges that point to an entity.
QueryRequest Inverted(const KeyCondition& condition) {
  return Compose(QueryRequest{.table_name = kTable, .index_name = "GSI1"}, Where(condition));
}

}  // namespace

// ---- items ---------------------------------------------------------------------------------------

std::vector<Item> ItemsOf(const Employee& employee) {
  const std::string key = EmployeeKey(employee.employee_id);
  const auto item = [&](const std::string& sk, const std::string& data, const char* type) {
    return Start(key, sk, data, type)
        .With("employee_id", employee.employee_id)
        .With("name", employee.name)
        .With("phone_numbers", employee.phone_numbers)
        .Build();
  };
  return {item(employee.name, key, "employee"),
          item(JobKey(employee.job_title), employee.hire_date, "job of employee"),
          item(kHired, employee.hire_date, "hire date of employee"),
          item(WarehouseKey(employee.warehouse_id), key, "warehouse of employee")};
}

std::vector<Item> ItemsOf(const Customer& customer) {
  return {Start(CustomerKey(customer.customer_id), RepKey(customer.account_rep_id),
                CustomerKey(customer.name), "customer")
              .With("customer_id", customer.customer_id)
              .With("name", customer.name)
              .With("email", customer.email)
              .With("phone_numbers", customer.phone_numbers)
              .Build()};
}

std::vector<Item> ItemsOf(const Order& order, const std::vector<NewOrderLine>& lines, int shard) {
  const std::string key = OrderKey(order.order_id);
  const auto header = [&](const std::string& sk, const std::string& data, const char* type) {
    return Start(key, sk, data, type)
        .With("order_id", order.order_id)
        .With("customer_id", order.customer_id)
        .With("order_date", order.order_date)
        .With("status", order.status)
        .With("total_amount", order.total_amount)
        .Build();
  };
  std::vector<Item> items = {
      header(CustomerKey(order.customer_id), order.order_date, "order"),
      header(RepKey(order.account_rep_id), OrderKey(order.order_date), "account representative of order")};
  if (order.status == "OPEN") {
    items.front().Set("OpenShard", shard);
    items.front().Set("StateDate", StateDate(order.order_date));
  }
  for (const NewOrderLine& line : lines) {
    items.push_back(Start(key, ProductKey(line.product_id), order.order_date, "product of order")
                        .With("order_id", order.order_id)
                        .With("customer_id", order.customer_id)
                        .With("product_id", line.product_id)
                        .With("quantity", line.quantity)
                        .With("price", line.price)
                        .Build());
  }
  return items;
}

std::vector<Item> ItemsOf(const ProductStock& product) {
  const std::string key = ProductKey(product.product_id);
  std::vector<Item> items = {Start(key, product.product_name, key, "product")
                                 .With("product_id", product.product_id)
                                 .With("product_name", product.product_name)
                                 .With("category", product.category)
                                 .With("unit_price", product.unit_price)
                                 .With("total_inventory", product.total_inventory)
                                 .Build()};
  for (const itemdb::order_entry::Stock& stock : product.stock) {
    items.push_back(Start(key, WarehouseKey(stock.warehouse_id), key, "stock of product")
                        .With("product_id", product.product_id)
                        .With("warehouse_id", stock.warehouse_id)
                        .With("inventory_quantity", stock.quantity)
                        .Build());
  }
  return items;
}

std::optional<Employee> EmployeeOf(const std::vector<Item>& partition) {
  if (partition.empty()) return std::nullopt;
  Employee employee;
  for (const Item& item : partition) {
    std::string sk, data;
    itemdb::ItemReader(item)
        .Read("SK", sk)
        .Read("Data", data)
        .Read("employee_id", employee.employee_id)
        .Read("name", employee.name)
        .Read("phone_numbers", employee.phone_numbers);
    if (sk == kHired) employee.hire_date = data;
    if (sk.starts_with(JobKey(""))) employee.job_title = sk.substr(JobKey("").size());
    if (sk.starts_with(WarehouseKey(""))) employee.warehouse_id = sk.substr(WarehouseKey("").size());
  }
  return employee;
}

// ---- the access patterns -------------------------------------------------------------------------

QueryRequest EmployeeById(const std::string& employee_id) {
  return Partition(Key("PK") == EmployeeKey(employee_id));
}

QueryRequest EmployeesByName(const std::string& name) {
  return Inverted(Key("SK") == name && Key("Data").BeginsWith(EmployeeKey("")));
}

QueryRequest EmployeePhones(const std::string& employee_id) {
  return Compose(EmployeeById(employee_id), Filter(Attr("Type") == "employee"),
                 Project({Attr("phone_numbers")}));
}

QueryRequest CustomerPhones(const std::string& customer_id) {
  return Compose(Partition(Key("PK") == CustomerKey(customer_id)), Project({Attr("phone_numbers")}));
}

QueryRequest CustomerOrders(const std::string& customer_id, const DateRange& dates) {
  return Inverted(Key("SK") == CustomerKey(customer_id) && Key("Data").Between(dates.from, dates.to));
}

QueryRequest OpenOrdersInShard(const DateRange& dates, int shard) {
  return Compose(QueryRequest{.table_name = kTable, .index_name = "GSI2"},
                 Where(Key("OpenShard") == shard &&
                       Key("StateDate").Between(StateDate(dates.from), StateDate(dates.to))));
}

ShardedQuery OpenOrders(const DateRange& dates) {
  return {.request = {.table_name = kTable,
                      .index_name = "GSI2",
                      .key_condition_expression = "OpenShard = :shard AND StateDate BETWEEN :from AND :to",
                      .expression_attribute_values = {{":from", StateDate(dates.from)},
                                                      {":to", StateDate(dates.to)}}},
          .shards = itemdb::ShardNumbers(kShards),
          .order_by = {"StateDate", "order_id"}};
}

QueryRequest RecentHires(const std::string& since) {
  return Inverted(Key("SK") == kHired && Key("Data") >= since);
}

QueryRequest WarehouseEmployees(const std::string& warehouse_id) {
  return Inverted(Key("SK") == WarehouseKey(warehouse_id) && Key("Data").BeginsWith(EmployeeKey("")));
}

QueryRequest ProductOrders(const std::string& product_id) {
  return Inverted(Key("SK") == ProductKey(product_id));
}

QueryRequest ProductInventory(const std::string& product_id) {
  return Partition(Key("PK") == ProductKey(product_id) && Key("SK").BeginsWith(WarehouseKey("")));
}

QueryRequest RepCustomers(const std::string& account_rep_id) {
  return Inverted(Key("SK") == RepKey(account_rep_id) && Key("Data").BeginsWith(CustomerKey("")));
}

QueryRequest RepOrders(const std::string& account_rep_id) {
  return Inverted(Key("SK") == RepKey(account_rep_id) && Key("Data").BeginsWith(OrderKey("")));
}

QueryRequest EmployeesByTitle(const std::string& job_title) {
  return Inverted(Key("SK") == JobKey(job_title));
}

GetItemRequest Inventory(const std::string& product_id, const std::string& warehouse_id) {
  return {.table_name = kTable, .key = {{"PK", ProductKey(product_id)}, {"SK", WarehouseKey(warehouse_id)}}};
}

GetItemRequest TotalInventory(const std::string& product_id, const std::string& product_name) {
  return {.table_name = kTable, .key = {{"PK", ProductKey(product_id)}, {"SK", product_name}}};
}

// ---- writes --------------------------------------------------------------------------------------

namespace {

TransactUpdate UpdateOf(const std::string& pk, const std::string& sk) {
  return {.table_name = kTable, .key = {{"PK", pk}, {"SK", sk}}, .update_expression = ""};
}

}  // namespace

TransactWriteItemsRequest CloseOrder(const Order& order) {
  const std::string key = OrderKey(order.order_id);
  return {
      .actions = {
          Compose(UpdateOf(key, CustomerKey(order.customer_id)),
                  Update().Set(Attr("status"), "CLOSED").Remove(Attr("OpenShard")).Remove(Attr("StateDate")),
                  If(Attr("status") == "OPEN")),
          Compose(UpdateOf(key, RepKey(order.account_rep_id)), Update().Set(Attr("status"), "CLOSED"),
                  If(Attr("PK").Exists()))}};
}

TransactWriteItemsRequest RenameEmployee(const Employee& employee, const std::string& name) {
  TransactWriteItemsRequest request;
  request.actions.push_back(
      Compose(TransactDelete{.table_name = kTable,
                             .key = {{"PK", EmployeeKey(employee.employee_id)}, {"SK", employee.name}}},
              If(Attr("PK").Exists())));
  Employee renamed = employee;
  renamed.name = name;
  for (Item& item : ItemsOf(renamed)) {
    request.actions.push_back(TransactPut{.table_name = kTable, .item = std::move(item)});
  }
  return request;
}

}  // namespace adjacency_list
