// RocksDB alone: one thread per caller, which blocks in Write or Get. RocksDB makes its own write groups.

#include <thread>

#include "bench/contender.h"
#include "bench/order_store.h"
#include "rocksdb/write_batch.h"

namespace itemdb::bench {
namespace {

class RocksDBContender : public Contender {
 public:
  RocksDBContender(const ContenderSetup& setup, std::unique_ptr<OrderStore> store,
                   std::vector<std::string> keys)
      : setup_(setup), store_(std::move(store)), keys_(std::move(keys)) {}
  ~RocksDBContender() override { Join(); }

  void Begin(Load& load) override {
    Join();
    for (int caller = 0; caller < load.callers(); ++caller) {
      threads_.emplace_back([this, &load, caller] {
        while (std::optional<uint64_t> operation = load.Next()) {
          Clock::time_point begin = Clock::now();
          load.Finish(caller, begin, setup_.operation == Operation::kPut ? Put(*operation) : Get(*operation));
        }
      });
    }
  }

  nanoseconds ServerCpu() const override { return OwnCpu(); }
  bool InProcess() const override { return true; }

 private:
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  absl::Status Put(uint64_t operation) {
    rocksdb::WriteBatch batch((*setup_.batches)[operation]);
    rocksdb::WriteOptions options;
    options.sync = setup_.durable;
    rocksdb::Status status = store_->db()->Write(options, &batch);
    return status.ok() ? absl::OkStatus() : storage::FromRocksDB("cannot write", status);
  }

  absl::Status Get(uint64_t operation) {
    rocksdb::PinnableSlice record;
    rocksdb::Status status = store_->db()->Get(rocksdb::ReadOptions(), store_->items(),
                                               keys_[setup_.requests->order(operation)], &record);
    return status.ok() ? absl::OkStatus() : storage::FromRocksDB("cannot read an order", status);
  }

  const ContenderSetup setup_;
  std::unique_ptr<OrderStore> store_;
  // The stored keys for gets, by order.
  const std::vector<std::string> keys_;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Contender>> OpenRocksDB(const ContenderSetup& setup) {
  ITEMDB_ASSIGN_OR_RETURN(std::unique_ptr<OrderStore> store, OrderStore::Open(setup.directory));
  std::vector<std::string> keys;
  if (setup.operation == Operation::kGet) {
    for (const std::string& request : setup.requests->all()) {
      ITEMDB_ASSIGN_OR_RETURN(keys.emplace_back(), store->KeyOf(request));
    }
  }
  return std::make_unique<RocksDBContender>(setup, std::move(store), std::move(keys));
}

}  // namespace itemdb::bench
