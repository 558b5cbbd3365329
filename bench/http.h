// `itembench http`: GetItem, PutItem and Query over DynamoDB's HTTP protocol, driven by wrk, beside a server
// on Beast alone that answers the same requests with bodies of the same size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/session.h"

namespace itemdb::bench {

struct HttpOptions {
  // Connections, each with one request in flight; every contender is measured with each.
  std::vector<int> connections;
  // Of each measurement, after a second of warm-up; wrk counts in whole seconds, so at least 1.
  double seconds = 1;
  // Every round measures everything once, the contenders in one order and then in the other.
  int rounds = 3;
  // Orders to read from.
  uint64_t orders = 50'000;
};

// FAILED_PRECONDITION: wrk is not installed.
absl::Status RunHttp(Session& session, const HttpOptions& options);

}  // namespace itemdb::bench
