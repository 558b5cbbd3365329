#include "client/order_entry/patterns.h"

#include <utility>

#include "client/errors_internal.h"
#include "client/order_entry/schema.h"
#include "common/status_macros.h"
#include "itemdb/sharding.h"

namespace itemdb::order_entry {
namespace {

// ---- requests ------------------------------------------------------------------------------------

// All attribute names are #placeholders, because name, status and shard may be reserved words.

// The item of a GetItem, as a range of one or no item.
ItemRange OneItem(Client client, GetItemRequest request, CallOptions options) {
  return ItemRange([client = std::move(client), request = std::move(request), options,
                    done = false]() mutable -> absl::StatusOr<std::optional<Item>> {
    if (std::exchange(done, true)) return std::nullopt;
    ITEMDB_ASSIGN_OR_RETURN(GetItemResult result, client.GetItem(request, options));
    return std::move(result.item);
  });
}

// Reads only the attribute `name` of one item.
GetItemRequest AttributeOf(std::string_view table, Item key, const char* name) {
  return {.table_name = std::string(table),
          .key = std::move(key),
          .projection_expression = "#name",
          .expression_attribute_names = {{"#name", name}}};
}

// All items under one partition key of a table (`index` is empty) or of an index.
QueryRequest Collection(std::string_view table, const char* index, const char* attribute,
                        const std::string& value) {
  return {.table_name = std::string(table),
          .index_name = index,
          .key_condition_expression = "#pk = :pk",
          .expression_attribute_names = {{"#pk", attribute}},
          .expression_attribute_values = {{":pk", value}}};
}

QueryRequest Between(QueryRequest request, const char* attribute, const std::string& from,
                     const std::string& to) {
  request.key_condition_expression += " AND #sk BETWEEN :from AND :to";
  request.expression_attribute_names["#sk"] = attribute;
  request.expression_attribute_values[":from"] = from;
  request.expression_attribute_values[":to"] = to;
  return request;
}

QueryRequest AtLeast(QueryRequest request, const char* attribute, const std::string& from) {
  request.key_condition_expression += " AND #sk >= :from";
  request.expression_attribute_names["#sk"] = attribute;
  request.expression_attribute_values[":from"] = from;
  return request;
}

// The open orders between two dates in the shard `:shard`.
QueryRequest OpenOrdersOfAShard(const std::string& from, const std::string& to) {
  QueryRequest request = Collection(kOrderTable, kOpenOrdersByDate, "status", kOpen);
  request.key_condition_expression += " AND #shard = :shard";
  request.expression_attribute_names["#shard"] = "shard";
  return Between(std::move(request), "order_date", from, to);
}

ItemRange AllOpenOrders(const Client& client, const std::string& from, const std::string& to,
                        CallOptions options) {
  return QueryShards(client,
                     {.request = OpenOrdersOfAShard(from, to),
                      .shards = ShardNumbers(kShards),
                      .order_by = {"order_date", "order_id"}},
                     std::move(options));
}

// ---- the list ------------------------------------------------------------------------------------

std::vector<AccessPattern> MakePatterns() {
  std::vector<AccessPattern> patterns;
  const auto add = [&](Pattern pattern, std::string_view name, std::string_view title,
                       std::string_view operation, std::string_view table,
                       std::optional<std::string_view> index, std::vector<PatternParameter> parameters) {
    patterns.push_back({.number = static_cast<int>(pattern),
                        .name = name,
                        .title = title,
                        .operation = operation,
                        .table_name = table,
                        .index_name = index,
                        .parameters = std::move(parameters)});
  };
  add(Pattern::kEmployeeById, "employee-by-id", "an employee by id", "GetItem", kEmployeeTable, std::nullopt,
      {{"employee-id", "emp_001"}});
  add(Pattern::kEmployeesByName, "employees-by-name", "employees of a name", "Query", kEmployeeTable,
      kEmployeeByName, {{"name", "John Smith"}});
  add(Pattern::kEmployeePhones, "employee-phones", "the phone numbers of an employee", "GetItem",
      kEmployeeTable, std::nullopt, {{"employee-id", "emp_001"}});
  add(Pattern::kCustomerPhones, "customer-phones", "the phone numbers of a customer", "GetItem",
      kCustomerTable, std::nullopt, {{"customer-id", "cust_001"}});
  add(Pattern::kCustomerOrders, "customer-orders", "orders of a customer between two dates", "Query",
      kOrderTable, kOrderByCustomerDate,
      {{"customer-id", "cust_001"}, {"from", "2025-01-01"}, {"to", "2025-12-31"}});
  add(Pattern::kOpenOrders, "open-orders", "open orders between two dates", "Query", kOrderTable,
      kOpenOrdersByDate, {{"from", "2025-01-01"}, {"to", "2025-12-31"}});
  add(Pattern::kRecentHires, "recent-hires", "employees hired since a date", "Query", kEmployeeTable,
      kEmployeeByHireDate, {{"since", "2025-01-01"}});
  add(Pattern::kWarehouseEmployees, "warehouse-employees", "employees of a warehouse", "Query",
      kEmployeeTable, kEmployeeByWarehouse, {{"warehouse-id", "wh_sea"}});
  add(Pattern::kProductOrders, "product-orders", "order lines of a product", "Query", kOrderTable,
      kProductInOrders, {{"product-id", "prod_100"}});
  add(Pattern::kProductInventory, "product-inventory", "a product and its stock in all warehouses", "Query",
      kProductTable, std::nullopt, {{"product-id", "prod_100"}});
  add(Pattern::kRepCustomers, "rep-customers", "customers of an account representative", "Query",
      kCustomerTable, kCustomerByAccountRep, {{"account-rep-id", "rep_001"}});
  add(Pattern::kRepOrders, "rep-orders", "orders of an account representative", "Query", kOrderTable,
      kOrderByAccountRep, {{"account-rep-id", "rep_001"}});
  add(Pattern::kEmployeesByTitle, "employees-by-title", "employees of a job title", "Query", kEmployeeTable,
      kEmployeeByJobTitle, {{"job-title", "Manager"}});
  add(Pattern::kInventory, "inventory", "the stock of a product in one warehouse", "GetItem", kProductTable,
      std::nullopt, {{"product-id", "prod_100"}, {"warehouse-id", "wh_sea"}});
  add(Pattern::kTotalInventory, "total-inventory", "the total stock of a product", "GetItem", kProductTable,
      std::nullopt, {{"product-id", "prod_100"}});
  return patterns;
}

}  // namespace

ItemRange PatternItems(const Client& client, Pattern pattern, const std::vector<std::string>& arguments,
                       CallOptions options) {
  const auto& a = arguments;
  const Client& c = client;
  switch (pattern) {
    case Pattern::kEmployeeById:
      return OneItem(c, {.table_name = std::string(kEmployeeTable), .key = {{"employee_id", a[0]}}}, options);
    case Pattern::kEmployeesByName:
      return c.QueryAll(Collection(kEmployeeTable, kEmployeeByName, "name", a[0]), options);
    case Pattern::kEmployeePhones:
      return OneItem(c, AttributeOf(kEmployeeTable, {{"employee_id", a[0]}}, "phone_numbers"), options);
    case Pattern::kCustomerPhones:
      return OneItem(c, AttributeOf(kCustomerTable, {{"customer_id", a[0]}}, "phone_numbers"), options);
    case Pattern::kCustomerOrders:
      return c.QueryAll(Between(Collection(kOrderTable, kOrderByCustomerDate, "customer_id", a[0]),
                                "order_date", a[1], a[2]),
                        options);
    case Pattern::kOpenOrders:
      return AllOpenOrders(c, a[0], a[1], options);
    case Pattern::kRecentHires:
      return c.QueryAll(
          AtLeast(Collection(kEmployeeTable, kEmployeeByHireDate, "entity_type", kEmployeeEntity),
                  "hire_date", a[0]),
          options);
    case Pattern::kWarehouseEmployees:
      return c.QueryAll(Collection(kEmployeeTable, kEmployeeByWarehouse, "warehouse_id", a[0]), options);
    case Pattern::kProductOrders:
      return c.QueryAll(Collection(kOrderTable, kProductInOrders, "product_id", a[0]), options);
    case Pattern::kProductInventory:
      return c.QueryAll(Collection(kProductTable, "", "product_id", a[0]), options);
    case Pattern::kRepCustomers:
      return c.QueryAll(Collection(kCustomerTable, kCustomerByAccountRep, "account_rep_id", a[0]), options);
    case Pattern::kRepOrders:
      return c.QueryAll(Collection(kOrderTable, kOrderByAccountRep, "account_rep_id", a[0]), options);
    case Pattern::kEmployeesByTitle:
      return c.QueryAll(Collection(kEmployeeTable, kEmployeeByJobTitle, "job_title", a[0]), options);
    case Pattern::kInventory:
      return OneItem(
          c,
          {.table_name = std::string(kProductTable), .key = {{"product_id", a[0]}, {"warehouse_id", a[1]}}},
          options);
    case Pattern::kTotalInventory:
      break;
  }
  return OneItem(
      c, {.table_name = std::string(kProductTable), .key = {{"product_id", a[0]}, {"warehouse_id", a[0]}}},
      options);
}

const std::vector<AccessPattern>& AccessPatterns() {
  static const auto* patterns = new std::vector<AccessPattern>(MakePatterns());
  return *patterns;
}

const AccessPattern* FindPatternOrNull(std::string_view name_or_number) {
  for (const AccessPattern& pattern : AccessPatterns()) {
    if (pattern.name == name_or_number || std::to_string(pattern.number) == name_or_number) return &pattern;
  }
  return nullptr;
}

absl::StatusOr<ItemRange> RunPattern(Client& client, const AccessPattern& pattern,
                                     const std::vector<std::string>& arguments, CallOptions options) {
  const std::string name(pattern.name);
  if (FindPatternOrNull(name) == nullptr) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "there is no access pattern " + name);
  }
  if (arguments.size() > pattern.parameters.size()) {
    return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                     "the access pattern " + name + " takes at most " +
                         std::to_string(pattern.parameters.size()) + " arguments, not " +
                         std::to_string(arguments.size()));
  }
  std::vector<std::string> complete = arguments;
  for (size_t i = 0; i < pattern.parameters.size(); ++i) {
    if (i == complete.size()) complete.emplace_back(pattern.parameters[i].default_value);
    if (complete[i].empty()) {
      return MakeError(absl::StatusCode::kInvalidArgument, kReasonValidation,
                       "the argument " + std::string(pattern.parameters[i].name) + " of the access pattern " +
                           name + " is empty");
    }
  }
  return PatternItems(client, static_cast<Pattern>(pattern.number), complete, options);
}

}  // namespace itemdb::order_entry
