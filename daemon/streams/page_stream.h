// QueryStream and ScanStream: send one page after another until the last one (EXT-01).
//
// The stream reads the next page once gRPC has accepted the previous one. So a client that reads slowly, or
// not at all, costs the memory of one page. Between pages the stream holds no snapshot, unless the client
// asked for `one_state`: then one pinned snapshot serves all pages.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string_view>

#include "daemon/serving/serving_context.h"
#include "storage/database.h"

namespace itemdb::daemon {

// Reads one page.
using ReadPageOf = std::function<void(const wire::PageRequest& request, storage::Done<storage::Page> done,
                                      storage::CancellationPtr cancellation)>;

// Starts the stream for a call that has arrived. `begin(one_state)` returns the function that reads its
// pages. The stream deletes itself when gRPC is done with it.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartPageStream(
    ServingContext& serving, grpc::CallbackServerContext* context, std::string_view method,
    const grpc::ByteBuffer* request, const std::function<absl::StatusOr<ReadPageOf>(bool one_state)>& begin);

}  // namespace itemdb::daemon
