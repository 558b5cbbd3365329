// The adjacency list with many items: generated orders.
#pragma once

#include <itemdb/client.h>

#include <cstdint>

namespace adjacency_list {

// Fills the table Adjacency.generated, which is like Adjacency, with `count` orders of three lines each, and
// prints the cost of queries. A fifth of the orders is open; there is one customer per 50 orders, and 1,000
// products. The same seed gives the same orders.
void AskManyOrders(const itemdb::Client& client, int64_t count, int64_t seed);

}  // namespace adjacency_list
