#include "daemon/serving/open_streams.h"

namespace itemdb::daemon {

void OpenStreams::Add(Stream* stream) {
  storage::MutexLock lock(mutex_);
  streams_.insert(stream);
  if (stopped_) stream->Stop();
}

void OpenStreams::Remove(Stream* stream) {
  storage::MutexLock lock(mutex_);
  streams_.erase(stream);
}

size_t OpenStreams::count() const {
  storage::MutexLock lock(mutex_);
  return streams_.size();
}

void OpenStreams::Stop() {
  storage::MutexLock lock(mutex_);
  stopped_ = true;
  for (Stream* stream : streams_) stream->Stop();
}

void OpenStreams::Abort() {
  storage::MutexLock lock(mutex_);
  for (Stream* stream : streams_) stream->Abort();
}

}  // namespace itemdb::daemon
