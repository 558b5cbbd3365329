// GetItem by the client library, for run.py.
//
// get_item ENDPOINT CALLERS SECONDS
//
// Each caller reads one item of the table Bench after another. Prints one line of JSON.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "itemdb/client.h"

namespace {

constexpr int kItems = 1'000;

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// The latencies of the calls of one caller, in microseconds. Ends the program if a call fails.
std::vector<double> Read(const itemdb::Client& client, int first, absl::Duration how_long) {
  std::vector<double> latencies;
  const absl::Time end = absl::Now() + how_long;
  for (int i = first; absl::Now() < end; ++i) {
    const absl::Time begin = absl::Now();
    const auto found = client.GetItem({.table_name = "Bench",
                                       .key = {{"id", "item" + std::to_string(i % kItems)}},
                                       .consistent_read = true});
    if (!found.ok() || !found->item.has_value()) {
      std::fprintf(stderr, "%s\n", std::string(found.status().message()).c_str());
      std::exit(1);
    }
    latencies.push_back(absl::ToDoubleMicroseconds(absl::Now() - begin));
  }
  return latencies;
}

std::vector<double> ReadByAll(const itemdb::Client& client, int callers, absl::Duration how_long) {
  std::mutex mutex;
  std::vector<double> all;
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] {
      const std::vector<double> latencies = Read(client, caller * 37, how_long);
      std::lock_guard<std::mutex> lock(mutex);
      all.insert(all.end(), latencies.begin(), latencies.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int callers = std::max(1, std::atoi(argv[2]));
  const absl::Duration how_long = absl::Seconds(std::atof(argv[3]));
  const absl::StatusOr<itemdb::Client> client = itemdb::Client::Open({.endpoint = argv[1]});
  if (!client.ok()) {
    std::fprintf(stderr, "%s\n", std::string(client.status().message()).c_str());
    return 1;
  }
  ReadByAll(*client, callers, how_long / 5);
  const double cpu = CpuSeconds();
  const absl::Time begin = absl::Now();
  std::vector<double> latencies = ReadByAll(*client, callers, how_long);
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  const auto calls = static_cast<double>(latencies.size());
  std::sort(latencies.begin(), latencies.end());
  std::printf("{\"rate\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, \"cpu_us\": %.1f}\n", calls / seconds,
              latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100],
              (CpuSeconds() - cpu) * 1e6 / calls);
  return 0;
}
