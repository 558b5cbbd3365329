// A stream that is opened again when it breaks: the pauses and the end of patience that all of them share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cancellation.h"
#include "client/core.h"
#include "client/transport.h"

namespace itemdb {
inline namespace client {

// For one thread. Blocking.
class ResumedStream {
 public:
  ResumedStream(std::shared_ptr<ClientCore> core, const char* method, size_t read_ahead, CallOptions options);

  // OK, or why streams cannot be used here: inside a callback; retry options that are of no use.
  absl::Status CheckUsable() const;

  // From now on it is opened again however often and for however long it breaks, also when nothing comes
  // before the timeout.
  void KeepTrying() { keep_trying_ = true; }

  // Whether a stream is open. It has to be opened before the first message and after each break.
  bool is_open() const { return stream_ != nullptr; }
  void Open();
  void Write(std::string message) { stream_->Write(std::move(message)); }
  void WritesDone() { stream_->WritesDone(); }

  // The next message, or nothing at the end of the stream. When it has broken and may be opened again, it is
  // closed and, after a pause, the status says why: UNAVAILABLE or RESOURCE_EXHAUSTED with is_open() false
  // and gave_up() false. Otherwise it has ended for good.
  absl::StatusOr<std::optional<std::string>> Read();
  bool gave_up() const { return gave_up_; }

 private:
  // False when the pause was cut short because of cancellation.
  bool Pause(absl::Duration pause);

  const std::shared_ptr<ClientCore> core_;
  const char* const method_;
  const size_t read_ahead_;
  const CallOptions options_;
  std::shared_ptr<MessageStream> stream_;
  std::optional<Cancellation> cancellation_;
  // Since the last message.
  int attempts_ = 0;
  bool keep_trying_ = false;
  bool gave_up_ = false;
};

}  // namespace client
}  // namespace itemdb
