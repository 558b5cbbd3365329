// The streams that are open, so that a daemon that stops can end them: a stream has no end of its own that
// would come soon.
#pragma once

#include <set>

#include "storage/base/mutex.h"

namespace itemdb {

// Thread-safe.
class OpenStreams {
 public:
  // A stream, while it is between Add and Remove. Both are called under a lock and return at once.
  class Stream {
   public:
    // Ends the stream with a status as soon as what it is doing is done.
    virtual void Stop() = 0;
    // Cuts it off, whatever it is doing.
    virtual void Cut() = 0;

   protected:
    ~Stream() = default;
  };

  OpenStreams() = default;
  OpenStreams(const OpenStreams&) = delete;
  OpenStreams& operator=(const OpenStreams&) = delete;

  // After Stop() the stream is told to stop at once.
  void Add(Stream* stream);
  void Remove(Stream* stream);

  void Stop();
  void Cut();

 private:
  Mutex mutex_;
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace itemdb
