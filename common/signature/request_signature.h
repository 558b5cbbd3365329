// Signs requests: how a request becomes canonical, and the headers that carry its signature.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace itemdb::common {

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

struct SigningCredentials {
  std::string key_id;
  std::string secret;
  // Empty unless the credentials are temporary.
  std::string session_token;
};

struct RequestToSign {
  std::string_view method;
  // As it is sent, "/" for the root.
  std::string_view path;
  // The parameters as they are sent: encoded, sorted, without the '?'.
  std::string_view query;
  // All headers that are to be signed besides the date and the session token: names in lower case, values
  // without spaces at their ends. They must contain "host".
  NamesAndValues headers;
  // The SHA-256 of the body, as hex digits.
  std::string_view body_hash;
  std::string_view region;
  // "dynamodb".
  std::string_view service;
};

// The headers of the request, sorted, with "x-amz-date", "x-amz-security-token" and "authorization".
NamesAndValues SignedHeaders(RequestToSign request, const SigningCredentials& credentials, absl::Time now);

}  // namespace itemdb::common
