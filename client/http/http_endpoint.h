// Where requests go and what signs them: URL, region, credentials.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/signature/request_signature.h"
#include "itemdb/options.h"

namespace itemdb {

// The value of an environment variable; empty if it is not set. Tests pass their own.
using Environment = std::function<std::string(const char* name)>;
std::string ProcessEnvironment(const char* name);

struct HttpEndpoint {
  // "http://127.0.0.1:8000/".
  std::string url;
  // What the header Host has: "127.0.0.1:8000", without a port that is the scheme's own.
  std::string host;
  std::string region;
  common::SigningCredentials credentials;
};

// INVALID_ARGUMENT: the endpoint is no such URL, or there are no credentials for it; the message names the
// places that were searched.
absl::StatusOr<HttpEndpoint> MakeHttpEndpoint(const ClientOptions& options, const Environment& environment);

// The credentials of `profile` in a file of the AWS CLI. Nothing: the text has no such profile with both
// keys.
std::optional<common::SigningCredentials> CredentialsIn(std::string_view text, std::string_view profile);

}  // namespace itemdb
