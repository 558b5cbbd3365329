// The check of access keys for reflection. Reflection is gRPC's own service, so its calls do not go through
// Call::Enter() (raw_call.h); an interceptor checks them.
#pragma once

#include <grpcpp/support/server_interceptor.h>

#include <memory>

#include "daemon/serving/serving_context.h"

namespace itemdb::daemon {

// Answers reflection requests of callers that `serving.authorizer` refuses with UNAUTHENTICATED or
// PERMISSION_DENIED, as the error_response of the reflection protocol. A refused stream stays open until the
// client ends it; the number of reflection streams is bounded (daemon/server/server.cc). All other calls are
// left alone. `serving` is borrowed and must outlive the server.
std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeReflectionAccess(
    ServingContext& serving);

}  // namespace itemdb::daemon
