// What RocksDB counts for metrics.
//
// Instead of RocksDB's own statistics, which keep all counters and histograms for each processor: nobody
// reads the others.
#pragma once

#include <array>
#include <atomic>

#include "rocksdb/statistics.h"
#include "storage/api/database_figures.h"

namespace itemdb::storage {

// Shared by the stores that are opened one after another. Thread-safe.
class StoreCounters final : public rocksdb::Statistics {
 public:
  StoreCounters();

  const char* Name() const override { return "itemdb.counters"; }
  uint64_t getTickerCount(uint32_t ticker) const override;
  void recordTick(uint32_t ticker, uint64_t count) override;
  void setTickerCount(uint32_t ticker, uint64_t count) override;
  uint64_t getAndResetTickerCount(uint32_t ticker) override;
  // There are no histograms.
  void histogramData(uint32_t, rocksdb::HistogramData*) const override {}
  void recordInHistogram(uint32_t, uint64_t) override {}
  bool HistEnabledForType(uint32_t) const override { return false; }

  StoreTotals Totals() const;

 private:
  static constexpr size_t kCounters = 10;
  // The place of each of RocksDB's counters in `counters_`; kCounters: it is not kept.
  static const std::array<uint8_t, rocksdb::TICKER_ENUM_MAX> kPlaces;

  std::array<std::atomic<uint64_t>, kCounters> counters_ = {};
};

}  // namespace itemdb::storage
