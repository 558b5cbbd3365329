// How calls and streams get from a client to a database: one method name and request bytes out, reply bytes
// or a status back; of a stream, any number of messages either way. Under every Client lies one Transport:
// gRPC's (grpc_transport.h) or, in users' tests, one that leads to a database in the same process (testing/).
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

// Messages to and from one method of the daemon. Blocking, for one thread; Cancel() may come from any. Its
// destructor cancels what has not ended. The transport outlives it.
class MessageStream {
 public:
  virtual ~MessageStream() = default;

  // Queues a message to be sent; without effect once the stream has ended.
  virtual void Write(std::string message) = 0;
  // Tells the other side that no message follows.
  virtual void WritesDone() = 0;
  // Waits for the next message. Nothing: the stream has ended as it should. Otherwise why it ended, with
  // reasons as of a read: UNAVAILABLE when the connection was lost, whatever was sent; DEADLINE_EXCEEDED when
  // nothing came before the deadline, and CANCELLED, both of which end it.
  virtual absl::StatusOr<std::optional<std::string>> Read(absl::Time deadline) = 0;
  virtual void Cancel() = 0;
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

  // Opens a stream; without blocking. Up to `read_ahead` messages, at least 1, are received before they are
  // asked for.
  virtual std::unique_ptr<MessageStream> OpenStream(const char* method, size_t read_ahead) = 0;

  // Where the calls go, for messages.
  virtual const std::string& endpoint() const = 0;
};

}  // namespace client
}  // namespace itemdb
