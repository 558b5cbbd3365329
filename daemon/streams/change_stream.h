// Watch: sends change records as they are committed.
//
// The stream reads the next reply from the database once gRPC has accepted the previous one. So a client that
// reads slowly, or not at all, costs the memory of one reply. Between replies the stream holds no snapshot.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "daemon/serving/serving_context.h"
#include "storage/database.h"

namespace itemdb::daemon {

// Starts the stream for a call that has arrived. The stream deletes itself when gRPC is done with it.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartChangeStream(storage::Database& database,
                                                              ServingContext& serving,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request);

}  // namespace itemdb::daemon
