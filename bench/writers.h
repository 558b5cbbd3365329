// Threads that put items into a database of this process while something else goes on in it.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "storage/database.h"

namespace itemdb::bench {

// Runs an asynchronous operation and waits for its answer.
template <typename Reply, typename Start>
absl::StatusOr<Reply> Await(Start start) {
  std::promise<absl::StatusOr<Reply>> promise;
  auto future = promise.get_future();
  start([&promise](absl::StatusOr<Reply> reply) { promise.set_value(std::move(reply)); });
  return future.get();
}

// The value that `share` of `values` are not above; 0 when there are none. Reorders them.
double Percentile(std::vector<double>& values, double share);

// Each thread puts an item, waits for the answer, and puts the next.
class Writers {
 public:
  // The item number `item` of `table`, encoded; called by all threads.
  using MakeItem = std::function<std::string(uint64_t item)>;

  // Over and over again items below `items`, in an order that is not theirs, each time with another attribute
  // `version`. `database` must outlive this.
  Writers(Database& database, const std::string& table, int writers, uint64_t items, MakeItem make_item);
  ~Writers() { Stop(); }
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;

  void Stop();
  // Whether a put was not answered with OK.
  bool failed() const { return failed_; }
  // Of each put, in milliseconds, once they are stopped.
  std::vector<double> latencies() const;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::vector<std::vector<double>> latencies_;
  std::vector<std::thread> threads_;
};

}  // namespace itemdb::bench
