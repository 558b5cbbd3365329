// The storage library called by method name and bytes, as the daemon's services call it. A class of its own
// because the names of storage and client (itemdb::MakeError, ...) do not mix in one file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace itemdb::testing {

// A database in a temporary directory, removed with everything in it at the end. Thread-safe.
class LocalDatabase {
 public:
  // Reply bytes, or a status with an itemdb.v1.ErrorDetail as the client library attaches it.
  using Done = std::function<void(absl::StatusOr<std::string>)>;

  // One stream, for one thread; blocks in Read only. Dropped before the database.
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual void Write(const std::string& message) = 0;
    virtual void WritesDone() = 0;
    // The next message, nothing at the end, or why the stream ends; not again after either.
    virtual absl::StatusOr<std::optional<std::string>> Read() = 0;
    // From any thread: a Read that waits for something to happen ends soon.
    virtual void Cancel() {}
  };

  virtual ~LocalDatabase() = default;

  static absl::StatusOr<std::unique_ptr<LocalDatabase>> Open();

  // Carries out "/itemdb.v1.Data/PutItem" and the like. `done` runs once, perhaps before this returns, and
  // neither blocks nor destroys the database. UNIMPLEMENTED: no such method.
  virtual void Call(std::string_view method, const std::string& request, Done done) = 0;
  // Opens "/itemdb.v1.Data/QueryStream" and the like. UNIMPLEMENTED: no such stream.
  virtual absl::StatusOr<std::unique_ptr<Stream>> OpenStream(std::string_view method) = 0;
};

}  // namespace itemdb::testing
