// The GoogleTest failures of the present round, of all threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace itemdb::torture {

// Call once, before all else.
void CollectFailures();
// Whether there is a failure since the last TakeFailures.
bool HasFailed();
// The messages of the first failures.
std::vector<std::string> TakeFailures();

}  // namespace itemdb::torture
