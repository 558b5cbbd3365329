// `itembench tables`: the cost of many tables in one daemon.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct TablesOptions {
  int tables = 300;
  // Indexes of each table.
  int indexes = 2;
  // Number of puts, and of gets, before and after the tables are created. Their latencies are compared.
  int puts = 20'000;
};

// Creates and writes one table, then the others; kills the daemon with SIGKILL and starts it again.
absl::Status RunTables(Session& session, const TablesOptions& options);

}  // namespace itemdb::bench
