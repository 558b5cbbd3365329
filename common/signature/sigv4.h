// Signature Version 4: hashes, signing keys, and the signature of a canonical request. How a request becomes
// canonical is the business of those who check (daemon/http/signature) or sign (storage/buckets).
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace itemdb::common {

inline constexpr std::string_view kSignatureAlgorithm = "AWS4-HMAC-SHA256";
// The end of every scope.
inline constexpr std::string_view kScopeEnd = "aws4_request";

using Sha256 = std::array<unsigned char, 32>;

// All functions here end the process if OpenSSL fails: a wrong signature must not pass.
Sha256 HashOf(std::string_view bytes);
Sha256 HmacOf(std::string_view key, std::string_view bytes);

// 64 hexadecimal digits in lower case.
std::string Hex(const Sha256& bytes);
// Borrows from `bytes`.
std::string_view BytesOf(const Sha256& bytes);

struct SigningScope {
  // "20261122".
  std::string_view date;
  std::string_view region;
  std::string_view service;
};

// "20261122/us-east-1/s3/aws4_request".
std::string ScopeText(const SigningScope& scope);
Sha256 DeriveSigningKey(std::string_view secret, const SigningScope& scope);

// The signature of a canonical request, as hex digits. `time` is "20261122T010203Z", `scope` as ScopeText.
std::string SignCanonicalRequest(std::string_view canonical_request, std::string_view time,
                                 std::string_view scope, const Sha256& signing_key);

}  // namespace itemdb::common
