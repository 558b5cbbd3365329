// The metrics of a daemon in Prometheus' text format. docs/metrics.md explains every one; names never change.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/serving/serving_context.h"
#include "storage/database.h"

namespace itemdb::daemon {

// What does not change while the daemon runs.
struct ProcessFacts {
  std::string version;
  double start_time_s = 0;
  uint64_t memory_bytes = 0;
};

// `database` and `serving` are null while the database opens. Takes milliseconds, with 10,000 tables some
// tenths of a second.
std::string MetricsPage(const ProcessFacts& facts, bool ready, storage::Database* database,
                        ServingContext* serving);

}  // namespace itemdb::daemon
