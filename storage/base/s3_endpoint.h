// The address of a store like Amazon's S3.
#pragma once

#include <string>

#include "storage/base/status.h"

namespace itemdb::storage {

// Where a store is: "https://s3.eu-central-1.amazonaws.com", "http://[::1]:9000".
struct S3Endpoint {
  bool is_tls = true;
  // "HOST", or "HOST:PORT" if the port is not the scheme's.
  std::string host;

  std::string url() const { return (is_tls ? "https://" : "http://") + host; }
};

// INVALID_ARGUMENT: `url` is not "http://" or "https://", a host and perhaps a port. A slash at the end is
// left out.
absl::StatusOr<S3Endpoint> ParseS3Endpoint(const std::string& url);

}  // namespace itemdb::storage
