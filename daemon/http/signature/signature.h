// Signature Version 4: what the header Authorization claims, and the signature that a secret gives a request
// (SEM-114, ERR-17).
//
//   Authorization: AWS4-HMAC-SHA256 Credential=ID/20261122/us-east-1/dynamodb/aws4_request,
//                  SignedHeaders=host;x-amz-date;x-amz-target, Signature=<64 hex digits>
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "daemon/http/message/http_request.h"

namespace itemdb {

// Why a request is not let in.
struct Refusal {
  // "InvalidSignatureException".
  std::string_view exception;
  std::string message;
};

// Views into the request's head.
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
  // As hex digits.
  std::string_view value;
  // X-Amz-Date, else Date, as it stands in the request and as it is signed, "20261122T010203Z".
  std::string time_text;
  absl::Time time;
};

// What `head` claims; fills `signature`, or says what is missing. Nothing is verified.
std::optional<Refusal> ReadSignature(const HttpHead& head, Signature& signature);

using Sha256 = std::array<unsigned char, 32>;

Sha256 HashOf(std::string_view bytes);
Sha256 HmacOf(std::string_view key, std::string_view bytes);

// The key that signatures of one day, region and service are made with.
Sha256 DeriveSigningKey(std::string_view secret, const Signature& signature);

// The signature of `head` and `body`, as hex digits. Nothing when a header that is said to be signed is
// missing.
std::optional<std::string> Sign(const HttpHead& head, std::string_view body, const Signature& signature,
                                const Sha256& signing_key);

}  // namespace itemdb
