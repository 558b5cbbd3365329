// Signature Version 4: parses the header Authorization, and computes the signature of a request from a secret
// (SEM-114; the errors are ERR-17).
//
//   Authorization: AWS4-HMAC-SHA256 Credential=ID/20261122/us-east-1/dynamodb/aws4_request,
//                  SignedHeaders=host;x-amz-date;x-amz-target, Signature=<64 hex digits>
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/signature/sigv4.h"
#include "daemon/http/message/http_request.h"

namespace itemdb::http {

// Why a request is refused.
struct AuthError {
  // "InvalidSignatureException".
  std::string_view exception;
  std::string message;
};

// The parsed header Authorization. The views borrow from the request's head.
struct Signature {
  std::string_view key_id;
  // "20261122/us-east-1/dynamodb/aws4_request", and its parts.
  std::string_view scope;
  std::string_view date;
  std::string_view region;
  std::string_view service;
  // "host;x-amz-date", and its parts: lower case, in order.
  std::string_view signed_headers;
  std::vector<std::string_view> header_names;
  // The signature, as hex digits.
  std::string_view value;
  // The time of the header X-Amz-Date, else Date, in the form that is signed: "20261122T010203Z".
  std::string time_text;
  absl::Time time;
};

// Parses the header Authorization of `head`. An error says what is missing or malformed. Verifies nothing.
std::optional<AuthError> ReadSignature(const HttpHead& head, Signature& signature);

using common::HashOf;
using common::HmacOf;
using common::Sha256;

// The signing key for the day, region and service of `signature`.
Sha256 DeriveSigningKey(std::string_view secret, const Signature& signature);

// The signature of `head` and `body`, as hex digits. nullopt: a header that SignedHeaders names is missing.
std::optional<std::string> Sign(const HttpHead& head, std::string_view body, const Signature& signature,
                                const Sha256& signing_key);

}  // namespace itemdb::http
