// Questions on a table whose sort keys are paths: a customer's orders, and the items below them.
//
//   itemctl model apply examples/ecommerce_single_table     # creates the table with its items
//   example_ecommerce_single_table [ENDPOINT]
#include <itemdb/client.h>
#include <itemdb/expression.h>

#include <iostream>
#include <set>
#include <string>

#include "shared/ask.h"
#include "shared/command_line.h"

using example::Need;
using example::Show;
using itemdb::Attr;
using itemdb::Compose;
using itemdb::Filter;
using itemdb::GetItemRequest;
using itemdb::Item;
using itemdb::Key;
using itemdb::KeyCondition;
using itemdb::QueryRequest;
using itemdb::Where;

namespace {

constexpr char kTable[] = "ecommerce";
constexpr char kAlice[] = "CUSTOMER#12345";

QueryRequest Branch(const KeyCondition& condition) {
  return Compose(QueryRequest{.table_name = kTable}, Where(condition));
}

// Down the path: one request answers each question.
void AskDown(const itemdb::Client& client) {
  Show(client, "1. a customer",
       GetItemRequest{.table_name = kTable, .key = {{"PK", kAlice}, {"SK", "METADATA"}}});
  Show(client, "2. a customer with all orders and their items", Branch(Key("PK") == kAlice));
  const QueryRequest orders = Branch(Key("PK") == kAlice && Key("SK").BeginsWith("ORDER#"));
  Show(client, "3. all orders of a customer with their items", orders);
  Show(client, "4. the orders of a customer alone", Compose(orders, Filter(Attr("order_date").Exists())));
  Show(client, "5. the items of an order",
       Branch(Key("PK") == kAlice && Key("SK").BeginsWith("ORDER#98765#ITEM#")));
  Show(client, "6. an order with its items, as a range",
       Branch(Key("PK") == kAlice && Key("SK").Between("ORDER#98765", "ORDER#98765#~")));
}

// Up the path: the index holds the customers' keys.
void AskUp(const itemdb::Client& client) {
  const std::vector<Item> ordered =
      Show(client, "7. up the hierarchy: the customers who ordered a product",
           Compose(QueryRequest{.table_name = kTable, .index_name = "ProductCustomers"},
                   Where(Key("product_id") == "ABC")));

  // The index does not hold names, because every item of every order would need a copy of its customer's
  // name. One further request reads them for all customers at once, each customer once.
  std::set<std::string> customers;
  for (const Item& item : ordered) customers.insert(*item.find_or_null("PK")->string_or_null());
  itemdb::KeysAndAttributes wanted{.table_name = kTable};
  for (const std::string& customer : customers) wanted.keys.push_back({{"PK", customer}, {"SK", "METADATA"}});
  const itemdb::BatchGetItemResult found = Need(client.BatchGetItem({.request_items = {wanted}}));
  example::ShowQuestion("And their names");
  std::cout << "   BatchGetItem ecommerce, " << wanted.keys.size() << " keys (1 request)\n";
  for (const auto& item : found.tables.front().items) {
    if (item) std::cout << "   " << example::ToJson(*item) << "\n";
  }
}

// A filter is applied after reading, so it must not replace a key condition.
void AskWrong(const itemdb::Client& client) {
  const absl::StatusOr<example::Answer> refused =
      example::Ask(client, Compose(Branch(Key("PK") == kAlice), Filter(Attr("SK").BeginsWith("ORDER#"))));
  example::ShowQuestion("The prefix of the sort key as a filter");
  std::cout << "   refused (1 request): " << refused.status().message() << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  const example::CommandLine line = example::ReadCommandLine(argc, argv);
  const itemdb::Client client = Need(itemdb::Client::Open({.endpoint = line.endpoint}));
  AskDown(client);
  AskUp(client);
  AskWrong(client);
}
