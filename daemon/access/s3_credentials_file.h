// The file of --s3-credentials-file, in the form of the AWS CLI's shared credentials:
//
//   # comment
//   [default]
//   aws_access_key_id = AKIDEXAMPLE
//   aws_secret_access_key = ...
//   aws_session_token = ...         only of credentials that expire
//
// Only the profile `default` is used. Other profiles, and other settings, are left out.
#pragma once

#include <string>

#include "storage/api/s3_options.h"
#include "storage/base/status.h"

namespace itemdb::daemon {

// UNAVAILABLE: the file cannot be read. INVALID_ARGUMENT: it has no profile `default` with key and secret, or
// other users of this machine may use it (ReadSecretFile()). The message names the file, the line and what is
// allowed; it never contains a secret.
absl::StatusOr<storage::S3Credentials> ReadS3Credentials(const std::string& path);

}  // namespace itemdb::daemon
