// The set of open streams. A daemon that stops ends them, because a stream may not end by itself.
#pragma once

#include <cstddef>
#include <set>

#include "storage/base/mutex.h"

namespace itemdb::daemon {

// Thread-safe.
class OpenStreams {
 public:
  // A stream. The set calls its functions under its lock between Add() and Remove(); they return at once.
  class Stream {
   public:
    // Ends the stream with a status as soon as its current work is done.
    virtual void Stop() = 0;
    // Ends the stream at once, whatever it is doing.
    virtual void Abort() = 0;

   protected:
    ~Stream() = default;
  };

  OpenStreams() = default;
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

  // After Stop(), Add() stops the new stream at once.
  void Add(Stream* stream);
  void Remove(Stream* stream);

  size_t count() const;

  // Stops all streams, and those that are added later.
  void Stop();
  // Aborts all streams.
  void Abort();

 private:
  mutable storage::Mutex mutex_;
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb::daemon
