// Checks whether a history fits one order of operations. Each function returns a description of the first
// contradiction, or an empty text.
#pragma once

#include <string>

#include "tests/storage/histories/history.h"

namespace itemdb::testing {

// Replays the operations in the order of their change sequences. Every answer, also that of a refused
// condition, must equal the model's, and the changes must give exactly the sequences in the answers. Of
// operations with the same sequence, the one that made the change comes first.
std::string ReplayBySequence(const History& history);

// An operation that ended before another one began must not have the larger sequence.
std::string CheckRealTimeOrder(const History& history);

// Searches an order that explains all answers and in which no operation comes before one that ended before it
// began; does not use the sequences (linearizability, by the search of Wing and Gong, with a memory of
// visited places). In the worst case the search is exponential: after `max_tries` it gives up, which counts
// as a contradiction.
std::string CheckLinearizable(const History& history, int max_tries = 1'000'000);

}  // namespace itemdb::testing
