// The adjacency list at volume: generated orders.
#pragma once

#include <itemdb/client.h>

#include <cstdint>

namespace adjacency_list {

// Fills the table Adjacency.generated, which is like Adjacency, with `count` orders of three lines, a fifth
// of them open, a customer for every 50 of them and 1,000 products (the same for the same seed), and prints
// what questions take.
void AskManyOrders(const itemdb::Client& client, int64_t count, int64_t seed);

}  // namespace adjacency_list
