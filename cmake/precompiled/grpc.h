// For what serves gRPC or calls it.
#pragma once

#include "storage.h"

#include <grpcpp/grpcpp.h>

#include "itemdb/v1/admin.grpc.pb.h"
#include "itemdb/v1/changes.grpc.pb.h"
#include "itemdb/v1/data.grpc.pb.h"
#include "itemdb/v1/tables.grpc.pb.h"
