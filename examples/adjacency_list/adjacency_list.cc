// The 15 questions of order entry on one table of entities and edges.
//
//   itemctl model apply examples/adjacency_list     # creates the table with its items
//   example_adjacency_list [ENDPOINT]
//   example_adjacency_list [ENDPOINT] --orders 2000000   # questions on a table with 2,000,000 orders
#include <itemdb/client.h>

#include "adjacency_list/adjacency.h"
#include "adjacency_list/many_orders.h"
#include "shared/ask.h"
#include "shared/command_line.h"

using namespace adjacency_list;  // NOLINT: the model is what this program is about.
using example::Need;
using example::Show;

namespace {

constexpr char kFrom[] = "2025-01-01";
constexpr char kTo[] = "2026-12-31";

void AskAll(const itemdb::Client& client) {
  Show(client, "1. an employee by id, with all edges", EmployeeById("emp_001"));
  Show(client, "2. employees of a name", EmployeesByName("John Smith"));
  Show(client, "3. the phone numbers of an employee", EmployeePhones("emp_001"));
  Show(client, "4. the phone numbers of a customer", CustomerPhones("cust_001"));
  Show(client, "5. orders of a customer between two dates",
       CustomerOrders("cust_001", {kFrom, "2025-12-31"}));
  // Several requests: open orders are in shards, as one partition would get too many requests.
  Show(client, "6. open orders between two dates, of every shard, as one for all would be too busy",
       OpenOrders({kFrom, kTo}));
  Show(client, "7. employees hired since a date", RecentHires(kFrom));
  Show(client, "8. employees of a warehouse", WarehouseEmployees("wh_sea"));
  Show(client, "9. orders of a product", ProductOrders("prod_100"));
  Show(client, "10. the stock of a product in all warehouses", ProductInventory("prod_100"));
  Show(client, "11. customers of an account representative", RepCustomers("rep_001"));
  Show(client, "12. orders of an account representative", RepOrders("rep_001"));
  Show(client, "13. employees of a job title", EmployeesByTitle("Manager"));
  Show(client, "14. the stock of a product in one warehouse", Inventory("prod_100", "wh_sea"));
  Show(client, "15. the stock of a product in total", TotalInventory("prod_100", "Widget A"));

  // The shard is a hash of the order id, so a reader who knows the id queries one shard.
  Show(client, "Is ord_002 among the open orders?",
       OpenOrdersInShard({kFrom, kTo}, itemdb::ShardOf("ord_002", kShards)));
}

// If no reader looks up an order by its id, the shard may be random. The item holds the shard in both cases.
void ShowRandomShard(const itemdb::Client& client) {
  const Order order{.order_id = "example",
                    .customer_id = "cust_001",
                    .order_date = "2027-01-01",
                    .status = "OPEN",
                    .account_rep_id = "rep_001",
                    .total_amount = itemdb::Number(10),
                    .order_items = {},
                    .shard = std::nullopt};
  itemdb::BatchWriteItemRequest put, gone;
  for (const Item& item : ItemsOf(order, {}, itemdb::RandomShard(kShards))) {
    put.writes.push_back(itemdb::BatchPut{"Adjacency", item});
    gone.writes.push_back(itemdb::BatchDelete{
        "Adjacency", {{"PK", *item.find_or_null("PK")}, {"SK", *item.find_or_null("SK")}}});
  }
  Need(client.BatchWriteItem(put));
  const DateRange day{order.order_date, order.order_date};
  Show(client, "An order in a shard that was drawn is found with the others", OpenOrders(day));
  Need(client.TransactWriteItems(CloseOrder(order)));
  Show(client, "Closed, it is in no shard", OpenOrders(day));
  Need(client.BatchWriteItem(gone));
}

}  // namespace

int main(int argc, char** argv) {
  const example::CommandLine line = example::ReadCommandLine(argc, argv, {"--orders", "--seed"});
  const itemdb::Client client = Need(itemdb::Client::Open({.endpoint = line.endpoint}));
  if (line.given("--orders")) {
    AskManyOrders(client, line.number("--orders", 0), line.number("--seed", 42));
  } else {
    AskAll(client);
    ShowRandomShard(client);
  }
}
