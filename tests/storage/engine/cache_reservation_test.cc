// Memory taken from the block cache comes back, also if the store was closed before.
#include <gtest/gtest.h>

#include "spdlog/sinks/null_sink.h"
#include "spdlog/spdlog.h"
#include "storage/store/store.h"
#include "tests/support/temporary_directory.h"

namespace itemdb::storage {
namespace {

constexpr size_t kCacheBytes = 8 << 20;

std::shared_ptr<Store> OpenStore(const testing::TemporaryDirectory& directory) {
  auto log = std::make_shared<spdlog::logger>("store", std::make_shared<spdlog::sinks::null_sink_mt>());
  StoreOptions options;
  options.path = directory.path() + "/rocksdb";
  options.env = rocksdb::Env::Default();
  options.log = log;
  options.block_cache_bytes = kCacheBytes;
  options.memtable_bytes = 8 << 20;
  auto store = Store::Open(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

TEST(CacheReservation, ShrinksTheCacheWhileItExists) {
  testing::TemporaryDirectory directory;
  const std::shared_ptr<Store> store = OpenStore(directory);
  ASSERT_NE(store, nullptr);
  {
    CacheReservation one(store, 3 << 20);
    EXPECT_EQ(store->block_cache_capacity(), kCacheBytes - (3 << 20));
    CacheReservation other(store, 6 << 20);
    EXPECT_EQ(store->block_cache_capacity(), 0u) << "more is reserved than the cache has";
  }
  EXPECT_EQ(store->block_cache_capacity(), kCacheBytes);
}

TEST(CacheReservation, DoesNotKeepTheStoreOpen) {
  testing::TemporaryDirectory directory;
  std::shared_ptr<Store> store = OpenStore(directory);
  ASSERT_NE(store, nullptr);
  CacheReservation reservation(store, 1 << 20);
  store.reset();
  store = OpenStore(directory);
  ASSERT_NE(store, nullptr) << "RocksDB's lock was released";
  EXPECT_EQ(store->block_cache_capacity(), kCacheBytes);
}

}  // namespace
}  // namespace itemdb::storage
