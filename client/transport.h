// How calls and streams get from a client to a database. A call sends a method name and request bytes, and
// gets reply bytes or a status; a stream carries any number of messages both ways. Every Client uses one
// Transport: gRPC (grpc_transport.h) or, in users' tests, one to a database in the same process (testing/).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace itemdb {

// Whether a call changes anything; this decides what the loss of the call means.
enum class CallKind { kRead, kWrite };

struct OutgoingCall {
  // For example "/itemdb.v1.Data/PutItem"; lives as long as the program.
  const char* method;
  CallKind kind;
  // The encoded request message of the method.
  std::shared_ptr<const std::string> request;
  absl::Time deadline;
  // Sent as header or metadata of this name; empty: none.
  std::string traceparent = {};
};

// Messages to and from one method of the daemon. Blocking, for one thread; Cancel() may be called from any
// thread. The destructor cancels a stream that has not ended. The transport outlives the stream.
class MessageStream {
 public:
  virtual ~MessageStream() = default;

  // Queues a message for sending; no effect after the end of the stream.
  virtual void Write(std::string message) = 0;
  // Tells the other side that no message follows.
  virtual void WritesDone() = 0;
  // Waits for the next message. Nothing: the stream ended normally. An error has the reasons of a read:
  // UNAVAILABLE when the connection was lost, whatever was sent; DEADLINE_EXCEEDED when no message came
  // before the deadline; CANCELLED. The last two end the stream.
  virtual absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) = 0;
  virtual void Cancel() = 0;
};

// Thread-safe. A transport outlives the calls it has sent.
class Transport {
 public:
  // Receives the end of a call. The reply is the encoded reply message of the method; it is empty unless the
  // status is OK, and valid until the callback returns.
  //
  // Statuses have reasons (errors.h). These have an exact meaning: UNAVAILABLE: a read failed, or a write was
  // not applied. Reason WRITE_OUTCOME_UNKNOWN: the write may have been applied. CANCELLED without that
  // reason: the call was cancelled, and a write was not applied.
  using Done = absl::AnyInvocable<void(absl::Status, std::string_view reply) &&>;
  // Ends the call early, with CANCELLED; no effect after the end of the call. Thread-safe.
  using Cancel = std::function<void()>;

  virtual ~Transport() = default;

  // Sends a call without blocking. `done` runs once, never on the calling thread before Send returns.
  virtual Cancel Send(OutgoingCall call, Done done) = 0;

  // Opens a stream without blocking. Receives up to `read_ahead` messages (at least 1) before Read.
  // `traceparent` as in OutgoingCall.
  virtual std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead,
                                                    const std::string& traceparent) = 0;

  // The address of the daemon, for messages.
  virtual const std::string& endpoint() const = 0;
};

}  // namespace itemdb
