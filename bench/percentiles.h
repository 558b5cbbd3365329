// What is reported of many measured times: their number and percentiles.
#pragma once

#include <cstddef>
#include <vector>

namespace itemdb::bench {

// In the unit of the values. A percentile is a measured value, not one between two of them. All are 0 if
// there are no values.
struct Percentiles {
  size_t count = 0;
  double p50 = 0;
  double p99 = 0;
  double max = 0;
};
Percentiles PercentilesOf(std::vector<double> values);

}  // namespace itemdb::bench
