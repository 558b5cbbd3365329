// The capacity units that requests have used of one table or index, whether or not they ask for them.
#pragma once

#include <atomic>
#include <cstdint>

namespace itemdb::storage {

// Thread-safe.
class UsedUnits {
 public:
  // Of whole and half units.
  void AddRead(double units) {
    read_halves_.fetch_add(static_cast<uint64_t>(2 * units), std::memory_order_relaxed);
  }
  // Of whole units.
  void AddWrite(double units) {
    write_units_.fetch_add(static_cast<uint64_t>(units), std::memory_order_relaxed);
  }

  double read() const { return static_cast<double>(read_halves_.load(std::memory_order_relaxed)) / 2; }
  double write() const { return static_cast<double>(write_units_.load(std::memory_order_relaxed)); }

 private:
  std::atomic<uint64_t> read_halves_ = 0;
  std::atomic<uint64_t> write_units_ = 0;
};

}  // namespace itemdb::storage
