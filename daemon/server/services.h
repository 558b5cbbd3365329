// The gRPC services. Each method decodes a request, calls one method of the Database and encodes its reply;
// it decides nothing about data. Each service has a .cc file, so that this header needs no generated header.
#pragma once

#include <grpcpp/impl/service_type.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/serving/daemon_status.h"
#include "daemon/serving/serving_context.h"
#include "storage/database.h"

namespace itemdb::daemon {

// `database` and `serving` are borrowed and outlive the service, which must outlive its grpc::Server.
std::unique_ptr<grpc::Service> MakeDataService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeTablesService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeBackupsService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeExportsService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeBulkPutsService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeImportsService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeReplicationService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeChangesService(storage::Database& database, ServingContext& serving);
std::unique_ptr<grpc::Service> MakeAdminService(storage::Database& database, ServingContext& serving,
                                                const DaemonInfo& info);
// Reflection under its present and its former name. `services` are the full names of all other services.
std::vector<std::unique_ptr<grpc::Service>> MakeReflectionServices(ServingContext& serving,
                                                                   std::vector<std::string> services);

}  // namespace itemdb::daemon
