// The 15 questions of order entry on four tables, answered by order_entry.h of the client library.
//
//   example_order_entry [ENDPOINT]      # creates tables and sample data that do not exist
#include <itemdb/order_entry.h>

#include <iostream>
#include <string>

#include "shared/ask.h"
#include "shared/command_line.h"

using namespace itemdb::order_entry;  // NOLINT: the application is what this program is about.
using example::Need;

int main(int argc, char** argv) {
  const example::CommandLine line = example::ReadCommandLine(argc, argv);
  itemdb::Client client = Need(itemdb::Client::Open({.endpoint = line.endpoint}));
  Need(CreateTables(client));
  Need(Load(client));

  // By name, with items as they are stored. Each pattern is one request, except that of open orders: they are
  // spread over shards, as one partition would get too many requests, and queried in parallel.
  for (const AccessPattern& pattern : AccessPatterns()) {
    example::Answer answer;
    answer.items = Need(Need(RunPattern(client, pattern, {})).ToVector());
    answer.requests = pattern.name == "open-orders" ? kShards : 1;
    answer.asked = std::string(pattern.operation) + " " + std::string(pattern.table_name);
    if (pattern.index_name) answer.asked += ", index " + std::string(*pattern.index_name);
    example::ShowQuestion(std::to_string(pattern.number) + ". " + std::string(pattern.title));
    example::ShowRequest(answer);
    example::ShowItems(answer.items);
  }

  // As functions that return C++ structs.
  example::ShowQuestion("The orders of a customer as types of C++ (1 request)");
  for (const Order& order :
       Need(CustomerOrders(client, "cust_001", {"2025-01-01", "2025-12-31"}).ToVector())) {
    std::cout << "   " << order.order_date << " " << order.order_id << " " << order.status << "\n";
  }
}
