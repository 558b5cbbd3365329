// A token is, in URL-safe base64 without padding:
//
//   +---------+-----------------------------------+----------------+----------+
//   | version | XXH3-128 of statement, parameters | range (varint) | last key |
//   +---------+-----------------------------------+----------------+----------+
//     1 byte                16 bytes                                 the rest
#include "storage/partiql/next_token.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "storage/base/limits.h"
#include "storage/base/xxh3.h"
#include "storage/values/wire.h"

namespace itemdb::storage::partiql {
namespace {

// Never reuse a number: a token may be older than the program that reads it.
constexpr char kVersion = 1;

std::string Fingerprint(const wire::ExecuteStatementRequest& request) {
  // The lengths make the boundary between statement and parameters part of the hash.
  std::string bytes;
  wire::AppendVarint(request.statement().size(), &bytes);
  bytes += request.statement();
  for (const std::string& parameter : request.parameters()) {
    wire::AppendVarint(parameter.size(), &bytes);
    bytes += parameter;
  }
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(hash.digest), sizeof(hash.digest));
}

absl::Status InvalidToken() {
  return ValidationError(
      "PQL-13", "The NextToken is not one that this statement with these parameters was answered with");
}

}  // namespace

std::string EncodeNextToken(const wire::ExecuteStatementRequest& request, const PagePosition& position) {
  std::string bytes(1, kVersion);
  bytes += Fingerprint(request);
  wire::AppendVarint(position.range, &bytes);
  bytes += position.last_key;
  return absl::WebSafeBase64Escape(bytes);
}

absl::StatusOr<PagePosition> DecodeNextToken(const wire::ExecuteStatementRequest& request) {
  PagePosition position;
  if (request.next_token().empty()) return position;
  if (request.next_token().size() > kMaxNextTokenCharacters) {
    return ValidationError("PQL-13", absl::StrCat("NextToken must be at most ", kMaxNextTokenCharacters,
                                                  " characters long; it has ", request.next_token().size()));
  }
  std::string bytes;
  if (!absl::WebSafeBase64Unescape(request.next_token(), &bytes)) return InvalidToken();
  std::string head(1, kVersion);
  head += Fingerprint(request);
  if (!bytes.starts_with(head)) return InvalidToken();
  std::string_view rest = std::string_view(bytes).substr(head.size());
  uint64_t range = 0;
  if (!wire::ConsumeVarint(&rest, &range)) return InvalidToken();
  position.range = range;
  position.last_key = rest;
  return position;
}

}  // namespace itemdb::storage::partiql
