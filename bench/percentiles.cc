#include "bench/percentiles.h"

#include <algorithm>

namespace itemdb::bench {

Percentiles PercentilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const size_t last = values.size() - 1;
  return {
      .count = values.size(), .p50 = values[last / 2], .p99 = values[last * 99 / 100], .max = values[last]};
}

}  // namespace itemdb::bench
