// How a call gets from a client to a database: one method name and request bytes out, reply bytes or a status
// back. Under every Client lies one Transport: gRPC's (grpc_transport.h) or, in users' tests, one that leads
// to a database in the same process (testing/).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace itemdb {
inline namespace client {

// Whether a call changes anything: decides what its loss means.
enum class CallKind { kRead, kWrite };

struct OutgoingCall {
  // For example "/itemdb.v1.Data/PutItem"; lives as long as the program.
  const char* method;
  CallKind kind;
  // The encoded request message of the method.
  std::shared_ptr<const std::string> request;
  absl::Time deadline;
};

// Thread-safe. A transport outlives the calls it has started.
class Transport {
 public:
  // The end of a call. The reply is the encoded reply message of the method, empty unless the status is OK,
  // and valid until this returns.
  //
  // Statuses have reasons (errors.h), and these three mean exactly this: UNAVAILABLE: a read failed, or a
  // write was not applied. A reason WRITE_OUTCOME_UNKNOWN: the write may have been applied. CANCELLED without
  // that reason: the call was cancelled, and a write not applied.
  using Done = absl::AnyInvocable<void(absl::Status, std::string_view reply) &&>;
  // Ends the call early, with CANCELLED; without effect once it has ended. Thread-safe.
  using Cancel = std::function<void()>;

  virtual ~Transport() = default;

  // Starts a call without blocking. `done` runs exactly once, never before this returns on the calling
  // thread.
  virtual Cancel Start(OutgoingCall call, Done done) = 0;

  // Where the calls go, for messages.
  virtual const std::string& endpoint() const = 0;
};

}  // namespace client
}  // namespace itemdb
