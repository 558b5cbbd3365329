// The storage library called by method name and bytes, as the daemon's services call it. Separate from
// fake_database.cc, because storage and client declare equal names (itemdb::MakeError, ...).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace itemdb::testing {

// A database in a temporary directory, which is removed with the object. Thread-safe.
class LocalDatabase {
 public:
  // Reply bytes, or a status with the payloads of client/error_payloads.h.
  using Done = std::function<void(absl::StatusOr<std::string>)>;

  // One stream, for one thread; only Read blocks. Must be destroyed before the database.
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual void Write(const std::string& message) = 0;
    virtual void WritesDone() = 0;
    // The next message, nothing at the end, or why the stream ends. Must not be called again after the end.
    virtual absl::StatusOr<std::optional<std::string>> Read() = 0;
    // From any thread: a Read that is waiting ends soon.
    virtual void Cancel() {}
  };

  virtual ~LocalDatabase() = default;

  static absl::StatusOr<std::unique_ptr<LocalDatabase>> Open();

  // Executes a method such as "/itemdb.v1.Data/PutItem". `done` runs once, perhaps before this returns; it
  // must not block or destroy the database. UNIMPLEMENTED: no such method.
  virtual void Call(std::string_view method, const std::string& request, Done done) = 0;
  // Opens a stream such as "/itemdb.v1.Data/QueryStream". UNIMPLEMENTED: no such stream.
  virtual absl::StatusOr<std::unique_ptr<Stream>> OpenStream(std::string_view method) = 0;
};

}  // namespace itemdb::testing
