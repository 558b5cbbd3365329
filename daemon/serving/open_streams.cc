#include "daemon/serving/open_streams.h"

namespace itemdb {

void OpenStreams::Add(Stream* stream) {
  MutexLock lock(mutex_);
  streams_.insert(stream);
  if (stopped_) stream->Stop();
}

void OpenStreams::Remove(Stream* stream) {
  MutexLock lock(mutex_);
  streams_.erase(stream);
}

void OpenStreams::Stop() {
  MutexLock lock(mutex_);
  stopped_ = true;
  for (Stream* stream : streams_) stream->Stop();
}

void OpenStreams::Cut() {
  MutexLock lock(mutex_);
  for (Stream* stream : streams_) stream->Cut();
}

}  // namespace itemdb
