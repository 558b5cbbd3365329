// The streams of the client's API, made of calls.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "client/transport.h"

namespace itemdb {

// A stream whose calls go over `transport`, which outlives it, with `traceparent`. The streams of methods
// that the protocol has no like of end with UNIMPLEMENTED.
//
// A bulk write differs from gRPC's in one thing: nothing keeps a batch from being applied twice, so a batch
// whose reply is lost ends the stream with WRITE_OUTCOME_UNKNOWN.
std::unique_ptr<MessageStream> OpenHttpStream(Transport& transport, std::string_view method,
                                              const std::string& traceparent);

}  // namespace itemdb
