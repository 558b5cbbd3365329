// ServerReflectionInfo: the stream of gRPC's reflection protocol.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemon/serving/serving_context.h"

namespace itemdb::daemon {

// Starts a stream that answers one request after another (daemon/rpc/reflection.h) until the client sends no
// more. It ends early with UNAUTHENTICATED or PERMISSION_DENIED if the caller's key does not allow `method`,
// with UNAVAILABLE when the daemon stops, and with RESOURCE_EXHAUSTED when the memory for calls is used up.
// `services` are the full names of all services; like `serving` and `method` they outlive the stream.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartReflectionStream(
    const std::vector<std::string>& services, ServingContext& serving, grpc::CallbackServerContext* context,
    std::string_view method);

}  // namespace itemdb::daemon
