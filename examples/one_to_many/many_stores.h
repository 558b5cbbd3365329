// Strategy 5 at volume: generated stores.
#pragma once

#include <itemdb/client.h>

#include <cstdint>

namespace one_to_many {

// Fills the table Stores.generated, which is like Stores, with `count` stores (the same for the same seed)
// and prints what their questions take.
void AskManyStores(const itemdb::Client& client, int64_t count, int64_t seed);

}  // namespace one_to_many
