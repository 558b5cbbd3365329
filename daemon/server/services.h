// The gRPC services, each a thin layer over one Database: bytes in, one method of the database, bytes out.
// They decide nothing about data. One .cc file a service; none of the generated service headers is needed
// here.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>

#include "daemon/serving/calls.h"
#include "storage/database.h"

namespace itemdb {

// What GetStatus tells that the database does not know.
struct AdminFigures {
  // Microseconds since 1970.
  int64_t start_time_us = 0;
  // What the daemon was given, in bytes.
  int64_t memory_bytes = 0;
};

// `database` and `calls` are borrowed and must outlive the service; the service must outlive the grpc::Server
// it is registered with.
std::unique_ptr<grpc::Service> MakeDataService(Database& database, Calls& calls);
std::unique_ptr<grpc::Service> MakeTablesService(Database& database, Calls& calls);
std::unique_ptr<grpc::Service> MakeChangesService(Database& database, Calls& calls);
std::unique_ptr<grpc::Service> MakeAdminService(Database& database, Calls& calls,
                                                const AdminFigures& figures);

}  // namespace itemdb
