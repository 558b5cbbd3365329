// Whether a history fits one order of operations. Each function returns the first contradiction in words, and
// nothing when there is none.
#pragma once

#include <string>

#include "tests/storage/histories/history.h"

namespace itemdb::testing {

// Replays the operations in the order of their change sequences: every answer, refused conditions included,
// must be the model's, and the changes must make exactly the sequences that were answered. Of operations with
// one sequence the one that made the change comes first.
std::string ReplayBySequence(const History& history);

// An operation that ended before another began never has the larger sequence.
std::string CheckRealTimeOrder(const History& history);

// Searches an order that explains all answers and in which nothing comes before what had ended when it began,
// without a look at the sequences (linearizability, by the search of Wing and Gong; what was tried is
// remembered). The search is exponential in the worst case: it gives up, as a contradiction, after
// `max_tries`.
std::string CheckLinearizable(const History& history, int max_tries = 1'000'000);

}  // namespace itemdb::testing
