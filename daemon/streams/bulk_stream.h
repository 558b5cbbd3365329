// BulkWrite: the client sends chunks of writes, the server acknowledges each. Up to four chunks of a stream
// are in progress at a time (EXT-03).
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string_view>

#include "daemon/serving/serving_context.h"
#include "storage/database.h"

namespace itemdb::daemon {

// Starts the stream for a call that has arrived. The stream deletes itself when gRPC is done with it.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartBulkStream(
    storage::Database& database, ServingContext& serving, grpc::CallbackServerContext* context,
    std::string_view method);

}  // namespace itemdb::daemon
