// The status of the daemon and its database, for gRPC and for the console.
#pragma once

#include <cstdint>

#include "daemon/serving/serving_context.h"
#include "itemdb/v1/admin.pb.h"
#include "storage/database.h"

namespace itemdb::daemon {

// Fields of GetStatus that the database does not know.
struct DaemonInfo {
  // Start of the daemon, in microseconds since 1970.
  int64_t start_time_us = 0;
  // The value of --memory, in bytes.
  int64_t memory_bytes = 0;
};

// As Database::GetStatus(), with the fields of the daemon. Thread-safe.
v1::GetStatusReply GetDaemonStatus(const v1::GetStatusRequest& request, storage::Database& database,
                                   const ServingContext& serving, const DaemonInfo& info);

}  // namespace itemdb::daemon
