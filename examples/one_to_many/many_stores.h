// Strategy 5 with many items: generated stores.
#pragma once

#include <itemdb/client.h>

#include <cstdint>

namespace one_to_many {

// Fills the table Stores.generated, which is like Stores, with `count` stores (the same seed gives the same
// stores) and prints the cost of its queries.
void AskManyStores(const itemdb::Client& client, int64_t count, int64_t seed);

}  // namespace one_to_many
