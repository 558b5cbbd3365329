// BulkWrite: chunks in, acknowledgements out, several chunks under way at a time (EXT-03).
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string_view>

#include "daemon/serving/calls.h"
#include "storage/database.h"

namespace itemdb {

// A stream that has arrived; it ends itself.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartBulkStream(
    Database& database, Calls& calls, grpc::CallbackServerContext* context, std::string_view method);

}  // namespace itemdb
