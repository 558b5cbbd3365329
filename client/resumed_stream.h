// A stream that is opened again when it breaks: pauses, and how often it is tried, as all streams need them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cancel_callback.h"
#include "client/core.h"
#include "client/transport.h"

namespace itemdb {

// For one thread. Blocking.
class ResumedStream {
 public:
  // `table_name`: the table of the stream, for CallRecord; empty: none, or several.
  ResumedStream(std::shared_ptr<ClientCore> core, const char* method, std::string table_name,
                size_t read_ahead, CallOptions options);
  ~ResumedStream();
  ResumedStream(const ResumedStream&) = delete;
  ResumedStream& operator=(const ResumedStream&) = delete;

  // OK, or why a stream cannot be used: this thread runs a callback, or the retry options are invalid.
  absl::Status CheckUsable() const;

  // From now on the stream is opened again without limit, also after a timeout without a message.
  void KeepTrying() { keep_trying_ = true; }

  // True while a stream is open. The caller opens it before the first message and after each break.
  bool is_open() const { return stream_ != nullptr; }
  void Open();
  void Write(std::string message) { stream_->Write(std::move(message)); }
  void WritesDone() { stream_->WritesDone(); }

  // The next message, or nothing at the end of the stream. When the stream has broken and may be opened
  // again, Read closes it, pauses, and returns UNAVAILABLE or RESOURCE_EXHAUSTED; is_open() and gave_up() are
  // then false. After any other error the stream has ended, and gave_up() is true.
  absl::StatusOr<std::optional<std::string>> Read();
  bool gave_up() const { return gave_up_; }

 private:
  // False if a cancellation ended the pause early.
  bool Pause(absl::Duration pause);

  const std::shared_ptr<ClientCore> core_;
  const char* const method_;
  const std::string table_name_;
  const size_t read_ahead_;
  const CallOptions options_;
  std::shared_ptr<MessageStream> stream_;
  std::optional<CancelCallback> cancel_callback_;
  // Failed attempts since the last message.
  int attempts_ = 0;
  bool keep_trying_ = false;
  bool gave_up_ = false;
  // For CallRecord.
  std::string traceparent_;
  absl::Time begin_;
  int openings_ = 0;
  absl::Status end_;
};

}  // namespace itemdb
