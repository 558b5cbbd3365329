#include "adjacency_list/many_orders.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "absl/time/civil_time.h"
#include "adjacency_list/adjacency.h"
#include "shared/volume.h"

namespace adjacency_list {
namespace {

constexpr char kTable[] = "Adjacency.generated";
constexpr uint64_t kProducts = 1'000;
constexpr uint64_t kReps = 100;
constexpr uint64_t kDays = 730;
constexpr uint64_t kOrdersOfCustomer = 50;

std::string CustomerId(uint64_t number) { return "cust_" + std::to_string(number); }
std::string RepId(uint64_t customer) { return "rep_" + std::to_string(customer % kReps); }
std::string ProductId(uint64_t number) { return "prod_" + std::to_string(number); }
// Spreads the numbers, so that orders are not loaded in key order.
std::string OrderId(uint64_t number) {
  return "ord_" + std::to_string(number * 2'654'435'761u % 4'294'967'296u);
}
std::string Date(uint64_t day) {
  return absl::FormatCivilTime(absl::CivilDay(2024, 1, 1) + static_cast<int64_t>(day));
}

void Put(example::Loader& loader, std::vector<Item> items) {
  for (Item& item : items) loader.Put(std::move(item));
}

void PutCustomer(example::Loader& loader, uint64_t number) {
  Put(loader, ItemsOf(Customer{.customer_id = CustomerId(number),
                               .name = "Company " + std::to_string(number),
                               .phone_numbers = {"+1-555-" + std::to_string(1'000 + number % 9'000)},
                               .email = CustomerId(number) + "@example.com",
                               .account_rep_id = RepId(number)}));
}

void PutProduct(example::Loader& loader, uint64_t number) {
  ProductStock product{.product_id = ProductId(number),
                       .product_name = "Product " + std::to_string(number),
                       .category = "Hardware",
                       .unit_price = itemdb::Number(number % 90 + 10),
                       .total_inventory = 300,
                       .stock = {}};
  for (const char* warehouse : {"wh_atl", "wh_pdx", "wh_sea"}) {
    product.stock.push_back({product.product_id, warehouse, 100});
  }
  Put(loader, ItemsOf(product));
}

void PutOrder(example::Loader& loader, uint64_t number, uint64_t customers, std::mt19937_64& random) {
  const uint64_t customer = random() % customers;
  Order order{.order_id = OrderId(number),
              .customer_id = CustomerId(customer),
              .order_date = Date(random() % kDays),
              .status = random() % 5 == 0 ? "OPEN" : "CLOSED",
              .account_rep_id = RepId(customer),
              .total_amount = itemdb::Number(0),
              .order_items = {},
              .shard = std::nullopt};
  std::vector<NewOrderLine> lines;
  int64_t total = 0;
  const uint64_t first_product = random();
  for (uint64_t line = 0; line < 3; ++line) {
    const int64_t price = static_cast<int64_t>(10 + random() % 90);
    const int64_t quantity = static_cast<int64_t>(1 + random() % 10);
    total += price * quantity;
    lines.push_back({.product_id = ProductId((first_product + line * 333) % kProducts),
                     .quantity = quantity,
                     .price = itemdb::Number(price),
                     .warehouse_id = "wh_sea"});
  }
  order.total_amount = itemdb::Number(total);
  Put(loader, ItemsOf(order, lines, itemdb::ShardOf(order.order_id, kShards)));
}

template <typename Request>
Request OfGenerated(Request request) {
  request.table_name = kTable;
  return request;
}

ShardedQuery OfGenerated(ShardedQuery query) {
  query.request.table_name = kTable;
  return query;
}

}  // namespace

void AskManyOrders(const itemdb::Client& client, int64_t count, int64_t seed) {
  const uint64_t orders = static_cast<uint64_t>(count);
  const uint64_t customers = std::max<uint64_t>(1, orders / kOrdersOfCustomer);
  example::CreateLike(client, "Adjacency", kTable);
  example::Loader loader(client, kTable);
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  for (uint64_t i = 0; i < customers; ++i) PutCustomer(loader, i);
  for (uint64_t i = 0; i < kProducts; ++i) PutProduct(loader, i);
  for (uint64_t i = 0; i < orders; ++i) PutOrder(loader, i, customers, random);
  loader.Finish();

  const DateRange week{Date(kDays - 7), Date(kDays - 1)}, all{Date(0), Date(kDays - 1)};
  example::ShowCost(client, "4. phone numbers of a customer", OfGenerated(CustomerPhones(CustomerId(0))));
  example::ShowCost(client, "5. orders of a customer", OfGenerated(CustomerOrders(CustomerId(0), all)));
  example::ShowCost(client, "6. open orders of a week", OfGenerated(OpenOrders(week)));
  example::ShowCost(client, "6. open orders of a week, in the shard of a known order",
                    OfGenerated(OpenOrdersInShard(week, itemdb::ShardOf(OrderId(0), kShards))));
  example::ShowCost(client, "6. all open orders", OfGenerated(OpenOrders(all)));
  example::ShowCost(client, "9. orders of a product", OfGenerated(ProductOrders(ProductId(0))));
  example::ShowCost(client, "10. stock of a product", OfGenerated(ProductInventory(ProductId(0))));
  example::ShowCost(client, "11. customers of an account representative",
                    OfGenerated(RepCustomers(RepId(0))));
}

}  // namespace adjacency_list
