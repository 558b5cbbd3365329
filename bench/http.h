// `itembench http`: GetItem, PutItem and Query over DynamoDB's HTTP protocol, driven by wrk. Compared with a
// server that uses Beast alone and answers the same requests with bodies of the same size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/session.h"

namespace itemdb::bench {

struct HttpOptions {
  // Numbers of connections, each with one request in flight. Every contender is measured with each number.
  std::vector<int> connections;
  // Length of each measurement, after a warm-up of one second. Rounded to whole seconds for wrk, at least 1.
  double seconds = 1;
  // Every round measures everything once; every second round in reverse order.
  int rounds = 3;
  // Number of orders that are read.
  uint64_t orders = 50'000;
};

// FAILED_PRECONDITION: wrk is not installed.
absl::Status RunHttp(Session& session, const HttpOptions& options);

}  // namespace itemdb::bench
