// A store like Amazon's S3, in which buckets are.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "storage/base/status.h"

namespace itemdb::storage {

struct S3Credentials {
  std::string key_id;
  std::string secret;
  // Of credentials that expire; otherwise empty.
  std::string session_token;
};

struct S3Options {
  // "https://HOST" or "http://HOST", with ":PORT" or not, and without a path (ParseS3Endpoint). Empty:
  // buckets are folders.
  std::string endpoint;
  // The region that requests are signed for. Stores with one region mostly take any.
  std::string region = "us-east-1";
  // Called when a bucket is opened, by several threads. Required with an endpoint. Its error is that of
  // opening the bucket.
  std::function<absl::StatusOr<S3Credentials>()> credentials;
  // Certificates of authorities, PEM. Empty: those of the system.
  std::string ca_file;
  // The longest pause before the first repetition of a request; each further one may be twice as long, up to
  // ten seconds.
  std::chrono::milliseconds retry_pause = std::chrono::milliseconds(200);
  // A transfer without a byte for this long is cut and repeated.
  std::chrono::seconds stall_timeout = std::chrono::seconds(60);
};

}  // namespace itemdb::storage
