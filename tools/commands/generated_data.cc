#include "tools/commands/generated_data.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/civil_time.h"
#include "itemdb/order_entry.h"

namespace itemdb::tools {
namespace {

constexpr uint64_t kLines = 3;
constexpr uint64_t kItemsOfOrder = 1 + kLines;
constexpr uint64_t kStockOfProduct = 4;
constexpr uint64_t kItemsOfProduct = 1 + kStockOfProduct;
constexpr uint64_t kWarehouses = 10;
constexpr uint64_t kDays = 730;
// Stock in each warehouse, enough for any number of orders.
constexpr int64_t kStock = 1'000'000'000;

// The purpose of a random number. The values must be distinct.
enum Purpose : uint64_t {
  kCustomer = 1,
  kDate,
  kOpen,
  kShard,
  kFirstProduct,
  kSecondProduct,
  kThirdProduct,
  kQuantity,  // This and the next two values: one for each order line.
  kHouseNumber = 12,
  kStreet,
  kCustomerPhone = 20,
  kName = 30,
  kEmployeePhone,
  kWarehouse,
  kJobTitle,
  kHireDate,
};

// The output function of the generator splitmix64.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::string Date(uint64_t day) {
  return absl::FormatCivilTime(absl::CivilDay(2024, 1, 1) + static_cast<int64_t>(day));
}

uint64_t PriceCents(uint64_t product) { return 100 + product * 7'919 % 9'900; }

Number Money(uint64_t cents) {
  // Text in this format is always a number, so parsing cannot fail.
  return Number::Parse(absl::StrFormat("%d.%02d", cents / 100, cents % 100)).value();
}

std::string Phone(uint64_t random) { return absl::StrFormat("+1-555-%04d", random % 10'000); }
std::string CustomerId(uint64_t customer) { return absl::StrFormat("cust_%07d", customer); }
std::string RepId(uint64_t rep) { return absl::StrFormat("rep_%04d", rep); }
std::string ProductId(uint64_t product) { return absl::StrFormat("prod_%06d", product); }
std::string WarehouseId(uint64_t warehouse) { return absl::StrFormat("wh_%02d", warehouse); }

void Append(std::string_view table, Item item, std::vector<BatchPut>* items) {
  items->push_back({.table_name = std::string(table), .item = std::move(item)});
}

}  // namespace

GeneratedData::GeneratedData(const GeneratedSizes& sizes) : sizes_(sizes) {
  if (sizes_.customers == 0) sizes_.customers = std::max<uint64_t>(1, sizes_.orders / 50);
  account_reps_ = std::max<uint64_t>(1, sizes_.customers / 100);
}

uint64_t GeneratedData::entity_count() const {
  return sizes_.employees + sizes_.customers + sizes_.products + sizes_.orders;
}

uint64_t GeneratedData::item_count() const {
  return sizes_.employees + sizes_.customers + sizes_.products * kItemsOfProduct +
         sizes_.orders * kItemsOfOrder;
}

void GeneratedData::AppendEntity(uint64_t number, std::vector<BatchPut>* items) const {
  if (number < sizes_.employees) return AppendEmployee(number, items);
  number -= sizes_.employees;
  if (number < sizes_.customers) return AppendCustomer(number, items);
  number -= sizes_.customers;
  if (number < sizes_.products) return AppendProduct(number, items);
  AppendOrder(number - sizes_.products, items);
}

std::string GeneratedData::OrderId(uint64_t order) {
  return absl::StrFormat("ord_%08x", (order * 2'654'435'761ull) & 0xffffffffull);
}

uint64_t GeneratedData::Random(uint64_t number, uint64_t purpose) const {
  const uint64_t seeded = 0x9e3779b97f4a7c15ull * (sizes_.seed + 1);
  return Mix(seeded + (Mix(seeded + number) ^ (purpose * 0xd6e8feb86659fd93ull)));
}

void GeneratedData::AppendEmployee(uint64_t employee, std::vector<BatchPut>* items) const {
  static constexpr const char* kTitles[] = {"Manager", "Associate", "Supervisor", "Analyst"};
  Append(order_entry::kEmployeeTable,
         {{"employee_id", absl::StrFormat("emp_%06d", employee)},
          {"name", absl::StrFormat("Name %d", Random(employee, kName) % 900)},
          {"phone_numbers", Value::List({Phone(Random(employee, kEmployeePhone))})},
          {"warehouse_id", WarehouseId(Random(employee, kWarehouse) % kWarehouses)},
          {"job_title", kTitles[Random(employee, kJobTitle) % std::size(kTitles)]},
          {"hire_date", Date(Random(employee, kHireDate) % kDays)},
          {"entity_type", "EMPLOYEE"}},
         items);
}

void GeneratedData::AppendCustomer(uint64_t customer, std::vector<BatchPut>* items) const {
  Append(order_entry::kCustomerTable,
         {{"customer_id", CustomerId(customer)},
          {"name", absl::StrFormat("Company %d", customer)},
          {"phone_numbers", Value::List({Phone(Random(customer, kCustomerPhone))})},
          {"email", absl::StrFormat("contact@c%d.example", customer)},
          {"account_rep_id", RepId(customer % account_reps_)}},
         items);
}

void GeneratedData::AppendProduct(uint64_t product, std::vector<BatchPut>* items) const {
  static constexpr const char* kCategories[] = {"Hardware", "Electronics", "Garden",
                                                "Office",   "Toys",        "Books"};
  const std::string id = ProductId(product);
  Append(order_entry::kProductTable,
         {{"product_id", id},
          {"warehouse_id", id},
          {"product_name", absl::StrFormat("Product %d", product)},
          {"category", kCategories[product % std::size(kCategories)]},
          {"unit_price", Money(PriceCents(product))},
          {"total_inventory", kStock * static_cast<int64_t>(kStockOfProduct)}},
         items);
  for (uint64_t stock = 0; stock < kStockOfProduct; ++stock) {
    Append(order_entry::kProductTable,
           {{"product_id", id},
            {"warehouse_id", WarehouseId((product % kWarehouses + 3 * stock) % kWarehouses)},
            {"inventory_quantity", kStock}},
           items);
  }
}

void GeneratedData::AppendOrder(uint64_t order, std::vector<BatchPut>* items) const {
  static constexpr const char* kStreets[] = {"Oak", "Elm", "Pine", "Lake", "Hill", "Main", "Park", "Cedar"};
  const std::string id = OrderId(order);
  const uint64_t customer = Random(order, kCustomer) % sizes_.customers;
  const std::string date = Date(Random(order, kDate) % kDays);
  const bool open = Random(order, kOpen) % 5 == 0;

  // Each product comes at most a third of all products after the previous one, so the three are distinct.
  const uint64_t reach = sizes_.products / kLines;
  uint64_t products[kLines];
  products[0] = Random(order, kFirstProduct) % sizes_.products;
  products[1] = (products[0] + 1 + Random(order, kSecondProduct) % reach) % sizes_.products;
  products[2] = (products[1] + 1 + Random(order, kThirdProduct) % reach) % sizes_.products;

  uint64_t total_cents = 0;
  std::vector<Value> order_items;
  std::vector<Item> lines;
  for (uint64_t line = 0; line < kLines; ++line) {
    const std::string product_id = ProductId(products[line]);
    const uint64_t quantity = 1 + Random(order, kQuantity + line) % 10;
    const uint64_t cents = PriceCents(products[line]);
    total_cents += quantity * cents;
    order_items.push_back(Value::Map({{"product_id", product_id}, {"qty", quantity}}));
    lines.push_back({{"PK", id},
                     {"SK", product_id},
                     {"order_id", id},
                     {"product_id", product_id},
                     {"customer_id", CustomerId(customer)},
                     {"order_date", date},
                     {"quantity", quantity},
                     {"price", Money(cents)}});
  }
  Item header{{"PK", id},
              {"SK", id},
              {"order_id", id},
              {"customer_id", CustomerId(customer)},
              {"order_date", date},
              {"status", open ? "OPEN" : "CLOSED"},
              {"account_rep_id", RepId(customer % account_reps_)},
              {"total_amount", Money(total_cents)},
              {"order_items", Value::List(std::move(order_items))},
              {"ship_to", absl::StrFormat("%03d %s St, SEA", Random(order, kHouseNumber) % 1'000,
                                          kStreets[Random(order, kStreet) % std::size(kStreets)])}};
  if (open) header.Set("shard", Random(order, kShard) % order_entry::kShards);
  Append(order_entry::kOrderTable, std::move(header), items);
  for (Item& line : lines) Append(order_entry::kOrderTable, std::move(line), items);
}

}  // namespace itemdb::tools
