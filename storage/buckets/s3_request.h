// Requests to a store like S3, signed with Signature Version 4.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "storage/api/s3_options.h"

namespace itemdb::storage {

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

struct S3Request {
  // "GET".
  std::string method;
  // "/BUCKET/KEY", not encoded.
  std::string path;
  // Not encoded, in any order. A parameter without value has an empty one.
  NamesAndValues query = {};
  // Names in lower case, none of them twice. Host and the headers x-amz-date, x-amz-content-sha256 and
  // x-amz-security-token are added when the request is signed.
  NamesAndValues headers = {};
  // Borrowed.
  std::string_view body = {};
};

// The text in the form of a URL, with "%XX" for all bytes but letters, digits, '-', '.', '_' and '~'; with
// `keeps_slashes` also but for '/'.
std::string UriEncode(std::string_view text, bool keeps_slashes);

// Path and query of the request, as they are sent and signed: "/bucket/a%20key?prefix=a%2Fb".
std::string TargetOf(const S3Request& request);

// All headers of the signed request, with "host" and "authorization". `now` is the time of the request.
NamesAndValues SignedHeadersOf(const S3Request& request, const std::string& host, const std::string& region,
                               const S3Credentials& credentials, absl::Time now);

}  // namespace itemdb::storage
