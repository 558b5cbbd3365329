// QueryStream and ScanStream: one page after the other until nothing is left (EXT-01).
//
// The next page is read when gRPC has taken on the one before, so that a client that reads slowly, or not at
// all, costs one page. Between pages nothing of the database is held, unless all are to be of one state.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string_view>

#include "daemon/serving/calls.h"
#include "storage/database.h"

namespace itemdb {

// Reads one page of the stream's state.
using ReadPageOf =
    std::function<void(const wire::PageRequest& request, Done<Page> done, CancellationPtr cancellation)>;

// A stream that has arrived; it ends itself. `begin(one_state)` says how its pages are read.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPageStream(
    Calls& calls, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* request, const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin);

}  // namespace itemdb
