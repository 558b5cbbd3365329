// `itembench tables`: what many tables cost one daemon.
#pragma once

#include "bench/session.h"

namespace itemdb::bench {

struct TablesOptions {
  int tables = 300;
  // Of each table.
  int indexes = 2;
  // Puts, and gets, before and after the tables are made, whose latencies are compared.
  int puts = 20'000;
};

// One table is made and written to, then the others, each written to once; the daemon is killed with SIGKILL
// and started again.
absl::Status RunTables(Session& session, const TablesOptions& options);

}  // namespace itemdb::bench
