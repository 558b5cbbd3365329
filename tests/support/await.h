// Waiting for what is to come by itself.
#pragma once

#include <chrono>
#include <thread>

namespace itemdb::testing {

// Until `condition` is true; false when it is not for minutes.
template <typename Condition>
bool Await(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(3);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace itemdb::testing
