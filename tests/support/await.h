// Waiting for a condition.
#pragma once

#include <chrono>
#include <thread>

namespace itemdb::testing {

// Waits until `condition` is true; false after three minutes.
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
