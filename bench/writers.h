// Threads that put items into a database of this process while something else is measured.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "bench/percentiles.h"
#include "storage/database.h"

namespace itemdb::bench {

// Starts an asynchronous operation and waits for its reply.
template <typename Reply, typename Start>
absl::StatusOr<Reply> Await(Start start) {
  std::promise<absl::StatusOr<Reply>> promise;
  auto future = promise.get_future();
  start([&promise](absl::StatusOr<Reply> reply) { promise.set_value(std::move(reply)); });
  return future.get();
}

// Each thread puts an item, waits for the answer, and puts the next.
class Writers {
 public:
  // Returns item number `item` of the table, encoded. Called by all threads.
  using MakeItem = std::function<std::string(uint64_t item)>;

  // Puts the items 0 to `items` - 1 again and again, not in the order of their numbers, each time with
  // another value of the attribute `version`. `database` must outlive this.
  Writers(storage::Database& database, const std::string& table, int writers, uint64_t items,
          MakeItem make_item);
  ~Writers() { Stop(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  void Stop();
  // Whether a put failed.
  bool failed() const { return failed_; }
  // Of the latencies of the puts, in milliseconds. Call Stop before.
  Percentiles latencies_ms() const;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::vector<std::vector<double>> latencies_ms_;
  std::vector<std::thread> threads_;
};

}  // namespace itemdb::bench
