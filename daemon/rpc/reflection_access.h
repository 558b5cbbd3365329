// Reflection asks for a key too. It is a service of gRPC's own that does not pass the gate of ours, so an
// interceptor stands in its way.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "daemon/access/call_access.h"

namespace itemdb {

// Answers reflection requests of callers that `access` does not let in with UNAUTHENTICATED or
// PERMISSION_DENIED, in the form that the service has for errors. Their streams end when they do; how many
// there are at once is bounded (daemon/server/server.cc). Leaves all other calls alone. `access` is borrowed
// and outlives the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeReflectionAccess(
    const CallAccess& access);

}  // namespace itemdb
