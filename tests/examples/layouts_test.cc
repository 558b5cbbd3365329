// Order entry in four tables and in one table (INC-30): both layouts, with different sort keys (INC-32), give
// the same answers on random data.
//
// ITEMDB_LAYOUT_SEEDS is the number of random databases: by default 50, in sanitizer builds 13.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adjacency_list/adjacency.h"
#include "itemdb/item_traits.h"
#include "itemdb/order_entry.h"
#include "itemdb/testing/fake_database.h"
#include "shared/ask.h"
#include "tests/examples/model_files.h"
#include "tests/examples/random_order_entry.h"
#include "tests/support/repetitions.h"

namespace itemdb::examples {
namespace {

using order_entry::Customer;
using order_entry::DateRange;
using order_entry::Employee;
using order_entry::Order;
using order_entry::ProductOrder;
using order_entry::ProductStock;
using order_entry::Stock;

constexpr char kMissing[] = "missing";

// An answer: one row for each entity found.
using Rows = std::vector<std::string>;

template <typename T, typename Row>
Rows RowsOf(const absl::StatusOr<std::vector<T>>& found, const Row& row) {
  EXPECT_TRUE(found.ok()) << found.status();
  Rows rows;
  if (found.ok()) {
    for (const T& one : *found) rows.push_back(row(one));
  }
  return rows;
}

// The attributes that both layouts have, as text. The date is first if the answer is in date order.
std::string Whole(const Employee& e) {
  return absl::StrCat(e.employee_id, "|", e.name, "|", absl::StrJoin(e.phone_numbers, ","), "|",
                      e.warehouse_id, "|", e.job_title, "|", e.hire_date);
}
std::string NameAndPhones(const Employee& e) {
  return absl::StrCat(e.employee_id, "|", e.name, "|", absl::StrJoin(e.phone_numbers, ","));
}
std::string NameOnly(const Employee& e) { return absl::StrCat(e.employee_id, "|", e.name); }
std::string HiredAndName(const Employee& e) {
  return absl::StrCat(e.hire_date, "|", e.employee_id, "|", e.name);
}
std::string CustomerRow(const Customer& c) { return absl::StrCat(c.customer_id, "|", c.name, "|", c.email); }
std::string OrderRow(const Order& o) {
  return absl::StrCat(o.order_date, "|", o.order_id, "|", o.customer_id, "|", o.status, "|",
                      o.total_amount.value_or(Number()).text());
}
std::string LineRow(const ProductOrder& l) {
  return absl::StrCat(l.order_date, "|", l.order_id, "|", l.product_id, "|", l.customer_id, "|", l.quantity);
}
std::string StockRow(const Stock& s) {
  return absl::StrCat(s.product_id, "|", s.warehouse_id, "|", s.quantity);
}

// ---- one table -----------------------------------------------------------------------------------

class OneTable {
 public:
  explicit OneTable(Client client) : client_(std::move(client)) {}

  std::vector<Item> Ask(const example::Request& request) {
    absl::StatusOr<example::Answer> answer = example::Ask(client_, request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? std::move(answer->items) : std::vector<Item>();
  }

  template <typename T, typename Row>
  Rows Find(const example::Request& request, T (*read)(const Item&), const Row& row) {
    Rows rows;
    for (const Item& item : Ask(request)) rows.push_back(row(read(item)));
    return rows;
  }

 private:
  Client client_;
};

// An attribute that the item does not have stays empty.
Employee ReadEmployee(const Item& item) {
  Employee e;
  EXPECT_TRUE(ItemReader(item)
                  .Read("employee_id", e.employee_id)
                  .Read("name", e.name)
                  .Read("phone_numbers", e.phone_numbers)
                  .Read("Data", e.hire_date)  // For edges with a date.
                  .status()
                  .ok());
  return e;
}
Customer ReadCustomer(const Item& item) {
  Customer c;
  EXPECT_TRUE(ItemReader(item)
                  .Read("customer_id", c.customer_id)
                  .Read("name", c.name)
                  .Read("email", c.email)
                  .status()
                  .ok());
  return c;
}
Order ReadOrder(const Item& item) {
  Order o;
  EXPECT_TRUE(ItemReader(item)
                  .Read("order_id", o.order_id)
                  .Read("customer_id", o.customer_id)
                  .Read("order_date", o.order_date)
                  .Read("status", o.status)
                  .Read("total_amount", o.total_amount)
                  .status()
                  .ok());
  return o;
}
ProductOrder ReadLine(const Item& item) {
  ProductOrder l;
  EXPECT_TRUE(ItemReader(item)
                  .Read("Data", l.order_date)
                  .Read("order_id", l.order_id)
                  .Read("product_id", l.product_id)
                  .Read("customer_id", l.customer_id)
                  .Read("quantity", l.quantity)
                  .status()
                  .ok());
  return l;
}
Stock ReadStock(const Item& item) {
  Stock s;
  EXPECT_TRUE(ItemReader(item)
                  .Read("product_id", s.product_id)
                  .Read("warehouse_id", s.warehouse_id)
                  .Read("inventory_quantity", s.quantity)
                  .status()
                  .ok());
  return s;
}

Rows PhonesIn(const std::vector<Item>& items) {
  Rows rows;
  for (const Item& item : items) {
    EXPECT_TRUE(ItemReader(item).Read("phone_numbers", rows).status().ok());
  }
  return rows;
}

Rows NumberIn(const std::vector<Item>& items, const char* attribute) {
  Rows rows;
  for (const Item& item : items) {
    int64_t number = 0;
    EXPECT_TRUE(ItemReader(item).Read(attribute, number).status().ok());
    rows.push_back(absl::StrCat(number));
  }
  return rows;
}

// ---- four tables ---------------------------------------------------------------------------------

void AppendTo(const char* table, Item item, BatchWriteItemRequest* request) {
  request->writes.push_back(BatchPut{table, std::move(item)});
}

// All items that order entry stores for `data`, table by table.
BatchWriteItemRequest FourTableItems(const OrderEntryData& data) {
  BatchWriteItemRequest all;
  for (const Employee& e : data.employees) {
    AppendTo("Employee",
             ItemBuilder()
                 .With("employee_id", e.employee_id)
                 .With("name", e.name)
                 .With("phone_numbers", e.phone_numbers)
                 .With("warehouse_id", e.warehouse_id)
                 .With("job_title", e.job_title)
                 .With("hire_date", e.hire_date)
                 .With("entity_type", "EMPLOYEE")
                 .Build(),
             &all);
  }
  for (const Customer& c : data.customers) {
    AppendTo("Customer",
             ItemBuilder()
                 .With("customer_id", c.customer_id)
                 .With("name", c.name)
                 .With("phone_numbers", c.phone_numbers)
                 .With("email", c.email)
                 .With("account_rep_id", c.account_rep_id)
                 .Build(),
             &all);
  }
  for (const ProductStock& p : data.products) {
    AppendTo("Product",
             ItemBuilder()
                 .With("product_id", p.product_id)
                 .With("warehouse_id", p.product_id)
                 .With("product_name", p.product_name)
                 .With("category", p.category)
                 .With("unit_price", p.unit_price)
                 .With("total_inventory", p.total_inventory)
                 .Build(),
             &all);
    for (const Stock& s : p.stock) {
      AppendTo("Product",
               {{"product_id", s.product_id},
                {"warehouse_id", s.warehouse_id},
                {"inventory_quantity", s.quantity}},
               &all);
    }
  }
  for (const auto& [o, lines] : data.orders) {
    Item header = ItemBuilder()
                      .With("PK", o.order_id)
                      .With("SK", o.order_id)
                      .With("order_id", o.order_id)
                      .With("customer_id", o.customer_id)
                      .With("order_date", o.order_date)
                      .With("status", o.status)
                      .With("account_rep_id", o.account_rep_id)
                      .With("total_amount", o.total_amount)
                      .Build();
    if (o.status == "OPEN") header.Set("shard", ShardOf(o.order_id, order_entry::kShards));
    AppendTo("Order", std::move(header), &all);
    for (const order_entry::NewOrderLine& line : lines) {
      AppendTo("Order",
               {{"PK", o.order_id},
                {"SK", line.product_id},
                {"order_id", o.order_id},
                {"product_id", line.product_id},
                {"customer_id", o.customer_id},
                {"order_date", o.order_date},
                {"quantity", line.quantity},
                {"price", line.price}},
               &all);
    }
  }
  return all;
}

BatchWriteItemRequest OneTableItems(const OrderEntryData& data) {
  BatchWriteItemRequest all;
  const auto append = [&](std::vector<Item> items) {
    for (Item& item : items) AppendTo("Adjacency", std::move(item), &all);
  };
  for (const Employee& employee : data.employees) append(adjacency_list::ItemsOf(employee));
  for (const Customer& customer : data.customers) append(adjacency_list::ItemsOf(customer));
  for (const ProductStock& product : data.products) append(adjacency_list::ItemsOf(product));
  for (const auto& [order, lines] : data.orders) {
    append(adjacency_list::ItemsOf(order, lines, ShardOf(order.order_id, adjacency_list::kShards)));
  }
  return all;
}

Rows PhoneRows(const absl::StatusOr<std::vector<std::string>>& phones) {
  if (phones.ok()) return *phones;
  EXPECT_EQ(phones.status().code(), absl::StatusCode::kNotFound) << phones.status();
  return {};
}

Rows NumberRows(const absl::StatusOr<std::optional<int64_t>>& number) {
  EXPECT_TRUE(number.ok()) << number.status();
  return number.ok() && number->has_value() ? Rows{absl::StrCat(**number)} : Rows();
}

// ---- both ----------------------------------------------------------------------------------------

class LayoutsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    database_ = *testing::FakeDatabase::Open();
    client_ = database_->NewClient();
  }

  void Load(const OrderEntryData& data) {
    for (const char* table : {"Employee", "Customer", "Order", "Product", "Adjacency"}) {
      (void)client_->DeleteTable(table);  // The table of the previous seed.
    }
    ASSERT_TRUE(order_entry::CreateTables(*client_).ok());
    absl::StatusOr<tools::ModelFolder> adjacency = ReadModel("adjacency_list");
    ASSERT_TRUE(adjacency.ok()) << adjacency.status();
    ASSERT_TRUE(client_->CreateTable(adjacency->FindTable("Adjacency")->definition).ok());
    for (const BatchWriteItemRequest& request : {FourTableItems(data), OneTableItems(data)}) {
      if (request.writes.empty()) continue;
      const auto written = client_->BatchWriteItem(request);
      ASSERT_TRUE(written.ok()) << written.status();
    }
  }

  // Closes half of the open orders and renames half of the employees, in both layouts.
  void Change(OrderEntryData& data, std::mt19937_64& random) {
    for (auto& made : data.orders) {
      if (made.order.status != "OPEN" || random() % 2 == 0) continue;
      ASSERT_TRUE(order_entry::CloseOrder(*client_, made.order.order_id).ok());
      const auto closed = client_->TransactWriteItems(adjacency_list::CloseOrder(made.order));
      ASSERT_TRUE(closed.ok()) << closed.status();
    }
    for (Employee& employee : data.employees) {
      if (random() % 2 == 0) continue;
      const std::string name = absl::StrCat("New ", employee.name);
      ASSERT_TRUE(client_
                      ->UpdateItem({.table_name = "Employee",
                                    .key = {{"employee_id", employee.employee_id}},
                                    .update_expression = "SET #name = :name",
                                    .expression_attribute_names = {{"#name", "name"}},
                                    .expression_attribute_values = {{":name", name}}})
                      .ok());
      const auto renamed = client_->TransactWriteItems(adjacency_list::RenameEmployee(employee, name));
      ASSERT_TRUE(renamed.ok()) << renamed.status();
      employee.name = name;
    }
  }

  // Compares the answers of both layouts to one question. With `in_date_order` the rows begin with dates,
  // which must ascend in both answers.
  void Compare(int pattern, const std::string& question, Rows four, Rows one, bool in_date_order = false) {
    if (in_date_order) {
      const auto by_date = [](const std::string& a, const std::string& b) {
        return a.substr(0, a.find('|')) < b.substr(0, b.find('|'));
      };
      EXPECT_TRUE(std::is_sorted(four.begin(), four.end(), by_date)) << pattern << " " << question;
      EXPECT_TRUE(std::is_sorted(one.begin(), one.end(), by_date)) << pattern << " " << question;
    }
    std::sort(four.begin(), four.end());
    std::sort(one.begin(), one.end());
    EXPECT_EQ(four, one) << "pattern " << pattern << " of " << question;
    ++asked_[pattern];
    if (!four.empty()) ++found_[pattern];
  }

  void CompareEmployees(const OrderEntryData& data);
  void CompareCustomersAndOrders(const OrderEntryData& data, std::mt19937_64& random);
  void CompareProducts(const OrderEntryData& data);

  std::unique_ptr<testing::FakeDatabase> database_;
  std::optional<Client> client_;
  // For each pattern: the number of questions, and of questions with a non-empty answer.
  std::map<int, int> asked_;
  std::map<int, int> found_;
};

void LayoutsTest::CompareEmployees(const OrderEntryData& data) {
  Client& client = *client_;
  OneTable one(client);
  std::vector<std::string> ids = {kMissing}, names = {kMissing};
  for (const Employee& employee : data.employees) {
    ids.push_back(employee.employee_id);
    names.push_back(employee.name);
  }
  for (const std::string& id : ids) {
    const auto four = order_entry::EmployeeById(client, id);
    ASSERT_TRUE(four.ok()) << four.status();
    const std::optional<Employee> found =
        adjacency_list::EmployeeOf(one.Ask(adjacency_list::EmployeeById(id)));
    Compare(1, id, four->has_value() ? Rows{Whole(**four)} : Rows(), found ? Rows{Whole(*found)} : Rows());
    Compare(3, id, PhoneRows(order_entry::EmployeePhones(client, id)),
            PhonesIn(one.Ask(adjacency_list::EmployeePhones(id))));
  }
  for (const std::string& name : names) {
    Compare(2, name, RowsOf(order_entry::EmployeesByName(client, name).ToVector(), NameAndPhones),
            one.Find(adjacency_list::EmployeesByName(name), ReadEmployee, NameAndPhones));
  }
  for (int date = 0; date < kDates; ++date) {
    const std::string since = DateNumber(date);
    Compare(7, since, RowsOf(order_entry::RecentHires(client, since).ToVector(), HiredAndName),
            one.Find(adjacency_list::RecentHires(since), ReadEmployee, HiredAndName), true);
  }
  for (int number = 0; number <= kFew; ++number) {  // The last number has no employees.
    const std::string warehouse = WarehouseNumber(number);
    Compare(8, warehouse, RowsOf(order_entry::WarehouseEmployees(client, warehouse).ToVector(), NameOnly),
            one.Find(adjacency_list::WarehouseEmployees(warehouse), ReadEmployee, NameOnly));
    const std::string title = TitleNumber(number);
    Compare(13, title, RowsOf(order_entry::EmployeesByTitle(client, title).ToVector(), HiredAndName),
            one.Find(adjacency_list::EmployeesByTitle(title), ReadEmployee, HiredAndName));
  }
}

void LayoutsTest::CompareCustomersAndOrders(const OrderEntryData& data, std::mt19937_64& random) {
  Client& client = *client_;
  OneTable one(client);
  const auto dates = [&] {
    const int from = static_cast<int>(random() % kDates);
    return DateRange{DateNumber(from), DateNumber(from + static_cast<int>(random() % kDates))};
  };
  std::vector<std::string> ids = {kMissing};
  for (const Customer& customer : data.customers) ids.push_back(customer.customer_id);
  for (const std::string& id : ids) {
    Compare(4, id, PhoneRows(order_entry::CustomerPhones(client, id)),
            PhonesIn(one.Ask(adjacency_list::CustomerPhones(id))));
    const DateRange range = dates();
    Compare(5, absl::StrCat(id, " ", range.from, " ", range.to),
            RowsOf(order_entry::CustomerOrders(client, id, range).ToVector(), OrderRow),
            one.Find(adjacency_list::CustomerOrders(id, range), ReadOrder, OrderRow), true);
  }
  for (int i = 0; i < 3; ++i) {
    const DateRange range = dates();
    Compare(6, absl::StrCat(range.from, " ", range.to),
            RowsOf(order_entry::OpenOrders(client, range).ToVector(), OrderRow),
            one.Find(adjacency_list::OpenOrders(range), ReadOrder, OrderRow), true);
  }
  for (int number = 0; number <= kFew; ++number) {
    const std::string rep = RepNumber(number);
    Compare(11, rep, RowsOf(order_entry::RepCustomers(client, rep).ToVector(), CustomerRow),
            one.Find(adjacency_list::RepCustomers(rep), ReadCustomer, CustomerRow));
    Compare(12, rep, RowsOf(order_entry::RepOrders(client, rep).ToVector(), OrderRow),
            one.Find(adjacency_list::RepOrders(rep), ReadOrder, OrderRow), true);
  }
}

void LayoutsTest::CompareProducts(const OrderEntryData& data) {
  Client& client = *client_;
  OneTable one(client);
  std::vector<ProductStock> products = data.products;
  products.emplace_back();
  products.back().product_id = products.back().product_name = kMissing;
  for (const ProductStock& product : products) {
    const std::string& id = product.product_id;
    Compare(9, id, RowsOf(order_entry::ProductOrders(client, id).ToVector(), LineRow),
            one.Find(adjacency_list::ProductOrders(id), ReadLine, LineRow));
    const auto four = order_entry::ProductInventory(client, id);
    ASSERT_TRUE(four.ok()) << four.status();
    Rows stock;
    if (four->has_value()) {
      for (const Stock& of_warehouse : (*four)->stock) stock.push_back(StockRow(of_warehouse));
    }
    Compare(10, id, stock, one.Find(adjacency_list::ProductInventory(id), ReadStock, StockRow));
    for (int number = 0; number <= kFew; ++number) {
      const std::string warehouse = WarehouseNumber(number);
      Compare(14, absl::StrCat(id, " ", warehouse),
              NumberRows(order_entry::Inventory(client, {id, warehouse})),
              NumberIn(one.Ask(adjacency_list::Inventory(id, warehouse)), "inventory_quantity"));
    }
    Compare(15, id, NumberRows(order_entry::TotalInventory(client, id)),
            NumberIn(one.Ask(adjacency_list::TotalInventory(id, product.product_name)), "total_inventory"));
  }
}

// The fifteen questions of order entry (SEED-041), answered from one table (SEED-042, SEED-043, SEED-044,
// SEED-045, SEED-046, SEED-047, SEED-048).
TEST_F(LayoutsTest, FourTablesAndOneGiveTheSameAnswers) {
  const char* more = std::getenv("ITEMDB_LAYOUT_SEEDS");
  const uint64_t seeds =
      more == nullptr ? testing::Repetitions<uint64_t>(50) : std::strtoull(more, nullptr, 10);
  for (uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    OrderEntryData data = RandomOrderEntry(random);
    ASSERT_NO_FATAL_FAILURE(Load(data));
    for (const bool changed : {false, true}) {
      SCOPED_TRACE(changed ? "after changes" : "as loaded");
      if (changed) {
        ASSERT_NO_FATAL_FAILURE(Change(data, random));
      }
      ASSERT_NO_FATAL_FAILURE(CompareEmployees(data));
      ASSERT_NO_FATAL_FAILURE(CompareCustomersAndOrders(data, random));
      ASSERT_NO_FATAL_FAILURE(CompareProducts(data));
    }
  }
  // Each pattern must have found something, otherwise equal answers prove nothing.
  for (int pattern = 1; pattern <= 15; ++pattern) {
    EXPECT_GT(found_[pattern], 0) << "pattern " << pattern << ", asked " << asked_[pattern] << " times";
  }
}

}  // namespace
}  // namespace itemdb::examples
