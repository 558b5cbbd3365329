#include "storage/store/store_counters.h"

namespace itemdb::storage {
namespace {

constexpr rocksdb::Tickers kKept[] = {rocksdb::BLOCK_CACHE_DATA_HIT,   rocksdb::BLOCK_CACHE_DATA_MISS,
                                      rocksdb::BLOCK_CACHE_INDEX_HIT,  rocksdb::BLOCK_CACHE_INDEX_MISS,
                                      rocksdb::BLOCK_CACHE_FILTER_HIT, rocksdb::BLOCK_CACHE_FILTER_MISS,
                                      rocksdb::COMPACT_READ_BYTES,     rocksdb::COMPACT_WRITE_BYTES,
                                      rocksdb::FLUSH_WRITE_BYTES,      rocksdb::STALL_MICROS};

}  // namespace

const std::array<uint8_t, rocksdb::TICKER_ENUM_MAX> StoreCounters::kPlaces = [] {
  static_assert(std::size(kKept) == kCounters);
  std::array<uint8_t, rocksdb::TICKER_ENUM_MAX> places;
  places.fill(kCounters);
  for (size_t i = 0; i < kCounters; ++i) places[kKept[i]] = static_cast<uint8_t>(i);
  return places;
}();

StoreCounters::StoreCounters() { set_stats_level(rocksdb::StatsLevel::kExceptHistogramOrTimers); }

void StoreCounters::recordTick(uint32_t ticker, uint64_t count) {
  if (ticker >= kPlaces.size()) return;
  const size_t place = kPlaces[ticker];
  if (place < kCounters) counters_[place].fetch_add(count, std::memory_order_relaxed);
}

uint64_t StoreCounters::getTickerCount(uint32_t ticker) const {
  const size_t place = ticker < kPlaces.size() ? kPlaces[ticker] : kCounters;
  return place < kCounters ? counters_[place].load(std::memory_order_relaxed) : 0;
}

void StoreCounters::setTickerCount(uint32_t ticker, uint64_t count) {
  const size_t place = ticker < kPlaces.size() ? kPlaces[ticker] : kCounters;
  if (place < kCounters) counters_[place].store(count, std::memory_order_relaxed);
}

uint64_t StoreCounters::getAndResetTickerCount(uint32_t ticker) {
  const size_t place = ticker < kPlaces.size() ? kPlaces[ticker] : kCounters;
  return place < kCounters ? counters_[place].exchange(0, std::memory_order_relaxed) : 0;
}

StoreTotals StoreCounters::Totals() const {
  const auto of = [this](rocksdb::Tickers hits, rocksdb::Tickers misses) {
    return StoreTotals::Lookups{getTickerCount(hits), getTickerCount(misses)};
  };
  return {.data_blocks = of(rocksdb::BLOCK_CACHE_DATA_HIT, rocksdb::BLOCK_CACHE_DATA_MISS),
          .index_blocks = of(rocksdb::BLOCK_CACHE_INDEX_HIT, rocksdb::BLOCK_CACHE_INDEX_MISS),
          .filter_blocks = of(rocksdb::BLOCK_CACHE_FILTER_HIT, rocksdb::BLOCK_CACHE_FILTER_MISS),
          .compaction_read_bytes = getTickerCount(rocksdb::COMPACT_READ_BYTES),
          .compaction_written_bytes = getTickerCount(rocksdb::COMPACT_WRITE_BYTES),
          .flushed_bytes = getTickerCount(rocksdb::FLUSH_WRITE_BYTES),
          .stall_us = getTickerCount(rocksdb::STALL_MICROS)};
}

}  // namespace itemdb::storage
