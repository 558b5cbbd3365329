// Watch: change records as they are committed.
//
// The next reply is read when gRPC has taken on the one before, so that a client that reads slowly, or not at
// all, costs one reply; between two nothing of the database is held.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "daemon/serving/calls.h"
#include "storage/database.h"

namespace itemdb {

// A watch that has arrived; it ends itself.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartChangeStream(Database& database, Calls& calls,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request);

}  // namespace itemdb
