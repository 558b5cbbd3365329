// Answers to the questions of gRPC's reflection protocol, from the descriptors that are linked into the
// daemon. gRPC's own implementation knows only the protocol's former name, checks no keys and takes a thread
// for each stream.
#pragma once

#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.pb.h"

namespace itemdb::daemon {

// The answer to one request. `services` are the full names of all services. What is not known is answered
// with an error_response of NOT_FOUND, and a request without a question with one of INVALID_ARGUMENT.
// Thread-safe.
grpc::reflection::v1::ServerReflectionResponse AnswerReflection(
    const grpc::reflection::v1::ServerReflectionRequest& request, const std::vector<std::string>& services);

}  // namespace itemdb::daemon
