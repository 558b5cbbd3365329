// The four tables.
//
// clang-format off
//   table     key                       items
//   --------  ------------------------  -------------------------------------------------------------------
//   Employee  employee_id               employees
//   Customer  customer_id               customers
//   Order     PK, SK                    header: PK = SK = order_id; line: PK = order_id, SK = product_id
//   Product   product_id, warehouse_id  metadata with total_inventory: warehouse_id = product_id;
//                                       stock with inventory_quantity: warehouse_id = a warehouse
// clang-format on
//
// Lines must stay out of the indexes of headers, and closed orders out of the index of open orders. Therefore
// only headers have `status`, which is in the key of OrderByCustomerDate; only headers have `account_rep_id`;
// and only open headers have `shard`.
#include <utility>

#include "client/errors_internal.h"
#include "client/order_entry/schema.h"
#include "common/status_macros.h"

namespace itemdb::order_entry {
namespace {

constexpr ScalarAttributeType kS = ScalarAttributeType::kString;
constexpr ScalarAttributeType kN = ScalarAttributeType::kNumber;

using Names = std::vector<std::string>;

std::vector<KeySchemaElement> Key(const Names& hash, const Names& range) {
  std::vector<KeySchemaElement> key_schema;
  for (const std::string& name : hash)
    key_schema.push_back({.attribute_name = name, .key_type = KeyType::kHash});
  for (const std::string& name : range)
    key_schema.push_back({.attribute_name = name, .key_type = KeyType::kRange});
  return key_schema;
}

// An index that projects the keys and `include`.
GlobalSecondaryIndex Index(const char* name, std::vector<KeySchemaElement> key_schema, Names include) {
  return {
      .index_name = name,
      .key_schema = std::move(key_schema),
      .projection = {.projection_type = ProjectionType::kInclude, .non_key_attributes = std::move(include)}};
}

TableDefinition EmployeeTable() {
  return {.table_name = std::string(kEmployeeTable),
          .attribute_definitions = {{"employee_id", kS},
                                    {"name", kS},
                                    {"warehouse_id", kS},
                                    {"job_title", kS},
                                    {"entity_type", kS},
                                    {"hire_date", kS}},
          .key_schema = Key({"employee_id"}, {}),
          .global_secondary_indexes = {
              Index(kEmployeeByName, Key({"name"}, {"employee_id"}),
                    {"phone_numbers", "warehouse_id", "job_title", "hire_date"}),
              Index(kEmployeeByWarehouse, Key({"warehouse_id"}, {"employee_id"}),
                    {"name", "job_title", "hire_date"}),
              Index(kEmployeeByJobTitle, Key({"job_title"}, {"employee_id"}),
                    {"name", "warehouse_id", "hire_date"}),
              Index(kEmployeeByHireDate, Key({"entity_type"}, {"hire_date"}), {"name", "warehouse_id"}),
          }};
}

TableDefinition CustomerTable() {
  return {.table_name = std::string(kCustomerTable),
          .attribute_definitions = {{"customer_id", kS}, {"account_rep_id", kS}},
          .key_schema = Key({"customer_id"}, {}),
          .global_secondary_indexes = {
              Index(kCustomerByAccountRep, Key({"account_rep_id"}, {"customer_id"}), {"name", "email"}),
          }};
}

TableDefinition OrderTable() {
  return {.table_name = std::string(kOrderTable),
          .attribute_definitions = {{"PK", kS},
                                    {"SK", kS},
                                    {"customer_id", kS},
                                    {"order_date", kS},
                                    {"status", kS},
                                    {"shard", kN},
                                    {"account_rep_id", kS},
                                    {"product_id", kS},
                                    {"order_id", kS}},
          .key_schema = Key({"PK"}, {"SK"}),
          .global_secondary_indexes = {
              Index(kOrderByCustomerDate, Key({"customer_id"}, {"order_date", "status"}),
                    {"order_id", "total_amount", "order_items", "shard"}),
              Index(kOpenOrdersByDate, Key({"status", "shard"}, {"order_date"}),
                    {"order_id", "customer_id", "account_rep_id", "order_items", "total_amount"}),
              Index(kOrderByAccountRep, Key({"account_rep_id"}, {"order_date"}),
                    {"order_id", "customer_id", "status", "total_amount"}),
              Index(kProductInOrders, Key({"product_id"}, {"order_id"}),
                    {"customer_id", "order_date", "quantity"}),
          }};
}

TableDefinition ProductTable() {
  return {.table_name = std::string(kProductTable),
          .attribute_definitions = {{"product_id", kS}, {"warehouse_id", kS}},
          .key_schema = Key({"product_id"}, {"warehouse_id"})};
}

}  // namespace

std::vector<TableDefinition> TableDefinitions() {
  return {EmployeeTable(), CustomerTable(), OrderTable(), ProductTable()};
}

namespace {

// How `existing` lacks something that the patterns need of `wanted`; empty if it lacks nothing. A further
// index, stream, tag or other setting of the existing table does no harm.
std::string WhatIsMissing(const TableDefinition& wanted, const TableDefinition& existing) {
  TableDefinition needed = existing;
  const auto is_wanted = [&wanted](const GlobalSecondaryIndex& index) {
    return std::any_of(wanted.global_secondary_indexes.begin(), wanted.global_secondary_indexes.end(),
                       [&index](const auto& one) { return one.index_name == index.index_name; });
  };
  std::erase_if(needed.global_secondary_indexes, [&](const auto& index) { return !is_wanted(index); });
  needed.local_secondary_indexes = wanted.local_secondary_indexes;
  std::erase_if(needed.attribute_definitions, [&wanted](const AttributeDefinition& attribute) {
    return std::none_of(
        wanted.attribute_definitions.begin(), wanted.attribute_definitions.end(),
        [&attribute](const auto& one) { return one.attribute_name == attribute.attribute_name; });
  });
  needed.billing_mode = wanted.billing_mode;
  needed.provisioned_throughput = wanted.provisioned_throughput;
  needed.stream_view_type = wanted.stream_view_type;
  return DescribeDifference(wanted, needed);
}

}  // namespace

absl::Status CreateTables(Client& client, CallOptions options) {
  for (const TableDefinition& wanted : TableDefinitions()) {
    const absl::StatusOr<TableResult> created = client.CreateTable(wanted, options);
    if (created.ok()) continue;
    if (!absl::IsAlreadyExists(created.status())) return created.status();
    ITEMDB_ASSIGN_OR_RETURN(const TableResult existing, client.DescribeTable(wanted.table_name, options));
    const std::string difference = WhatIsMissing(wanted, existing.table.definition);
    if (!difference.empty()) {
      return MakeError(absl::StatusCode::kFailedPrecondition, "TABLE_DIFFERS",
                       "the table " + wanted.table_name + " exists, but is not the order-entry one: " +
                           difference + "; delete it first or use another database");
    }
  }
  return absl::OkStatus();
}

}  // namespace itemdb::order_entry
