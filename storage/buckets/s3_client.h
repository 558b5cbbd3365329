// Requests to a store like S3: signed, sent, repeated when that may help, and with the errors of bucket.h.
#pragma once

#include <chrono>
#include <random>
#include <string>

#include "storage/api/s3_options.h"
#include "storage/base/mutex.h"
#include "storage/base/s3_endpoint.h"
#include "storage/buckets/http_transfers.h"
#include "storage/buckets/s3_request.h"

namespace itemdb::storage {

// The pauses between the attempts of one request. Not thread-safe.
class S3Retries {
 public:
  // `cancellation` is borrowed.
  S3Retries(std::chrono::milliseconds first_pause, const Cancellation& cancellation)
      : pause_(first_pause), cancellation_(cancellation) {}

  // Waits before another attempt, for a random time. Returns `error` if it is not UNAVAILABLE, or if there
  // were enough attempts. CANCELLED. `retry_after_s`: the store asks for a pause of at least this long.
  absl::Status WaitAfter(const absl::Status& error, int retry_after_s);
  // An attempt has made some progress: others may follow.
  void Restart() { attempts_ = 0; }

 private:
  std::chrono::milliseconds pause_;
  const Cancellation& cancellation_;
  int attempts_ = 0;
  std::minstd_rand random_{std::random_device()()};
};

struct S3Reply {
  HttpReply http;
  // More than 1: an earlier attempt may have had an effect, although its reply was lost.
  int attempts = 1;
};

// Thread-safe.
class S3Client {
 public:
  // `endpoint` is that of `options`, whose credentials are asked for again with each request. `cancellation`
  // is borrowed.
  S3Client(S3Options options, S3Endpoint endpoint, S3Credentials credentials,
           const Cancellation& cancellation);

  // Sends a request until it is answered with a status from 200 to 299. Errors of the store:
  //   NO_SUCH_BUCKET. BUCKET_ACCESS_DENIED: also for wrong credentials, and a clock that is wrong.
  //   DISK_FULL: the store says that it is full.
  //   OBJECT_CHANGED: there is no such object or upload, or it is another one than If-Match says.
  //   NOT_OFFERED (UNIMPLEMENTED): the store does not know the request.
  //   BUCKET_UNUSABLE (FAILED_PRECONDITION): others that will not pass, such as a certificate that is not
  //   trusted, or the wrong region.
  //   UNAVAILABLE: others; the last of several attempts.
  absl::StatusOr<S3Reply> Send(const S3Request& request) const;
  // One attempt. `*reply` has what has arrived, also after an error. Errors as above.
  absl::Status SendOnce(const S3Request& request, HttpReply* reply) const;
  // The error that an XML document <Error> tells. `status` is that of the reply.
  absl::Status ErrorOf(const S3Request& request, const HttpReply& reply) const;

  S3Retries NewRetries() const { return S3Retries(options_.retry_pause, cancellation_); }

 private:
  const S3Options options_;
  const S3Endpoint endpoint_;
  // Of the last request: a session token is replaced while an operation runs.
  mutable Mutex mutex_;
  mutable S3Credentials credentials_ ABSL_GUARDED_BY(mutex_);
  const Cancellation& cancellation_;
  mutable HttpTransfers transfers_;
};

inline constexpr std::string_view kReasonBucketUnusable = "BUCKET_UNUSABLE";
inline constexpr std::string_view kReasonNotOffered = "NOT_OFFERED";

// The seconds of the header Retry-After; 0: there is none.
int RetryAfterSecondsOf(const HttpReply& reply);

}  // namespace itemdb::storage
